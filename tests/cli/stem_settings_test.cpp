// SPDX-License-Identifier: Apache-2.0
// What cannot be done is refused with a remedy before any work, and what every stem command keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sonde/engine/device/device.h"
#include "sonde/engine/io/npy.h"
#include "tests/cli/stem.h"

namespace sonde {
namespace {

using ::testing::AllOf;
using testing::at;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Ended;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::json_of;
using testing::make_small_scan;
using testing::names_in;
using ::testing::Not;
using testing::run;
using ::testing::StartsWith;
using testing::TemporaryFolder;

struct Impossible {
  std::vector<std::string> settings;
  int status;
  std::vector<std::string> words;  // all of them are in the message
};

TEST(ImpossibleSettings, AreRefusedWithARemedy) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  for (const Impossible& given : {
           Impossible{{"--scan-shape", "11,11"},
                      3,
                      {"120 frames, but --scan-shape asks for a scan of 11 x 11 = 121", "hint: "}},
           {{"--scan-shape", "7,auto"}, 3, {"120 frames do not divide into 7 rows", "hint: "}},
           {{"--scan-shape", "0,120"}, 2, {"--scan-shape: 0 is not a number of positions"}},
           {{"--scan-shape", "4294967296,4294967296"},
            3,
            {"--scan-shape asks for a scan of 4294967296 x 4294967296 positions, more than 2^63"}},
           {{"--scan-shape", "many"}, 2, {"--scan-shape: \"many\" is not ROWS,COLS", "hint: write for instance"}},
           {{"--det-bin", "33"}, 3, {"detector bin 33 is larger than the detector of 32 x 40", "hint: give --det-bin"}},
           {{"--det-bin", "0"}, 3, {"detector bin 0", "hint: give --det-bin"}},
           {{"--det-bin", "two"}, 2, {"--det-bin: \"two\" is not a whole number", "hint: write for instance"}},
           {{"--scan-bin", "13"}, 3, {"scan bin 13 does not suit 12 x 10 positions", "hint: "}},
           {{"--scan-bin", "0"}, 2, {"--scan-bin: 0 is below the smallest allowed value, 1"}},
           {{"--scan-region", "0,13,0,10"},
            3,
            {"scan region 0,13,0,10 is empty or outside the scan of 12 x 10", "hint: "}},
           {{"--scan-region", "5,5,0,10"}, 3, {"scan region 5,5,0,10 is empty", "hint: "}},
           {{"--scan-region", "1,2,3"}, 2, {"\"1,2,3\" has 3 numbers, 4 are needed", "hint: "}},
           {{"--dtype", "u64"}, 2, {"--dtype: ", "u64", "u8"}},
           {{"--dtype", "u16", "--bin-mode", "mean"}, 3, {"means of bins are f32", "hint: "}},
           {{"--layout", "pixels"}, 2, {"--layout: ", "pixels", "pixel"}},
           {{"--dataset", "/entry/nothing"}, 3, {"no data set /entry/nothing"}},
           {{"--mask-file", "/nowhere/mask.npy"}, 3, {"/nowhere/mask.npy: no such file"}},
           {{"--voltage", "-1"}, 2, {"--voltage: -1 is below"}},
       }) {
    SCOPED_TRACE(::testing::PrintToString(given.settings));
    std::vector<std::string> words = {"stem", "load", master};
    words.insert(words.end(), given.settings.begin(), given.settings.end());
    const Ended ended = run(words);
    EXPECT_EQ(ended.status, given.status);
    EXPECT_THAT(ended.out, IsEmpty());
    for (const std::string& word : given.words) EXPECT_THAT(ended.err, HasSubstr(word));
  }
}

TEST(ImpossibleSettings, OfAFileNameTheirLineAndAreBadInput) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder), settings = folder.file("settings.toml");
  for (const auto& [line, text] : {std::pair{"det_bin = \"two\"", "\"two\" is not a whole number"},
                                   {"scan_shape = \"many\"", "\"many\" is not ROWS,COLS"},
                                   {"scan_region = [1, 2, 3]", "\"1,2,3\" has 3 numbers, 4 are needed"},
                                   {"scan_bin = 0", "0 is below the smallest allowed value, 1"}}) {
    SCOPED_TRACE(line);
    std::ofstream(settings) << "\n" << line << "\n";
    const Ended ended = run({"stem", "load", master, "--config", settings});
    EXPECT_EQ(ended.status, 3);
    EXPECT_THAT(ended.err, HasSubstr(" in " + settings + " line 2: " + text));
  }
}

