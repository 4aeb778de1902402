// SPDX-License-Identifier: Apache-2.0
// No output of any command takes the place of an input, whatever the input is called there; what is written beside a
// result takes the place of files of sonde only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/ptycho_scan.h"
#include "tests/cli/stem.h"
#include "tests/support/child.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using testing::Ended;
using ::testing::HasSubstr;
using testing::run;
using Words = std::vector<std::string>;

/// One way in which a command could replace an input: `words` and then the output under a name of the input.
struct Row {
  Words words;         ///< with all that the command needs but the output
  std::string input;   ///< the file that must stay
  std::string output;  ///< "-o", "--report"; empty: the last argument
  std::string ending;  ///< of the output's name; empty: any
};

class OutputsKeepInputs : public testing::OnSmallScan {
 protected:
  static std::map<std::string, std::vector<std::uint8_t>> contents(const fs::path& folder) {
    std::map<std::string, std::vector<std::uint8_t>> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) found[entry.path().string()] = testing::read_bytes(entry.path());
    return found;
  }

  /// Tried as the input itself, through a symbolic link and through a hard link.
  void expect_kept(const Row& row) const {
    std::vector<std::string> names;
    if (row.input.ends_with(row.ending)) names.push_back(row.input);
    for (const char* kind : {"soft", "hard"}) {
      names.push_back(file(std::string(kind) + "_link" + row.ending));
      fs::remove(names.back());
      if (std::string(kind) == "soft")
        fs::create_symlink(row.input, names.back());
      else
        fs::create_hard_link(row.input, names.back());
    }
    const auto before = contents(folder_.path());
    for (const std::string& name : names) {
      Words words = row.words;
      if (!row.output.empty()) words.push_back(row.output);
      words.push_back(name);
      SCOPED_TRACE(::testing::PrintToString(words));
      const Ended ended = run(words);
      EXPECT_EQ(ended.status, 3) << ended.err;
      // A report is known before the inputs are: it is refused for being no report.
      EXPECT_THAT(ended.err,
                  AnyOf(HasSubstr("an output never replaces an input"), HasSubstr("that sonde did not write")));
      EXPECT_THAT(ended.err, HasSubstr(name));
      const auto after = contents(folder_.path());
      EXPECT_EQ(after, before) << "files changed";
      // What was written beside it must not stand in the way of the next one.
      for (const auto& [path, bytes] : after)
        if (!before.contains(path)) fs::remove(path);
    }
    for (const char* kind : {"soft", "hard"}) fs::remove(file(std::string(kind) + "_link" + row.ending));
  }
  void expect_kept(const std::vector<Row>& rows) const {
    for (const Row& row : rows) expect_kept(row);
  }
};

TEST_F(OutputsKeepInputs, OfScans) {
  const std::string master = testing::make_small_scan(folder_), data = file("scan_data_000002.h5");
  ASSERT_EQ(run({"stem", "convert", master, file("scan.npy")}).status, 0);
  ASSERT_EQ(run({"stem", "image", master, "-d", "bf", "-o", file("bf.tif")}).status, 0);
  testing::python("import sys, numpy as np\nnp.save(sys.argv[1], np.zeros((32, 40), 'u1'))\n", file("mask.npy"));
  const std::string mask = file("mask.npy"), npy = file("scan.npy");
  for (const std::string& input : {master, data})
    expect_kept({
        {{"stem", "info", master}, input, "--report", ""},
        {{"stem", "validate", master}, input, "--report", ""},
        {{"stem", "load", master}, input, "--report", ""},
        {{"stem", "load", master}, input, "-o", ".h5"},
        {{"stem", "image", master, "-d", "bf"}, input, "-o", ".h5"},
        {{"stem", "image", master, "-d", "bf"}, input, "-o", ".png"},
        {{"stem", "image", master, "-d", "bf"}, input, "-o", ".tif"},
        {{"stem", "image", master, "-d", "bf"}, input, "-o", ".npy"},
        {{"stem", "image", master, "-d", "bf", "-o", file("new.npy")}, input, "--report", ""},
        {{"stem", "convert", master}, input, "", ".h5"},
        {{"stem", "convert", master}, input, "", "_master.h5"},
        {{"stem", "convert", master}, input, "", ".emd"},
        {{"stem", "convert", master}, input, "", ".npy"},
        {{"stem", "convert", master, "-o"}, input, "", ".npy"},
        {{"stem", "convert", master, file("new.npy")}, input, "--report", ""},
        {{"view", master, "--no-open", "--dry-run"}, input, "--report", ""},
    });
  expect_kept({
      {{"stem", "load", npy}, npy, "--report", ""},
      {{"stem", "image", npy, "-d", "bf"}, npy, "-o", ".npy"},
      {{"stem", "load", master, "--mask-file", mask}, mask, "--report", ""},
      {{"stem", "image", master, "-d", "bf", "--mask-file", mask}, mask, "-o", ".npy"},
      {{"stem", "convert", master, "--mask-file", mask}, mask, "", ".npy"},
      {{"stem", "image", master, "-d", "file(" + mask + ")"}, mask, "-o", ".npy"},
      {{"stem", "image", "--from", file("bf.json"), "-o", file("new.png")}, file("bf.json"), "--report", ""},
  });
}

