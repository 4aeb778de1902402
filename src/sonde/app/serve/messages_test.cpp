// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "sonde/engine/report/json.h"

namespace sonde::serve {
namespace {

TEST(Messages, APageSaysWhoIsSpoken) {
  panel::Page page{.title = "scan", .view = "stem"};
  page.state = [] { return Value("now"); };
  EXPECT_EQ(
      page_message(page, 7),
      R"({"type":"page","protocol":"sonde.view.v1","client":7,"title":"scan","view":"stem","panels":[],"actions":[],"state":"now"})");
}

TEST(Messages, AReplyNamesItsCommand) {
  Value result;
  result["dataset"] = 2;
  result["id"] = 99;
  EXPECT_EQ(reply_message({.id = 17, .name = "open"}, result),
            R"({"type":"reply","id":17,"command":"open","dataset":2})");
  EXPECT_EQ(reply_message({.id = 18, .name = "play"}, Value()), R"({"type":"reply","id":18,"command":"play"})");
}

TEST(Messages, AnEventHasItsName) {
  Value what;
  what["fraction"] = 0.5;
  EXPECT_EQ(event_message("progress", what), R"({"type":"event","event":"progress","fraction":0.5})");
}

TEST(Messages, AnErrorSaysWhatWhereAndWhatToDo) {
  Error error = Error(ErrorKind::bad_input, "no channel 9").hint("channels are 0 to 7");
  error.add_activity("summing");
  error.add_activity("drawing");
  EXPECT_EQ(error_message(3, "set_detector", error),
            R"({"type":"error","id":3,"command":"set_detector","kind":"bad_input","message":"no channel 9",)"
            R"("hint":"channels are 0 to 7","activity":"summing\ndrawing"})");
}

TEST(Messages, SeveralProblemsAreAllTold) {
  const Error error = Error::several("2 problems", {Error(ErrorKind::bad_file, "a"), Error(ErrorKind::usage, "b")});
  const Value told = parse_json(error_message(1, "open", error), "message");
  EXPECT_EQ(text_at(told, "message"), "2 problems\na\nb");
  EXPECT_EQ(text_at(told, "kind"), "usage");
}

TEST(Messages, EveryExceptionIsAnError) {
  const auto kind_of = [](auto&& thrown) {
    try {
      throw thrown;
    } catch (...) {
      return current_error().kind();
    }
  };
  EXPECT_EQ(kind_of(Error(ErrorKind::io, "x")), ErrorKind::io);
  EXPECT_EQ(kind_of(std::bad_alloc()), ErrorKind::budget);
  EXPECT_EQ(kind_of(std::runtime_error("x")), ErrorKind::internal);
  EXPECT_EQ(kind_of(3), ErrorKind::internal);
}

}  // namespace
}  // namespace sonde::serve