TEST(ImpossibleSettings, DetectorsAreRefusedWithTheirPlace) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  const auto image = [&](const std::string& detector, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"stem", "image", master, "-d", detector, "-o", folder.file("a.tif")};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  };
  const Ended unknown = image("annulsu(16,20,3,9)");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown name \"annulsu\"; did you mean \"annulus\"?\n  annulsu(16,20,3,9)\n  ^"));
  EXPECT_EQ(image("circle(16,20,3").status, 2);
  EXPECT_EQ(image("circle(16,20)").status, 2);
  EXPECT_EQ(image("file(/nowhere/mask.npy)").status, 3);
  const Ended outside = image("rect(100,100,120,120)");
  EXPECT_EQ(outside.status, 3);
  EXPECT_THAT(outside.err, HasSubstr("the detector rect(100,100,120,120) covers no good pixel of 32 x 40"));
  const Ended centre = image("bf", {"--centre", "middle"});
  EXPECT_EQ(centre.status, 2);
  EXPECT_THAT(centre.err, HasSubstr("--centre: \"middle\" is not ROW,COL"));
  EXPECT_THAT(names_in(folder.path()), Not(Contains(StartsWith("a."))));
}

TEST(ImpossibleSettings, OutputNamesAreCheckedBeforeAnyWork) {
  const TemporaryFolder folder;
  // No scan is there: the name of the result is judged first.
  const auto judged = [&](std::vector<std::string> words, int status, const std::string& text) {
    const Ended ended = run(std::move(words));
    EXPECT_EQ(ended.status, status);
    EXPECT_THAT(ended.err, HasSubstr(text));
  };
  judged({"stem", "image", "gone_master.h5", "-o", "a.jpg"}, 2, "a.jpg: images are written as .npy, .tif, .png or .h5");
  judged({"stem", "image", "gone_master.h5", "-o", "/nowhere/a.tif"}, 5, "there is no folder /nowhere");
  judged({"stem", "image", "gone_master.h5", "-d", "bf", "-d", "adf", "-o", "a.tif"}, 2,
         "-o a.tif names one file, but there are 2 images");
  judged({"stem", "convert", "gone_master.h5", "a.xyz"}, 2, "a.xyz: no format for this ending");
  judged({"stem", "convert", "gone_master.h5", "/nowhere/a.npy"}, 5, "there is no folder /nowhere");
  judged({"stem", "load", "gone_master.h5", "-o", "a.txt"}, 2, "the summary is an .h5 file");
}

TEST(ImpossibleSettings, ResultsNeverReplaceTheScan) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder), data = folder.file("scan_data_000002.h5"),
                    sidecar = folder.file("scan.h5");
  const auto before = testing::read_bytes(master), data_before = testing::read_bytes(data),
             sidecar_before = testing::read_bytes(sidecar);
  ASSERT_FALSE(sidecar_before.empty());
  for (const std::vector<std::string>& words : {std::vector<std::string>{"stem", "convert", master, master},
                                                {"stem", "convert", master, data},
                                                {"stem", "load", master, "-o", master},
                                                {"stem", "phase", master, "-o", sidecar},
                                                {"stem", "image", master, "-o", data}}) {
    const Ended ended = run(words);
    EXPECT_EQ(ended.status, 3) << words[1];
    EXPECT_THAT(ended.err, HasSubstr("an output never replaces an input"));
  }
  EXPECT_EQ(testing::read_bytes(master), before);
  EXPECT_EQ(testing::read_bytes(data), data_before);
  EXPECT_EQ(testing::read_bytes(sidecar), sidecar_before);
}

TEST(ImpossibleSettings, UnknownFlagsNameTheNearest) {
  for (const auto& [command, flag, nearest] : {std::tuple{"load", "--det-bn", "--det-bin"},
                                               {"image", "--detectr", "--detector"},
                                               {"convert", "--scan-regoin", "--scan-region"},
                                               {"info", "--meta-data", "--metadata"},
                                               {"validate", "--decod", "--decode"},
                                               {"simulate", "--doze", "--dose"}}) {
    const Ended ended = run({"stem", command, "scan_master.h5", flag, "2"});
    EXPECT_EQ(ended.status, 2) << command;
    EXPECT_THAT(ended.err, HasSubstr(std::string("unknown flag \"") + flag + "\"; did you mean \"" + nearest + "\""));
  }
}

TEST(ImpossibleSettings, AGpuThatIsNotThereIsADeviceError) {
  if (Device::all().size() > 1) GTEST_SKIP() << "this machine has a GPU";
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  for (const char* command : {"load", "info", "validate"}) {
    const Ended ended = run({"stem", command, master, "--device", "cuda"});
    EXPECT_EQ(ended.status, 6) << command;
    EXPECT_THAT(ended.err, HasSubstr("hint: use --device cpu"));
  }
}

TEST(TooLittleMemory, NamesNeedAndRemedyBeforeAnyWork) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  const Ended fixed = run({"stem", "load", master, "--memory", "64K"});
  EXPECT_EQ(fixed.status, 4);
  EXPECT_THAT(fixed.err, AllOf(HasSubstr("the smallest need is "), HasSubstr("the budget is 64.0 KiB"),
                               HasSubstr("hint: give --det-bin auto, a smaller --scan-region, or more --memory")));
  const Ended automatic =
      run({"stem", "convert", master, folder.file("a.npy"), "--memory", "64K", "--det-bin", "auto"});
  EXPECT_EQ(automatic.status, 4);
  EXPECT_THAT(automatic.err, AllOf(HasSubstr("bin 16"), HasSubstr("hint: give a --scan-bin")));
  EXPECT_THAT(names_in(folder.path()), Not(Contains(StartsWith("a."))));
}