TEST_F(OutputsKeepInputs, ARecordBesideAnImageTooIsAnOutput) {
  const std::string master = testing::make_small_scan(folder_);
  ASSERT_EQ(run({"stem", "image", master, "-d", "bf", "-o", file("bf.tif")}).status, 0);
  const auto before = testing::read_bytes(file("bf.json"));
  const Ended ended = run({"stem", "image", "--from", file("bf.json"), "-o", file("bf.png")});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("the record of the image would replace"));
  EXPECT_EQ(testing::read_bytes(file("bf.json")), before);
  EXPECT_FALSE(fs::exists(file("bf.png")));
}

TEST_F(OutputsKeepInputs, ADryRunFindsThemToo) {
  const std::string master = testing::make_small_scan(folder_);
  for (const Words& words : {Words{"stem", "load", master, "-o", master},
                             {"stem", "convert", master, master},
                             {"stem", "image", master, "-o", file("scan_data_000001.h5")}}) {
    Words dry = words;
    dry.emplace_back("--dry-run");
    EXPECT_EQ(run(dry).status, 3) << ::testing::PrintToString(words);
  }
}

TEST_F(OutputsKeepInputs, OfPtychography) {
  write();
  const std::string toml = run_file(), scan = file("scan.h5");
  ASSERT_EQ(reconstruct(toml, {"--set", "output.checkpoint_every=3"}).status, 0);
  const std::string result = file("result.h5"), checkpoint = file("result.ckpt.h5");
  std::ofstream(file("empty.toml")) << "# nothing\n";
  ASSERT_EQ(run({"ptycho", "simulate", "-o", file("sim.h5"), "--detector-px", "32", "--scan-shape", "4,4"}).status, 0);
  std::ofstream(file("sweep.toml")) << "[sweep]\nrun = \"run.toml\"\noutput = \"out\"\n[[vary]]\nname = \"values\"\n"
                                       "setting = \"engine.0.step_object\"\nvalues = [0.1, 0.3]\n";
  const std::string sweep = file("sweep.toml"), sim = file("sim.h5");
  for (const std::string& input : {toml, scan})
    expect_kept({
        {{"ptycho", "run", toml}, input, "-o", ".h5"},
        {{"ptycho", "run", toml, "-o", file("new.h5")}, input, "--log", ""},
        {{"ptycho", "run", toml, "-o", file("new.h5")}, input, "--report", ""},
        {{"ptycho", "run", toml, "--dry-run"}, input, "-o", ".h5"},
        {{"ptycho", "resume", checkpoint}, scan, "-o", ".h5"},
        {{"ptycho", "resume", checkpoint, "-o", file("new.h5")}, scan, "--report", ""},
        {{"ptycho", "orient", toml}, input, "--report", ""},
    });
  expect_kept({
      {{"ptycho", "resume", checkpoint, "-o", file("new.h5")}, checkpoint, "--report", ""},
      {{"ptycho", "init", scan}, scan, "-o", ""},
      {{"ptycho", "init", scan, "-o", file("new.toml")}, scan, "--report", ""},
      {{"ptycho", "direct", sim}, sim, "-o", ".h5"},
      {{"ptycho", "direct", sim}, sim, "-o", ".npy"},
      {{"ptycho", "direct", sim}, sim, "-o", ".tif"},
      {{"ptycho", "direct", sim, "-o", file("new.png")}, sim, "--report", ""},
      {{"ptycho", "report", result}, result, "-o", ""},
      {{"ptycho", "report", result}, result, "--report", ""},
      {{"ptycho", "sweep", sweep}, sweep, "--report", ""},
      {{"ptycho", "sweep", sweep}, toml, "--report", ""},
      {{"ptycho", "sweep", sweep}, scan, "--report", ""},
      {{"ptycho", "export", result, "--to", "cxi"}, result, "-o", ""},
      {{"ptycho", "export", result, "--to", "npy"}, result, "--report", ""},
      {{"ptycho", "compare", result, result}, result, "-o", ".png"},
      {{"ptycho", "compare", result, result, "-o", file("new.png")}, result, "--report", ""},
      {{"ptycho", "diagnose", result}, result, "--report", ""},
      {{"ptycho", "simulate", "--config", file("empty.toml"), "-o", file("new.h5")},
       file("empty.toml"),
       "--report",
       ""},
  });
}

