// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/command.h"

#include <fmt/format.h>

#include "tests/support/errors.h"

namespace sonde::serve {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

std::string refused(ErrorKind kind, const std::string& text) {
  return error_of(kind, [&] { (void)parse_command(text); });
}

TEST(Command, HasAnIdANameAndArguments) {
  const auto command = parse_command(R"({"id": 17, "command": "set_position", "row": 3, "col": 5.5})");
  EXPECT_EQ(command.id, 17U);
  EXPECT_EQ(command.name, "set_position");
  EXPECT_EQ(command.arguments.size(), 2U);
  EXPECT_EQ(command.arguments.find("row")->as_whole(), 3);
  EXPECT_EQ(command.arguments.find("col")->as_real(), 5.5);
}

TEST(Command, ArgumentsMayBeLeftOut) { EXPECT_EQ(parse_command(R"({"command":"stats","id":1})").arguments.size(), 0U); }

TEST(Command, TheLargestIdIsThatOfAFrame) {
  EXPECT_EQ(parse_command(R"({"command":"x","id":4294967295})").id, 4294967295U);
  for (const char* id : {"4294967296", "0", "-1", "1.5", "\"1\"", "null", "1e3", "[1]"})
    EXPECT_THAT(refused(ErrorKind::bad_input, fmt::format(R"({{"command":"x","id":{}}})", id)), HasSubstr("from 1 to"))
        << id;
}

TEST(Command, WhatIsNoJsonIsToldApart) {
  for (const char* text : {"", "set_position", "{\"id\":1", "{\"id\":1}}", "{'id':1}", "\xFF\xFE"})
    EXPECT_THAT(refused(ErrorKind::bad_file, text), HasSubstr("command")) << text;
  EXPECT_THAT(refused(ErrorKind::bad_file, std::string(300, '[')), HasSubstr("command")) << "nested too deep";
}

TEST(Command, JsonThatIsNoCommandIsRefused) {
  EXPECT_THAT(refused(ErrorKind::bad_input, "[1, 2]"), HasSubstr("list"));
  EXPECT_THAT(refused(ErrorKind::bad_input, R"({"id": 1})"), HasSubstr("without \"command\""));
  EXPECT_THAT(refused(ErrorKind::bad_input, R"({"command": "x"})"), HasSubstr("without \"id\""));
  EXPECT_THAT(refused(ErrorKind::bad_input, R"({"id": 1, "command": ["x"]})"), HasSubstr("is a text"));
  EXPECT_THAT(refused(ErrorKind::bad_input, R"({"id": 1, "command": ""})"), HasSubstr("is a text"));
}

TEST(Command, TooLongIsRefusedBeforeItIsRead) {
  std::string text = R"({"id": 1, "command": "x", "a": ")" + std::string(longest_command_bytes, 'a') + "\"}";
  EXPECT_THAT(refused(ErrorKind::bad_file, text), HasSubstr("at most 65536"));
  text = R"({"id": 1, "command": "x", "a": ")" + std::string(longest_command_bytes - 40, 'a') + "\"}";
  EXPECT_EQ(parse_command(text).id, 1U);
}

}  // namespace
}  // namespace sonde::serve