TEST(TooLittleMemory, AutomaticBinTakesTheSmallestThatFits) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  const Index need =
      at(json_of({"stem", "info", master, "--det-bin", "2"}), {"estimate", "predicted_peak_bytes"}).as_whole();
  const Value loaded = json_of({"stem", "load", master, "--det-bin", "auto", "--memory", std::to_string(need) + "B"});
  EXPECT_THAT(testing::whole_numbers(at(loaded, {"shape"})), ElementsAre(12, 10, 16, 20));
}

TEST(DryRun, ChoosesButDoesNoWork) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  const auto before = names_in(folder.path());
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"stem", "load", master, "-o", folder.file("a.h5")},
        {"stem", "image", master, "-d", "haadf", "-o", folder.file("a.tif")},
        {"stem", "convert", master, folder.file("a.npy"), "--det-bin", "2"}}) {
    SCOPED_TRACE(words[1]);
    std::vector<std::string> dry = words;
    dry.insert(dry.end(), {"--dry-run", "--json"});
    const Ended ended = run(dry);
    EXPECT_EQ(ended.status, 0) << ended.err;
    const Value plan = parse_json(ended.out, "standard output");
    EXPECT_NE(at(plan, {"options"}).find("det_bin"), nullptr);
    EXPECT_THAT(ended.out, HasSubstr("predicted peak"));
    EXPECT_EQ(names_in(folder.path()), before);
  }
}

TEST(DryRun, OfASimulationTellsItsSizes) {
  const TemporaryFolder folder;
  const Ended ended = run({"stem", "simulate", folder.file("scan_master.h5"), "--scan-shape", "100,100",
                           "--frames-per-file", "4000", "--dry-run"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("frames: 10000 (100,100 positions of 192,192 pixels, 703 MiB before compression)"));
  EXPECT_THAT(ended.err, HasSubstr("files: 6 (master, 3 with up to 4000 frames each, sidecar, truth)"));
  EXPECT_THAT(ended.err, HasSubstr("in a sample of frames"));
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
}

TEST(Json, IsOneDocumentOnStandardOutputOfEveryCommand) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"stem", "info", master},
        {"stem", "validate", master},
        {"stem", "load", master},
        {"stem", "image", master, "-d", "all"},
        {"stem", "convert", master, folder.file("a.npy")},
        {"stem", "simulate", folder.file("b_master.h5"), "--scan-shape", "2,2", "--detector-shape", "32,32"}}) {
    SCOPED_TRACE(words[1]);
    const Value result = json_of(words);  // parse_json accepts one document and nothing behind it
    EXPECT_TRUE(result.is_object());
    EXPECT_GT(result.size(), 0u);
  }
}

TEST(SettingsOfAFile, MakeTheFileThatFlagsMake) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder), settings = folder.file("com.toml");
  std::ofstream(settings) << "fit = \"plane\"\nunits = \"px\"\n";
  const std::string by_flags = folder.file("flags.h5"), by_file = folder.file("file.h5");
  ASSERT_EQ(run({"stem", "com", master, "--fit", "plane", "--units", "px", "-o", by_flags, "--quiet"}).status, 0);
  ASSERT_EQ(run({"stem", "com", master, "--config", settings, "-o", by_file, "--quiet"}).status, 0);
  EXPECT_EQ(testing::read_bytes(by_flags), testing::read_bytes(by_file));  // with the command that made it
}

TEST(SettingsOfAFile, CountMoreThanThoseStoredWithCentresOfMass) {
  const TemporaryFolder folder;
  const std::string centres = folder.file("com.h5"), settings = folder.file("phase.toml");
  ASSERT_EQ(run({"stem", "com", make_small_scan(folder), "--units", "px", "-o", centres, "--quiet"}).status, 0);
  std::ofstream(settings) << "fit = \"plane\"\nrotation = \"33\"\nunits = \"px\"\n";
  const std::string by_flags = folder.file("flags.h5"), by_file = folder.file("file.h5");
  ASSERT_EQ(
      run({"stem", "phase", centres, "--fit", "plane", "--rotation", "33", "--units", "px", "-o", by_flags, "--quiet"})
          .status,
      0);
  ASSERT_EQ(run({"stem", "phase", centres, "--config", settings, "-o", by_file, "--quiet"}).status, 0);
  EXPECT_EQ(testing::read_bytes(by_flags), testing::read_bytes(by_file));
  std::ofstream(settings) << "det_bin = \"2\"\n";
  const Ended measuring = run({"stem", "phase", centres, "--config", settings, "-o", by_file, "--quiet"});
  EXPECT_EQ(measuring.status, 2);
  EXPECT_THAT(measuring.err, HasSubstr("were measured already"));
}

}  // namespace
}  // namespace sonde