TEST_F(OutputsKeepInputs, OfPtychographyUnderNamesThatWereMadeUp) {
  write();
  // Each is the scan, and the name that a run would give to something beside its result.
  for (const auto& [name, more] : {std::pair<std::string, std::string>{"r.ckpt.h5", "output.checkpoint_every=1"},
                                   {"r_phase.png", "output.pictures=true"},
                                   {"r_report.html", "output.report=true"}}) {
    SCOPED_TRACE(name);
    fs::copy_file(file("scan.h5"), file(name));
    std::ofstream(file("made_up.toml")) << "[data]\nfile = \"" << name
                                        << "\"\npatterns = \"data\"\npositions = \"positions\"\n[geometry]\nunits = "
                                           "\"pixel\"\n[probe]\nfile = \"scan.h5:probe\"\n[[engine]]\nname = "
                                           "\"epie\"\niterations = 2\n";
    const auto before = contents(folder_.path());
    const Ended ended = run({"ptycho", "run", file("made_up.toml"), "-o", file("r.h5"), "--set", more});
    EXPECT_EQ(ended.status, 3);
    EXPECT_THAT(ended.err,
                AnyOf(HasSubstr("an output never replaces an input"), HasSubstr("that sonde did not write")));
    EXPECT_EQ(contents(folder_.path()), before);
    fs::remove(file(name));
  }
  // A sweep whose run file has the name of the best one.
  fs::create_directory(file("out"));
  fs::copy_file(run_file(), file("out/best.toml"));
  std::ofstream(file("sweep.toml")) << "[sweep]\nrun = \"out/best.toml\"\noutput = \"out\"\n[[vary]]\nname = "
                                       "\"values\"\nsetting = \"engine.0.step_object\"\nvalues = [0.1, 0.3]\n";
  fs::copy_file(file("scan.h5"), file("out/scan.h5"));
  const auto before = contents(folder_.path());
  const Ended ended = run({"ptycho", "sweep", file("sweep.toml")});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("an output never replaces an input"));
  EXPECT_EQ(contents(folder_.path()), before);
}

