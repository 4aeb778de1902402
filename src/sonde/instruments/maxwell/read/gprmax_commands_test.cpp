// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/gprmax_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::maxwell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Texts = std::map<std::string, std::string>;

TextReader from(const Texts& texts) {
  return [texts](const std::string& path) {
    const auto found = texts.find(path);
    if (found == texts.end()) throw Error(ErrorKind::bad_file, path + ": no such file").hint("look for it");
    return found->second;
  };
}

std::vector<GprmaxCommand> commands_in(const std::string& text, const Texts& texts = {}) {
  return parse_gprmax_commands(text, "model.in", from(texts));
}

std::string only_fault(const std::string& text, const Texts& texts = {}) {
  const std::vector<GprmaxCommand> commands = commands_in(text, texts);
  if (commands.size() != 1 || !commands[0].fault) return "no fault";
  return commands[0].fault->what();
}

TEST(GprmaxCommands, ACommandBeginsWithHash) {
  const auto commands = commands_in("a comment\n## another\n#title: A model\n #box: no\n\n#rx: 1 2 3\n");
  ASSERT_THAT(commands, SizeIs(2));
  EXPECT_EQ(commands[0].name, "title");
  EXPECT_EQ(commands[0].text, "A model");
  EXPECT_EQ(commands[0].line, 3);
  EXPECT_EQ(commands[1].line, 6);
  EXPECT_EQ(commands[1].where(), "model.in, line 6");
}

TEST(GprmaxCommands, BlanksTabsAndLineEndsSeparateWords) {
  const auto commands = commands_in("#rx:  1\t2   3 \t\r\n#title:\r\n#box: 4");
  ASSERT_THAT(commands, SizeIs(3));
  EXPECT_THAT(commands[0].words, ElementsAre("1", "2", "3"));
  EXPECT_THAT(commands[1].words, SizeIs(0));
  EXPECT_THAT(commands[2].words, ElementsAre("4"));
}

TEST(GprmaxCommands, ATitleKeepsItsColons) { EXPECT_EQ(commands_in("#title: a: b")[0].text, "a: b"); }

TEST(GprmaxCommands, APythonBlockIsOneCommand) {
  const auto commands = commands_in("#python:\nfor i in range(3):\n#box: 1\nprint('#rx: 1')\n#end_python:\n#rx: 1 2 3");
  ASSERT_THAT(commands, SizeIs(2));
  EXPECT_EQ(commands[0].name, "python");
  EXPECT_EQ(commands[0].line, 1);
  EXPECT_EQ(commands[1].name, "rx");
}

TEST(GprmaxCommands, IncludedFilesAreBesideTheOneThatNamesThem) {
  const auto commands = parse_gprmax_commands(
      "#title: a\n#include_file: parts/soil.in\n#rx: 1 2 3", "models/a.in",
      from({{"models/parts/soil.in", "#material: 1\n#include_file: ../box.in"}, {"models/box.in", "#box: 1"}}));
  ASSERT_THAT(commands, SizeIs(4));
  EXPECT_EQ(commands[1].where(), "models/parts/soil.in, line 1");
  EXPECT_EQ(commands[2].where(), "models/box.in, line 1");
  EXPECT_EQ(commands[3].where(), "models/a.in, line 3");
}

TEST(GprmaxCommands, IncludedFilesAreReadFromDisk) {
  const sonde::testing::TemporaryFolder folder;
  std::ofstream(folder.file("part.in")) << "#box: 1\n";
  std::ofstream(folder.file("whole.in")) << "#include_file: part.in\n";
  const std::string path = folder.file("whole.in");
  EXPECT_EQ(parse_gprmax_commands(read_input_text(path), path)[0].name, "box");
}

TEST(GprmaxCommands, AFileMayBeIncludedTwice) {
  EXPECT_THAT(commands_in("#include_file: b\n#include_file: b", {{"b", "#box: 1"}}), SizeIs(2));
}

TEST(GprmaxCommands, LinesThatAreNoCommandsHaveAFault) {
  EXPECT_EQ(only_fault("#box 1 2 3"),
            "error: model.in, line 1: \"#box 1 2 3\" has no colon; expected \"#name: values\"\n"
            "hint: comments begin with ##, or with another character than #");
  EXPECT_EQ(only_fault("\n#box:1 2 3"), "error: model.in, line 2: no space after \"#box:\"");
  EXPECT_EQ(only_fault("#box:\t1 2 3"), "error: model.in, line 1: no space after \"#box:\"");
  EXPECT_EQ(only_fault("#python:\n#box: 1"), "error: model.in, line 1: #python: without a line #end_python: after it");
}

TEST(GprmaxCommands, IncludesThatLeadNowhereHaveAFault) {
  EXPECT_EQ(only_fault("#include_file: a b"),
            "error: model.in, line 1: #include_file has 2 values; expected the name of a file");
  EXPECT_EQ(only_fault("#include_file: absent"),
            "error: model.in, line 1: #include_file: absent: no such file\nhint: look for it");
  EXPECT_EQ(only_fault("#include_file: b", {{"b", "#include_file: model.in"}}),
            "error: b, line 1: #include_file: model.in includes itself");
  EXPECT_EQ(only_fault("#include_file: b", {{"b", "#include_file: ./b"}}),
            "error: b, line 1: #include_file: b includes itself");
}

TEST(GprmaxCommands, IncludesOfIncludesEnd) {
  const TextReader endless = [](const std::string& path) { return "#include_file: " + path + "x"; };
  const auto deep = parse_gprmax_commands("#include_file: a", "model.in", endless);
  ASSERT_THAT(deep, SizeIs(1));
  EXPECT_EQ(deep[0].fault->message(), "axxxxxxxxxxxxxxx, line 1: #include_file: 17 levels; expected at most 16");
  std::string many;
  for (int i = 0; i < 1001; ++i) many += "#include_file: b\n";
  EXPECT_EQ(only_fault(many, {{"b", ""}}), "error: model.in, line 1001: #include_file: more than 1000 files");
}

}  // namespace
}  // namespace sonde::maxwell
