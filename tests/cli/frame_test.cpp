// SPDX-License-Identifier: Apache-2.0
// What holds for every command: words, exit statuses, and what goes to which stream.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "sonde/engine/device/device.h"
#include "sonde/engine/report/json.h"
#include "tests/cli/program.h"
#include "tests/support/places.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

using ::testing::AllOf;
using testing::Ended;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::run;
using ::testing::StartsWith;
using testing::TemporaryFolder;

void write_text(const std::string& path, const std::string& text) {
  testing::write_bytes(path, {text.begin(), text.end()});
}

TEST(Program, WithoutACommandListsThemAndFails) {
  const Ended ended = run({});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(ended.err, HasSubstr("usage: sonde COMMAND"));
}

TEST(Program, VersionGoesToStandardOutput) {
  const Ended ended = run({"--version"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, AllOf(StartsWith("sonde "), HasSubstr("licence ")));
  EXPECT_THAT(ended.err, IsEmpty());
}

TEST(Program, HelpListsEveryCommand) {
  const Ended ended = run({"help"});
  EXPECT_EQ(ended.status, 0);
  for (const char* command : {"devices", "machine", "bench", "report show", "report compare", "help"})
    EXPECT_THAT(ended.out, HasSubstr(std::string("\n  ") + command));
  EXPECT_EQ(run({"--help"}).out, ended.out);
}

TEST(Program, HelpOfACommandIsTheSameAsItsHelpFlag) {
  const Ended ended = run({"help", "report", "compare"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, AllOf(HasSubstr("usage: sonde report compare BEFORE AFTER [settings]"), HasSubstr("--floor X"),
                               HasSubstr("--device auto|cpu|cuda|cuda:N")));
  EXPECT_EQ(run({"report", "compare", "--help"}).out, ended.out);
}

TEST(Program, HelpOfAGroupShowsItsMembers) {
  EXPECT_THAT(run({"help", "report"}).out, AllOf(HasSubstr("sonde report show:"), HasSubstr("sonde report compare:")));
}

TEST(Program, UnknownCommandsNameTheNearest) {
  const Ended ended = run({"devcies"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.err,
            "error: unknown command \"devcies\"; did you mean \"devices\"?\nhint: `sonde help` lists the commands\n");
  EXPECT_THAT(ended.out, IsEmpty());
}

TEST(Program, UnknownSecondWordsNameTheMembersOfTheGroup) {
  const Ended ended = run({"report", "comprae"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.err,
            "error: unknown command \"report comprae\"; did you mean \"report compare\"?\n"
            "hint: the commands of report are: report show and report compare\n");
  EXPECT_THAT(run({"report"}).err, StartsWith("error: \"report\" needs a second word\n"));
}

TEST(Program, AGroupAsksForItsHelp) {
  for (const char* flag : {"--help", "-h"}) {
    const Ended ended = run({"report", flag});
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("  report compare  "));
    EXPECT_THAT(ended.out, HasSubstr("  report show     "));
  }
  EXPECT_EQ(run({"reprot", "--help"}).status, 2);
  EXPECT_THAT(run({"devices", "--help"}).out, StartsWith("sonde devices: "));
}

TEST(Program, AFlagInPlaceOfACommandIsNamed) {
  EXPECT_THAT(run({"--json"}).err, StartsWith("error: expected a command, found \"--json\"\n"));
}

TEST(Program, UnknownFlagsNameTheNearest) {
  const Ended ended = run({"devices", "--theads", "2"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.err,
            "error: unknown flag \"--theads\"; did you mean \"--threads\"?\n"
            "hint: `sonde help devices` lists the flags\n");
}

TEST(Program, UnexpectedArgumentsAreNamedWithTheUsage) {
  const Ended ended = run({"devices", "extra"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.err, "error: unexpected argument \"extra\"\nhint: usage: sonde devices [settings]\n");
}

TEST(Program, WordsAfterTwoDashesAreArguments) {
  EXPECT_EQ(run({"report", "show", "--", "--json"}).err, "error: --json: no such file\n");
}

TEST(Program, MissingArgumentsAreNamedWithTheUsage) {
  const Ended ended = run({"report", "compare", "a.json"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.err, "error: after is missing\nhint: usage: sonde report compare BEFORE AFTER [settings]\n");
}

TEST(Program, FlagsWithoutTheirValueAreNamed) {
  EXPECT_THAT(run({"devices", "--threads"}).err, StartsWith("error: --threads needs a value\n"));
  EXPECT_EQ(run({"devices", "--report", "--json"}).err, "error: --report needs a value, found the flag --json\n");
}

TEST(Program, FlagsGivenTwiceAreRefused) {
  const Ended ended = run({"devices", "--threads", "1", "--threads=2"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.err, "error: --threads is given 2 times\n");
}

TEST(Program, BadValuesAreAllReported) {
  const Ended ended = run({"devices", "--threads", "-1", "--memory", "lots"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.err,
            "error: the command line has several problems\n"
            "  - --memory: \"lots\" is not a size in bytes\n    hint: write for instance 8G or 512M\n"
            "  - --threads: -1 is below the smallest allowed value, 0\n");
}

TEST(Devices, PeopleReadStandardError) {
  const Ended ended = run({"devices"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(ended.err, StartsWith("cpu "));
}

TEST(Devices, JsonIsAllThatGoesToStandardOutput) {
  const Ended ended = run({"devices", "--json", "--quiet"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, IsEmpty());
  const Value devices = parse_json(ended.out, "standard output");
  EXPECT_EQ(devices.find("devices")->items().front().find("device")->as_text(), "cpu");
}

TEST(Devices, AnAbsentGpuIsExplained) {
  if (Device::all().size() > 1) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_THAT(run({"devices"}).err, HasSubstr("no GPU: "));
  const Ended ended = run({"devices", "--device", "cuda"});
  EXPECT_EQ(ended.status, 6);
  EXPECT_THAT(ended.err, AllOf(StartsWith("error: device \"cuda\" is not available: "),
                               EndsWith("hint: use --device cpu; `sonde devices` lists what was found\n")));
}

TEST(Devices, UnknownDevicesAreAUsageError) {
  const Ended ended = run({"devices", "--device", "gpu"});
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.err, "error: unknown device \"gpu\"\nhint: give auto, cpu, cuda or cuda:N\n");
}

TEST(DryRun, PrintsSettingsWithTheirOrigin) {
  const TemporaryFolder folder;
  write_text(folder.file("run.toml"), "threads = 2\n");
  const Ended ended = run({"devices", "--dry-run", "--config", folder.file("run.toml"), "--memory", "1G"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(ended.err, AllOf(HasSubstr("  threads              2 (file)\n"),
                               HasSubstr("  memory               1073741824 (given)\n"),
                               HasSubstr("  device               \"auto\"\n")));
}

TEST(DryRun, PrintsJsonWhenAsked) {
  const Ended ended = run({"devices", "--dry-run", "--json", "--threads", "1"});
  EXPECT_EQ(parse_json(ended.out, "standard output").find("options")->find("threads")->as_whole(), 1);
}

TEST(Config, FlagsCountMoreThanTheFile) {
  const TemporaryFolder folder;
  write_text(folder.file("run.toml"), "threads = 2\n[devices]\nmemory = \"2G\"\n");
  const Ended ended = run({"devices", "--dry-run", "--json", "--config", folder.file("run.toml"), "--threads", "1"});
  const Value plan = parse_json(ended.out, "standard output");
  EXPECT_EQ(plan.find("options")->find("threads")->as_whole(), 1);
  EXPECT_EQ(plan.find("options")->find("memory")->as_whole(), Index{2} << 30);
}

TEST(Config, UnknownKeysNameFileLineAndNearest) {
  const TemporaryFolder folder;
  write_text(folder.file("run.toml"), "\nthread = 2\n");
  const Ended ended = run({"devices", "--config", folder.file("run.toml")});
  EXPECT_EQ(ended.status, 3);
  EXPECT_EQ(ended.err,
            "error: unknown key \"thread\" in " + folder.file("run.toml") + " line 2; did you mean \"threads\"?\n");
}

TEST(Config, AMissingFileIsNamed) {
  const Ended ended = run({"devices", "--config", "/nowhere/run.toml"});
  EXPECT_EQ(ended.status, 3);
  EXPECT_EQ(ended.err, "error: /nowhere/run.toml: no such file\n");
}

TEST(ReportFile, HoldsTheRun) {
  const TemporaryFolder folder;
  EXPECT_EQ(run({"devices", "--report", folder.file("run.json"), "--threads", "1"}).status, 0);
  const Value report = read_json(folder.file("run.json"));
  EXPECT_EQ(report.find("schema")->as_text(), "sonde.report/1");
  EXPECT_EQ(report.find("command")->as_text(), "devices");
  EXPECT_EQ(report.find("options")->find("threads")->as_whole(), 1);
  EXPECT_GE(report.find("results")->find("devices")->size(), 1u);
}

TEST(ReportFile, AFailedRunIsReportedAsFailed) {
  const TemporaryFolder folder;
  EXPECT_EQ(run({"report", "show", "/nowhere.json", "--report", folder.file("run.json")}).status, 3);
  const Value report = read_json(folder.file("run.json"));
  EXPECT_EQ(report.find("status")->as_text(), "failed");
  EXPECT_EQ(report.find("error")->as_text(), "/nowhere.json: no such file");
}

TEST(ReportFile, ThatCannotBeWrittenFailsTheRun) {
  const Ended ended = run({"devices", "--report", "/nowhere/run.json"});
  EXPECT_EQ(ended.status, 5);
  EXPECT_THAT(ended.err, HasSubstr("/nowhere/run.json: there is no folder /nowhere"));
}

TEST(ReportCommands, ShowAndCompareReadWhatReportWrote) {
  const TemporaryFolder folder;
  run({"devices", "--report", folder.file("a.json")});
  run({"devices", "--report", folder.file("b.json"), "--threads", "1"});
  EXPECT_THAT(run({"report", "show", folder.file("a.json")}).err, StartsWith("devices: ok\n"));
  const Ended compared = run({"report", "compare", folder.file("a.json"), folder.file("b.json"), "--json"});
  EXPECT_EQ(compared.status, 0);
  EXPECT_THAT(compared.err, HasSubstr("options.threads: 0 -> 1"));
  EXPECT_NE(parse_json(compared.out, "standard output").find("phases"), nullptr);
}

TEST(ReportCommands, ForeignFilesAreRefused) {
  const TemporaryFolder folder;
  write_text(folder.file("a.json"), "{}");
  const Ended ended = run({"report", "show", folder.file("a.json")});
  EXPECT_EQ(ended.status, 3);
  EXPECT_EQ(ended.err, "error: " + folder.file("a.json") + ": JSON, but not a report: it has no \"schema\"\n");
}

TEST(Output, AFullDiskIsAnIoError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const Ended ended = testing::Program({"devices", "--json", "--quiet"}, nullptr, "/dev/full").wait();
  EXPECT_EQ(ended.status, 5);
  EXPECT_EQ(ended.err, "error: standard output: cannot be written: No space left on device\n");
}

TEST(Output, AReaderThatHasGoneIsNoFault) {
  // The reader of the pipe is closed before the program starts: the shell's `| head` without its race.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  const TemporaryFolder folder;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"help"},
                                                {"--version"},
                                                {"devices", "--json", "--quiet", "--report", folder.file("r")}}) {
    std::vector<char*> argv;
    std::vector<std::string> all = words;
    all.insert(all.begin(), testing::program());
    for (std::string& word : all) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      const int errors = open(folder.file("err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      dup2(ends[1], STDOUT_FILENO);
      dup2(errors, STDERR_FILENO);
      execv(argv.front(), argv.data());
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 141) << words.front();  // 128 and SIGPIPE, as of a program that the signal ends
    EXPECT_THAT(testing::read_bytes(folder.file("err")), IsEmpty()) << words.front();
  }
  close(ends[1]);
  EXPECT_EQ(read_json(folder.file("r")).find("status")->as_text(), "ok");  // the work was done
}

/// Bytes that a terminal obeys: all below a space but the line end, and DEL.
std::size_t obeyed(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n') || byte == 0x7f;
  }));
}

TEST(Output, NamesReachTheTerminalInPrintableForm) {
  const TemporaryFolder folder;
  const std::string name = folder.file("a\x1b[2J\nerror: forged\xff.npy");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"stem", "info", name},
                                                {"stem", "load", name},
                                                {"report", "show", name},
                                                {"stem", "load", name, "--json"},
                                                {"stem", "info", name, "--nonsense\x1b[1m"}}) {
    const Ended ended = run(words);
    EXPECT_THAT(ended.err, AllOf(HasSubstr("\\x1b["), ::testing::Not(HasSubstr("\nerror: forged"))));
    EXPECT_EQ(obeyed(ended.err), 0u) << ended.err;
    EXPECT_EQ(ended.err.find('\xff'), std::string::npos);
  }
}

TEST(Output, TextOfAFileReachesTheTerminalInPrintableForm) {
  const TemporaryFolder folder;
  testing::python(
      "import sys, h5py, numpy as np\n"
      "with h5py.File(sys.argv[1], 'w') as f:\n"
      "    f['data'] = np.zeros((3, 4, 8, 8), 'u2')\n"
      "    f['note'] = 'colour \\x1b[31m red \\n forged = line \\x9b1m \\u202eback' + 'x' * 50000\n",
      folder.file("a.h5"));
  const Ended ended = run({"stem", "info", folder.file("a.h5"), "--metadata"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(obeyed(ended.err), 0u);
  EXPECT_EQ(ended.err.find("\xc2\x9b"), std::string::npos);
  EXPECT_LT(ended.err.size(), 20000u);
  const Ended data = run({"stem", "info", folder.file("a.h5"), "--metadata", "--json", "--quiet"});
  EXPECT_EQ(obeyed(data.out), 0u);
  EXPECT_EQ(data.out.find("\xc2\x9b"), std::string::npos);
  EXPECT_THAT(data.out, AllOf(HasSubstr("\\u009b"), HasSubstr("\\u202eback")));  // still JSON
  EXPECT_NO_THROW((void)parse_json(data.out, "standard output"));
}

TEST(Reference, OnePagePerCommandAndAnIndex) {
  const TemporaryFolder folder;
  EXPECT_EQ(run({"help", "--markdown", folder.file("pages")}).status, 0);
  const auto page = testing::read_bytes(folder.file("pages/sonde-report-compare.md"));
  const std::string text(page.begin(), page.end());
  EXPECT_THAT(text, AllOf(StartsWith("# sonde report compare\n"), HasSubstr("| `--floor X` | `0.03` | 0 to 1 |"),
                          HasSubstr("### Settings of every command")));
  const auto index = testing::read_bytes(folder.file("pages/README.md"));
  EXPECT_THAT(std::string(index.begin(), index.end()), HasSubstr("(sonde-report-compare.md)"));
}

}  // namespace
}  // namespace sonde