TEST_F(OutputsKeepInputs, OfTransport) {
  SONDE_NEED_DATA(data);
  const std::string wout = file("wout.nc"), result = file("run.nc"), toml = file("run.toml"), base = file("D.h5");
  fs::copy_file(data / "neoclassical/wout_circular_tokamak.nc", wout);
  const Words grid = {"--n-theta", "9", "--n-zeta", "1", "--n-xi", "8"};
  const auto with = [&](Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), grid.begin(), grid.end());
    return words;
  };
  const Words surface = {wout, "--s", "0.25"};
  ASSERT_EQ(run(with({"neoclassical", "run", wout, "--s", "0.25", "--nu-hat", "1e-2", "-o", result}, {})).status, 0);
  ASSERT_EQ(run(with({"neoclassical", "database", wout, "-o", base, "--rho", "0.3,0.5", "--nu-v", "1e-3,1e-1",
                      "--er-tilde", "0,1e-4"},
                     {}))
                .status,
            0);
  std::ofstream(toml) << "[surface]\npath = \"wout.nc\"\ns = 0.25\n[case]\nnu_hat = 1e-2\n[scan]\nnu_v = \"1e-2\"\n"
                         "[grid]\nn_theta = 9\nn_zeta = 1\nn_xi = 8\n";
  std::vector<Row> rows;
  for (const char* verb : {"run", "scan", "convergence"})
    for (const std::string& input : {wout, toml}) {
      for (const char* ending : {".nc", ".h5", ".npz"})
        rows.push_back({{"neoclassical", verb, toml, "--er-tilde", "0"}, input, "-o", ending});
      rows.push_back({{"neoclassical", verb, toml, "--er-tilde", "0", "-o", file("new.nc")}, input, "--report", ""});
    }
  for (const Row& row : std::vector<Row>{
           {{"neoclassical", "convergence", toml}, wout, "-o", ".png"},
           {{"neoclassical", "database", wout}, wout, "-o", ".h5"},
           {{"neoclassical", "database", wout, "-o", file("new.h5")}, wout, "--report", ""},
           {{"neoclassical", "boozer", wout}, wout, "-o", ".nc"},
           {{"neoclassical", "boozer", wout, "-o", file("new.nc")}, wout, "--report", ""},
           {{"neoclassical", "profile", base}, base, "-o", ".h5"},
           {{"neoclassical", "profile", base, "-o", file("new.h5")}, base, "--report", ""},
           {{"neoclassical", "convert", result, "--to", "dkes"}, result, "-o", ".nc"},
           {{"neoclassical", "convert", result, "--to", "dkes"}, result, "-o", ".npz"},
           {{"neoclassical", "convert", result, "--to", "dkes", "-o", file("new.nc")}, result, "--report", ""},
           {{"neoclassical", "plot", result}, result, "-o", ".png"},
           {{"neoclassical", "plot", result}, result, "-o", ".svg"},
           {{"neoclassical", "plot", result, "-o", file("new.png")}, result, "--report", ""},
       })
    rows.push_back(row);
  expect_kept(rows);
}

TEST_F(OutputsKeepInputs, OfReports) {
  const std::string one = file("one.json");
  ASSERT_EQ(run({"devices", "--report", one, "--quiet"}).status, 0);
  expect_kept({
      {{"report", "show", one}, one, "--report", ""},
      {{"report", "compare", one, one}, one, "--report", ""},
      {{"view", one, "--no-open", "--dry-run"}, one, "--report", ""},
  });
}

/// Every command that `sonde help` lists, with one word in the place of each argument that it needs.
std::vector<Words> every_command() {
  std::istringstream lines(run({"help"}).out);
  std::vector<Words> commands;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ") || line.size() < 4 || line[2] == ' ') continue;
    std::istringstream words(line.substr(2, line.find("  ", 2) - 2));
    Words command;
    for (std::string word; words >> word;) command.push_back(word);
    const std::string help = run([&] {
                               Words asked = {"help"};
                               asked.insert(asked.end(), command.begin(), command.end());
                               return asked;
                             }())
                                 .out;
    const std::size_t usage = help.find("usage: ");
    std::istringstream arguments(help.substr(usage, help.find('\n', usage) - usage));
    int needed = 0;
    for (std::string word; arguments >> word;)
      if (word.front() >= 'A' && word.front() <= 'Z') ++needed;
    for (int i = 0; i < needed; ++i) command.push_back("nothing_" + std::to_string(i) + ".npy");
    commands.push_back(command);
  }
  return commands;
}

TEST_F(OutputsKeepInputs, OfSettingsByEveryCommand) {
  const std::vector<Words> commands = every_command();
  ASSERT_GT(commands.size(), 30u);
  std::ofstream(file("settings.toml")) << "# nothing\n";
  const auto before = testing::read_bytes(file("settings.toml"));
  for (const Words& command : commands) {
    Words words = command;
    words.insert(words.end(), {"--config", file("settings.toml"), "--report", file("settings.toml")});
    SCOPED_TRACE(::testing::PrintToString(words));
    const Ended ended = run(words);
    EXPECT_EQ(ended.status, 3) << ended.err;
    EXPECT_EQ(testing::read_bytes(file("settings.toml")), before);
  }
}

class SideOutputs : public testing::OnSmallScan {
 protected:
  /// The command ends with status 3, names the file and says what to do; the file stays.
  void expect_kept(const std::string& foreign, const Words& words) const {
    SCOPED_TRACE(::testing::PrintToString(words));
    std::ofstream(foreign) << "my own notes\n";
    const auto before = testing::read_bytes(foreign);
    const Ended ended = run(words);
    EXPECT_EQ(ended.status, 3) << ended.err;
    EXPECT_THAT(ended.err,
                AllOf(HasSubstr(foreign + ": a file that sonde did not write as "), HasSubstr("move it away")));
    EXPECT_EQ(testing::read_bytes(foreign), before);
    fs::remove(foreign);
  }
};

TEST_F(SideOutputs, ReplaceFilesOfSondeOnly) {
  const std::string master = testing::make_small_scan(folder_, "stem");
  expect_kept(file("a.json"), {"stem", "image", master, "-d", "bf", "-o", file("a.png")});
  expect_kept(file("r.json"), {"stem", "load", master, "--report", file("r.json")});
  expect_kept(file("r.json"), {"devices", "--report", file("r.json")});
  expect_kept(file("c.gp"), {"neoclassical", "scan", "analytic-demo", "--nu-v", "1e-2", "--er-hat", "0", "--n-theta",
                             "5", "--n-zeta", "5", "--n-xi", "4", "--plot", "-o", file("c.nc")});
  expect_kept(file("c.png"), {"neoclassical", "scan", "analytic-demo", "--nu-v", "1e-2", "--er-hat", "0", "--n-theta",
                              "5", "--n-zeta", "5", "--n-xi", "4", "--plot", "-o", file("c.nc")});
  expect_kept(file("b-copy.json"),
              {"bench", "copy", "--sizes", "1M", "--seconds", "0", "--samples", "3", "-o", file("b-copy")});
  write();
  const std::string toml = run_file();
  expect_kept(file("log"), {"ptycho", "run", toml, "-o", file("p.h5"), "--log", file("log")});
  expect_kept(file("p_phase.png"), {"ptycho", "run", toml, "-o", file("p.h5")});
  expect_kept(file("p_report.html"), {"ptycho", "run", toml, "-o", file("p.h5")});
  expect_kept(file("p.ckpt.h5"), {"ptycho", "run", toml, "-o", file("p.h5"), "--set", "output.checkpoint_every=1"});
  EXPECT_FALSE(fs::exists(file("p.h5")));
}

TEST_F(SideOutputs, ReplaceTheirOwn) {
  const std::string master = testing::make_small_scan(folder_, "stem");
  write();
  const std::string toml = run_file();
  for (const Words& words :
       {Words{"stem", "image", master, "-d", "bf", "-o", file("a.png")},
        {"stem", "load", master, "--report", file("r.json")},
        {"neoclassical", "scan", "analytic-demo", "--nu-v", "1e-2", "--er-hat", "0", "--n-theta", "5", "--n-zeta", "5",
         "--n-xi", "4", "--plot", "-o", file("c.nc")},
        {"ptycho", "run", toml, "-o", file("p.h5"), "--log", file("log"), "--set", "output.checkpoint_every=1"}})
    for (int i = 0; i < 2; ++i) {
      const Ended ended = run(words);
      EXPECT_EQ(ended.status, 0) << ::testing::PrintToString(words) << ended.err;
    }
}

/// Of the program that is started next: where names without a folder are.
char start_folder[4096];
void go_to_start_folder() {
  if (chdir(start_folder) != 0) _exit(2);
}

class MadeUpNames : public testing::OnSmallScan {
 protected:
  MadeUpNames() { snprintf(start_folder, sizeof start_folder, "%s", folder_.path().c_str()); }
  static Ended run_there(const Words& words) { return testing::Program(words, go_to_start_folder).wait(); }

  /// The command leaves somebody's file where it is, and its own files of an earlier run it replaces.
  void expect_kept(const std::string& foreign, const Words& words, int replaced_with = 0) const {
    SCOPED_TRACE(::testing::PrintToString(words));
    fs::create_directories(fs::path(file(foreign)).parent_path());
    std::ofstream(file(foreign)) << "my own measurement\n";
    const auto before = testing::read_bytes(file(foreign));
    const Ended refused = run_there(words);
    EXPECT_EQ(refused.status, 3) << refused.err;
    EXPECT_THAT(refused.err, AllOf(HasSubstr(foreign + ": a file "), HasSubstr("sonde"), HasSubstr("move it away")));
    EXPECT_EQ(testing::read_bytes(file(foreign)), before);
    fs::remove(file(foreign));
    EXPECT_EQ(run_there(words).status, 0);
    EXPECT_TRUE(fs::exists(file(foreign))) << "the command does not write it";
    const Ended again = run_there(words);
    EXPECT_EQ(again.status, replaced_with) << again.err;
  }
};

TEST_F(MadeUpNames, OfScansReplaceFilesOfSondeOnly) {
  (void)testing::make_small_scan(folder_, "stem");
  ASSERT_EQ(run_there({"stem", "convert", "stem_master.h5", "-o", "plain.npy"}).status, 0);
  const Words convert = {"stem", "convert", "plain.npy", "-o", "new_master.h5"};
  expect_kept("new.h5", convert);
  expect_kept("other_data_000001.h5", {"stem", "convert", "plain.npy", "-o", "other_master.h5"});
  const Words simulate = {"stem", "simulate", "sim_master.h5", "--scan-shape", "4,4", "--detector-shape", "16,16"};
  expect_kept("sim_truth.h5", simulate);
  expect_kept("scan_master.h5", {"stem", "simulate", "--scan-shape", "4,4", "--detector-shape", "16,16"});
  expect_kept("images/stem_bf.tif", {"stem", "image", "stem_master.h5", "-d", "bf", "-d", "com-row", "-o", "images/"});
}

TEST_F(MadeUpNames, OfPtychographyReplaceFilesOfSondeOnly) {
  const Words small = {"ptycho", "simulate", "--detector-px", "32", "--scan-shape", "6,6"};
  expect_kept("ptycho_scan.h5", small);
  expect_kept("result.h5", {"ptycho", "run", "ptycho_scan.h5", "--set", "engine.0.iterations=2"});
  expect_kept("direct.h5", {"ptycho", "direct", "ptycho_scan.h5"});
  expect_kept("result.cxi", {"ptycho", "export", "result.h5", "--to", "cxi"});
  expect_kept("result.ptyr", {"ptycho", "export", "result.h5", "--to", "ptyr"});
  expect_kept("result_phase.tif", {"ptycho", "export", "result.h5"});
  expect_kept("result_amplitude.png", {"ptycho", "export", "result.h5", "--to", "png"});
  expect_kept("result_object.npy", {"ptycho", "export", "result.h5", "--to", "npy"}, 3);  // .npy does not say by whom
  std::ofstream(file("run.toml")) << "[data]\nfile = \"ptycho_scan.h5\"\n[[engine]]\nname = \"epie\"\niterations = 2\n";
  std::ofstream(file("sweep.toml")) << "[sweep]\nrun = \"run.toml\"\noutput = \"out\"\n[[vary]]\nname = \"values\"\n"
                                       "setting = \"engine.0.step_object\"\nvalues = [0.1, 0.3]\n";
  expect_kept("out/best.toml", {"ptycho", "sweep", "sweep.toml"});
  fs::remove_all(file("out"));
  expect_kept("out/sweep.csv", {"ptycho", "sweep", "sweep.toml"});
}

TEST_F(MadeUpNames, OfTheDemoReplaceFilesOfSondeOnly) {
  for (const char* foreign : {"scan_master.h5", "scan_data_000001.h5", "scan.h5", "scan_truth.h5", "bf.tif"}) {
    std::ofstream(file(foreign)) << "my own measurement\n";
    const auto before = testing::read_bytes(file(foreign));
    const Ended ended = run_there({"demo", "-o", ".", "--scan-shape", "16,16"});
    EXPECT_EQ(ended.status, 3) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(foreign));
    EXPECT_EQ(testing::read_bytes(file(foreign)), before);
    fs::remove(file(foreign));
  }
}

TEST_F(SideOutputs, AnEmptyFileLosesNothing) {
  std::ofstream(file("r.json")) << "";
  EXPECT_EQ(run({"devices", "--report", file("r.json")}).status, 0);
  EXPECT_GT(fs::file_size(file("r.json")), 100u);
}

/// A closed home folder, rings of links, names of 300 characters, folders without x: an answer before the work.
class HostileFolders : public testing::OnSmallScan {
 protected:
  static void as_nobody() { testing::become_nobody(); }
};

TEST_F(HostileFolders, AHomeThatMayNotBeReadIsANote) {
  const std::string master = testing::make_small_scan(folder_, "stem");
  write();
  (void)run_file();
  fs::permissions(folder_.path(), fs::perms::all);
  for (const auto& entry : fs::directory_iterator(folder_.path())) fs::permissions(entry, fs::perms::all);
  fs::create_directory(file("home"));
  fs::permissions(file("home"), fs::perms::none);
  setenv("HOME", file("home").c_str(), 1);
  unsetenv("XDG_CACHE_HOME");
  for (const Words& words : {Words{"stem", "load", master},
                             {"stem", "validate", master},
                             {"stem", "info", master},
                             {"stem", "image", master, "-d", "bf", "-o", file("a.png")},
                             {"stem", "convert", master, file("a.npy")},
                             {"view", master, "--no-open", "--dry-run"},
                             {"ptycho", "run", file("run.toml"), "-o", file("p.h5")},
                             {"neoclassical", "run", "analytic-demo", "--nu-hat", "1e-2", "--n-theta", "5", "--n-zeta",
                              "5", "--n-xi", "4", "-o", file("n.nc")}}) {
    const Ended ended = testing::Program(words, as_nobody).wait();
    EXPECT_EQ(ended.status, 0) << ::testing::PrintToString(words) << ended.err;
  }
  fs::permissions(file("home"), fs::perms::all);
}

TEST_F(HostileFolders, InputsAndOutputsThatCannotBeReachedAreErrorsBeforeTheWork) {
  const std::string master = testing::make_small_scan(folder_, "stem");
  write();
  const std::string toml = run_file();
  fs::create_symlink("ring_b", file("ring_a"));
  fs::create_symlink("ring_a", file("ring_b"));
  fs::create_directory(file("closed"));
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    if (!entry.is_symlink()) fs::permissions(entry, fs::perms::all);
  fs::permissions(folder_.path(), fs::perms::all);
  fs::permissions(file("closed"), fs::perms::owner_read);
  const std::string longest = file(std::string(300, 'n'));
  for (const std::string& bad : {file("ring_a"), longest, file("closed/inside"), file("ring_a/inside")}) {
    std::vector<Words> commands = {{"stem", "info", bad},
                                   {"stem", "load", bad},
                                   {"stem", "validate", bad},
                                   {"stem", "image", bad, "-o", file("x.png")},
                                   {"stem", "convert", bad, file("x.npy")},
                                   {"view", bad, "--no-open"},
                                   {"view", bad, "--no-open", "--dry-run"},
                                   {"stem", "load", master, "--report", bad},
                                   {"ptycho", "run", toml, "-o", bad},
                                   {"ptycho", "run", bad, "-o", file("x.h5")},
                                   {"ptycho", "run", toml, "--log", bad, "-o", file("x.h5")},
                                   {"ptycho", "simulate", "-o", bad}};
    for (const char* verb : {"resume", "init", "direct", "report", "sweep", "export", "compare", "diagnose", "orient"})
      commands.push_back({"ptycho", verb, bad});
    for (const char* verb : {"run", "scan", "database", "boozer", "convergence", "profile", "convert", "plot"}) {
      const bool plots = std::string(verb) == "plot", boozer = std::string(verb) == "boozer";
      commands.push_back({"neoclassical", verb, bad, "-o", file(plots ? "x.png" : boozer ? "x.nc" : "x.h5")});
    }
    if (bad != file("ring_a"))  // which has no ending
      for (const Words& words :
           std::vector<Words>{{"stem", "load", master, "-o", bad + ".h5"},
                              {"stem", "image", master, "-o", bad + ".png"},
                              {"stem", "convert", master, bad + ".npy"},
                              {"stem", "load", master, "--mask-file", bad + ".npy"},
                              {"stem", "simulate", bad + "_master.h5"},
                              {"neoclassical", "run", "analytic-demo", "--nu-hat", "1", "-o", bad + ".nc"}})
        commands.push_back(words);
    for (const Words& words : commands) {
      SCOPED_TRACE(::testing::PrintToString(words));
      const Ended ended = testing::Program(words, as_nobody).wait();
      EXPECT_THAT(ended.status, AnyOf(3, 5)) << ended.err;
      EXPECT_THAT(ended.err, HasSubstr("error: "));
    }
  }
  fs::permissions(file("closed"), fs::perms::owner_all);
}

}  // namespace
}  // namespace sonde
