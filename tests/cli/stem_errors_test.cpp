// SPDX-License-Identifier: Apache-2.0
// Wrong input and adverse circumstances: every problem is named with its place and a remedy, the exit status tells its
// kind, and nothing half-written stays behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <thread>

#include "sonde/engine/device/device.h"
#include "sonde/engine/io/npy.h"
#include "tests/cli/stem.h"
#include "tests/support/child.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::at;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::Ended;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::json_of;
using testing::make_small_scan;
using testing::names_in;
using ::testing::Not;
using testing::Program;
using testing::small_scan;
using ::testing::StartsWith;
using testing::TemporaryFolder;

Ended run(std::vector<std::string> arguments) { return testing::sonde(std::move(arguments)); }

void write_text(const std::string& path, const std::string& text) {
  testing::write_bytes(path, {text.begin(), text.end()});
}

/// Where the chunks of a data file of small_scan() begin, in stored order. Each begins with its size as decoded, in 8
/// bytes, and the size of a block, in 4, the most significant byte first.
std::vector<std::size_t> chunks_of(const std::string& data_file) {
  const auto bytes = testing::read_bytes(data_file);
  const std::array<std::uint8_t, 12> size = {0, 0, 0, 0, 0, 0, (32 * 40 * 2) >> 8, (32 * 40 * 2) & 0xff, 0, 0, 0x20, 0};
  std::vector<std::size_t> starts;
  for (auto from = bytes.begin();; ++from) {
    from = std::search(from, bytes.end(), size.begin(), size.end());
    if (from == bytes.end()) return starts;
    starts.push_back(static_cast<std::size_t>(from - bytes.begin()));
  }
}

/// Overwrites one byte of a file.
void change_byte(const std::string& path, std::size_t position, std::uint8_t value) {
  auto bytes = testing::read_bytes(path);
  ASSERT_LT(position, bytes.size());
  ASSERT_NE(bytes[position], value);
  bytes[position] = value;
  testing::write_bytes(path, bytes);
}

// ---- Sets of files
// ---------------------------------------------------------------------------------------------------

/// Seven data files of a scan; all but the first are damaged, each in another way.
class DamagedSet : public ::testing::Test {
 protected:
  void SetUp() override {
    stem::SimulateOptions options = small_scan(master());
    options.frames_per_file = 18;
    (void)stem::simulate(options);
    stem::SimulateOptions other = options;
    other.output = folder_.file("other_master.h5");
    other.detector_shape = "24,24";
    (void)stem::simulate(other);
    other.output = folder_.file("wide_master.h5");
    other.detector_shape = options.detector_shape;
    other.dtype = DType::u32;
    (void)stem::simulate(other);

    fs::remove(data(2));
    fs::resize_file(data(3), fs::file_size(data(3)) / 2);
    fs::copy_file(folder_.file("other_data_000004.h5"), data(4), fs::copy_options::overwrite_existing);
    write_text(data(5), "not what it seems to be");
    fs::copy_file(folder_.file("wide_data_000006.h5"), data(6), fs::copy_options::overwrite_existing);
    testing::python(R"(
import sys, h5py
with h5py.File(sys.argv[1], 'r+') as f:
    shape = f['/entry/data/data'].shape
    del f['/entry/data/data']
    f.create_dataset('/entry/data/data', shape, '<u2', chunks=(1,) + shape[1:], compression='gzip', fillvalue=0)
)",
                    data(7));
  }
  [[nodiscard]] std::string master() const { return folder_.file("scan_master.h5"); }
  [[nodiscard]] std::string data(int i) const { return folder_.file("scan_data_00000" + std::to_string(i) + ".h5"); }

  TemporaryFolder folder_;
};

TEST_F(DamagedSet, IsReportedWholeByEveryCommandBeforeAnyWork) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"stem", "load", master()},
                                                {"stem", "validate", master()},
                                                {"stem", "info", master()},
                                                {"stem", "convert", master(), folder_.file("out.npy")},
                                                {"stem", "image", master(), "-o", folder_.file("out.tif")}}) {
    SCOPED_TRACE(words[1]);
    const Ended ended = run(words);
    EXPECT_EQ(ended.status, 3);
    EXPECT_THAT(ended.out, IsEmpty());
    EXPECT_THAT(ended.err,
                AllOf(HasSubstr(data(2) + ": no such file"), HasSubstr("scan_data_000003.h5"),
                      HasSubstr(data(4) + ": frames of 24 x 24, but scan_data_000001.h5 has frames of 32 x 40"),
                      HasSubstr("scan_data_000005.h5"), HasSubstr(data(6) + ": elements of type"),
                      HasSubstr(data(7) + ": filter 1, but scan_data_000001.h5 has filter 32008")));
    EXPECT_THAT(ended.err, AllOf(HasSubstr("hint: put the data files beside their master"),
                                 HasSubstr("hint: all data files of an acquisition have one type, shape and filter")));
  }
  EXPECT_THAT(names_in(folder_.path()), Not(Contains(StartsWith("out"))));
}

TEST_F(DamagedSet, ValidateListsTheProblemsAsData) {
  const Ended ended = run({"stem", "validate", master(), "--json", "--quiet"});
  EXPECT_EQ(ended.status, 3);
  const Value found = parse_json(ended.out, "standard output");
  EXPECT_GE(at(found, {"problems"}).size(), 6u);
  EXPECT_EQ(at(at(found, {"scans"}).items().at(0), {"status"}).as_text(), "failed");
}

TEST(FileSets, ALinkThatLeadsElsewhereIsNamed) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  testing::python(R"(
import sys, h5py
with h5py.File(sys.argv[1], 'r+') as f:
    del f['/entry/data/data_000002']
    f['/entry/data/data_000002'] = h5py.ExternalLink('/nowhere/other_data_000009.h5', '/entry/data/data')
    del f['/entry/data/data_000003']
    f['/entry/data/data_000003'] = h5py.ExternalLink('scan_data_000003.h5', '/entry/results')
)",
                  master);
  const Ended ended = run({"stem", "load", master});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("/nowhere/other_data_000009.h5: no such file; /entry/data/data_000002 of "),
                               HasSubstr("scan_data_000003.h5: no data set /entry/results")));
}

TEST(FileSets, ARenamedAcquisitionStillLoads) {
  const TemporaryFolder folder;
  make_small_scan(folder);
  for (const std::string& name : names_in(folder.path()))
    fs::rename(folder.path() / name, folder.path() / ("renamed" + name.substr(4)));
  const Value loaded = json_of({"stem", "load", folder.file("renamed_master.h5")});
  EXPECT_THAT(testing::whole_numbers(at(loaded, {"shape"})), ElementsAre(12, 10, 32, 40));
}

TEST(FileSets, SeveralScansGiveOneReportWithTheSmallestStatus) {
  const TemporaryFolder folder;
  const std::string good = make_small_scan(folder);
  testing::write_bytes(folder.file("movie.zip"), {'P', 'K', 3, 4, 20, 0, 0, 0});
  const Ended ended = run({"stem", "validate", folder.file("movie.zip"), good, folder.file("gone_master.h5")});
  EXPECT_EQ(ended.status, 3);  // 8 for the archive, 3 for the missing file
  EXPECT_THAT(ended.err, AllOf(HasSubstr("2 problems found"), HasSubstr("movie.zip: is a ZIP archive"),
                               HasSubstr("gone_master.h5: no such file"), HasSubstr("ok    " + good)));
  EXPECT_EQ(run({"stem", "validate", folder.file("movie.zip"), good}).status, 8);
}

// ---- Permissions
// -----------------------------------------------------------------------------------------------------

/// In a child: root keeps its files but not its right to pass over permissions.
void respect_permissions() {
  constexpr unsigned long dac_override = 1, dac_read_search = 2;
  if (geteuid() != 0) return;
  if (prctl(PR_CAPBSET_DROP, dac_override, 0, 0, 0) != 0 || prctl(PR_CAPBSET_DROP, dac_read_search, 0, 0, 0) != 0)
    _exit(125);
}

Ended run_with_permissions(std::vector<std::string> arguments) {
  return Program(std::move(arguments), respect_permissions).wait();
}

TEST(Permissions, AnUnreadableDataFileIsNamed) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  fs::permissions(folder.file("scan_data_000002.h5"), fs::perms::none);
  const Ended ended = run_with_permissions({"stem", "load", master});
  EXPECT_EQ(ended.status, 5);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("scan_data_000002.h5: cannot be read: Permission denied"),
                               HasSubstr("hint: check the permissions")));
}

TEST(Permissions, AnUnreadableFolderIsNamed) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "closed");
  fs::permissions(folder.path() / "closed", fs::perms::none);
  const Ended ended = run_with_permissions({"stem", "load", folder.file("closed")});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("closed: the folder cannot be read: Permission denied"),
                               HasSubstr("hint: check its permissions")));
  fs::permissions(folder.path() / "closed", fs::perms::owner_all);
}

TEST(Permissions, AFolderThatMayNotBeWrittenIsNamed) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  fs::create_directory(folder.path() / "fixed");
  fs::permissions(folder.path() / "fixed", fs::perms::owner_read | fs::perms::owner_exec);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"stem", "convert", master, folder.file("fixed/a.npy")},
        {"stem", "convert", master, folder.file("fixed/a.emd")},
        {"stem", "convert", master, folder.file("fixed/a_master.h5")},
        {"stem", "image", master, "-o", folder.file("fixed/a.tif")},
        {"stem", "load", master, "-o", folder.file("fixed/a.h5")}}) {
    SCOPED_TRACE(words.back());
    const Ended ended = run_with_permissions(words);
    EXPECT_EQ(ended.status, 5);
    EXPECT_THAT(ended.err, AllOf(HasSubstr("fixed/a"), HasSubstr("Permission denied")));
  }
  fs::permissions(folder.path() / "fixed", fs::perms::owner_all);
  EXPECT_THAT(names_in(folder.path() / "fixed"), IsEmpty());
}

// ---- Broken chunks
// ---------------------------------------------------------------------------------------------------

/// A scan whose frames 3 and 77 announce more compressed bytes than they have.
class BrokenChunks : public ::testing::Test {
 protected:
  void SetUp() override {
    master_ = make_small_scan(folder_);
    offset_ = chunks_of(folder_.file("scan_data_000001.h5")).at(3);
    change_byte(folder_.file("scan_data_000001.h5"), offset_ + 12, 0x7f);
    change_byte(folder_.file("scan_data_000002.h5"), chunks_of(folder_.file("scan_data_000002.h5")).at(27) + 12, 0x7f);
  }
  TemporaryFolder folder_;
  std::string master_;
  std::size_t offset_ = 0;  // of the chunk of frame 3
};

TEST_F(BrokenChunks, EndTheLoadNamingFileFrameBlockAndOffset) {
  const Ended ended = run({"stem", "load", master_, "--threads", "1"});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("block 0 at byte 12: "), HasSubstr("compressed bytes announced"),
                               HasSubstr("frame 3 of " + folder_.file("scan_data_000001.h5")),
                               HasSubstr("at byte " + std::to_string(offset_)), HasSubstr("hint: --on-error zero")));
}

TEST_F(BrokenChunks, AreZeroedAndListedWhenAsked) {
  const Value loaded = json_of({"stem", "load", master_, "--on-error", "zero"});
  EXPECT_EQ(at(loaded, {"exactness", "exact"}).as_bool(), false);
  EXPECT_EQ(at(loaded, {"exactness", "failed_frames"}).as_whole(), 2);
  std::vector<Index> frames;
  for (const Value& frame : at(loaded, {"failed_frames"}).items()) {
    frames.push_back(at(frame, {"frame"}).as_whole());
    EXPECT_THAT(at(frame, {"reason"}).as_text(), AllOf(HasSubstr("block 0 at byte 12"), HasSubstr("scan_data_00000")));
  }
  EXPECT_THAT(frames, ElementsAre(3, 77));
}

TEST_F(BrokenChunks, AreAllListedByValidateDecode) {
  EXPECT_EQ(run({"stem", "validate", master_}).status, 0);  // the places and sizes of the chunks are right
  const Ended ended = run({"stem", "validate", master_, "--decode", "--json", "--quiet"});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("frame 3: "), HasSubstr("frame 77: "), HasSubstr("2 problems found")));
  const Value found = parse_json(ended.out, "standard output");
  EXPECT_EQ(at(found, {"problems"}).size(), 2u);
  EXPECT_EQ(at(at(found, {"scans"}).items().at(0), {"status"}).as_text(), "failed");
}

TEST_F(BrokenChunks, DoNotGetIntoResults) {
  EXPECT_EQ(run({"stem", "image", master_, "-d", "all", "-o", folder_.file("a.tif")}).status, 3);
  EXPECT_EQ(run({"stem", "convert", master_, folder_.file("a.npy")}).status, 3);
  EXPECT_THAT(names_in(folder_.path()), Not(Contains(StartsWith("a."))));
}

// ---- Impossible wishes
// -----------------------------------------------------------------------------------------------

struct Wish {
  std::vector<std::string> settings;
  int status;
  std::vector<std::string> words;  // all of them are in the message
};

TEST(ImpossibleWishes, AreRefusedWithARemedy) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  for (const Wish& wish : {
           Wish{{"--scan-shape", "11,11"},
                3,
                {"120 frames, but --scan-shape asks for a scan of 11 x 11 = 121", "hint: "}},
           {{"--scan-shape", "7,auto"}, 3, {"120 frames do not divide into 7 rows", "hint: "}},
           {{"--scan-shape", "0,120"}, 2, {"--scan-shape: 0 is not a number of positions"}},
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
    SCOPED_TRACE(::testing::PrintToString(wish.settings));
    std::vector<std::string> words = {"stem", "load", master};
    words.insert(words.end(), wish.settings.begin(), wish.settings.end());
    const Ended ended = run(words);
    EXPECT_EQ(ended.status, wish.status);
    EXPECT_THAT(ended.out, IsEmpty());
    for (const std::string& word : wish.words) EXPECT_THAT(ended.err, HasSubstr(word));
  }
}

TEST(ImpossibleWishes, DetectorsAreRefusedWithTheirPlace) {
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

TEST(ImpossibleWishes, OutputNamesAreCheckedBeforeAnyWork) {
  const TemporaryFolder folder;
  // No scan is there: the name of the result is judged first.
  const auto judged = [&](std::vector<std::string> words, int status, const std::string& text) {
    const Ended ended = run(std::move(words));
    EXPECT_EQ(ended.status, status);
    EXPECT_THAT(ended.err, HasSubstr(text));
  };
  judged({"stem", "image", "gone_master.h5", "-o", "a.jpg"}, 2, "a.jpg: images are not written as \".jpg\"");
  judged({"stem", "image", "gone_master.h5", "-o", "/nowhere/a.tif"}, 5, "there is no folder /nowhere");
  judged({"stem", "image", "gone_master.h5", "-d", "bf", "-d", "adf", "-o", "a.tif"}, 2,
         "-o a.tif names one file, but there are 2 images");
  judged({"stem", "convert", "gone_master.h5", "a.xyz"}, 2, "a.xyz: no format for this ending");
  judged({"stem", "convert", "gone_master.h5", "/nowhere/a.npy"}, 5, "there is no folder /nowhere");
  judged({"stem", "load", "gone_master.h5", "-o", "a.txt"}, 2, "the summary is an .h5 file");
}

TEST(ImpossibleWishes, ResultsNeverReplaceTheScan) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder), data = folder.file("scan_data_000002.h5");
  const auto before = testing::read_bytes(master), data_before = testing::read_bytes(data);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"stem", "convert", master, master},
                                                {"stem", "convert", master, data},
                                                {"stem", "load", master, "-o", master},
                                                {"stem", "image", master, "-o", data}}) {
    const Ended ended = run(words);
    EXPECT_EQ(ended.status, 3) << words[1];
    EXPECT_THAT(ended.err, HasSubstr("would replace a file of the scan itself"));
  }
  EXPECT_EQ(testing::read_bytes(master), before);
  EXPECT_EQ(testing::read_bytes(data), data_before);
}

TEST(ImpossibleWishes, UnknownFlagsNameTheNearest) {
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

TEST(ImpossibleWishes, AGpuThatIsNotThereIsADeviceError) {
  if (Device::all().size() > 1) GTEST_SKIP() << "this machine has a GPU";
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  for (const char* command : {"load", "info", "validate"}) {
    const Ended ended = run({"stem", command, master, "--device", "cuda"});
    EXPECT_EQ(ended.status, 6) << command;
    EXPECT_THAT(ended.err, HasSubstr("hint: use --device cpu"));
  }
}

// ---- Memory and disk
// -------------------------------------------------------------------------------------------------

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

void small_disk() { testing::limit_file_size(2000); }

TEST(FullDisk, IsAnIoErrorAndLeavesNothingBehind) {
  const TemporaryFolder folder;
  const std::string master = make_small_scan(folder);
  fs::create_directory(folder.path() / "out");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"stem", "convert", master, folder.file("out/a.npy")},
        {"stem", "convert", master, folder.file("out/a.emd")},
        {"stem", "convert", master, folder.file("out/a_master.h5")},
        {"stem", "image", master, "-o", folder.file("out/a.tif")},
        {"stem", "image", master, "-o", folder.file("out/a.h5")},
        {"stem", "image", master, "-o", folder.file("out/a.npy")},
        {"stem", "load", master, "-o", folder.file("out/a.h5")},
        {"stem", "simulate", folder.file("out/b_master.h5"), "--scan-shape", "8,8", "--detector-shape", "64,64"}}) {
    SCOPED_TRACE(words[1] + " " + words.back());
    std::vector<std::string> quiet = words;
    quiet.push_back("--quiet");
    const Ended ended = Program(quiet, small_disk).wait();
    EXPECT_EQ(ended.status, 5) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("out/"));
    EXPECT_THAT(names_in(folder.path() / "out"), IsEmpty());
  }
}

// ---- Interruption
// ----------------------------------------------------------------------------------------------------

/// A sparse raw file: 320 MiB of zeros that take no space, but time to read.
std::vector<std::string> long_scan(const TemporaryFolder& folder) {
  const std::string path = folder.file("long.raw");
  std::ofstream(path).put(0);
  fs::resize_file(path, std::uintmax_t{1280} * 512 * 512);
  return {path, "--raw-shape", "20,64,512,512", "--raw-dtype", "u1"};
}

/// Bytes that a process has read so far.
std::size_t bytes_read(pid_t process) {
  std::ifstream counts("/proc/" + std::to_string(process) + "/io");
  std::string key;
  std::size_t value = 0;
  counts >> key >> value;
  return key == "rchar:" ? value : 0;
}

bool has_ended(pid_t process) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == process;
}

/// Sends the signal as soon as the program is in the middle of its work, which `reached` tells.
Ended interrupted(std::vector<std::string> words, int signal, const std::function<bool(pid_t)>& reached) {
  const Program program(std::move(words));
  while (!reached(program.id()) && !has_ended(program.id())) std::this_thread::yield();
  kill(program.id(), signal);
  return program.wait();
}

TEST(Interrupt, EndsALoadInTheMiddle) {
  const TemporaryFolder folder;
  for (const auto& [signal, status] : {std::pair{SIGINT, 130}, {SIGTERM, 143}}) {
    std::vector<std::string> words = {"stem", "load"};
    const auto scan = long_scan(folder);
    words.insert(words.end(), scan.begin(), scan.end());
    words.insert(words.end(), {"-o", folder.file("summary.h5"), "--layout", "file"});
    const Ended ended =
        interrupted(words, signal, [](pid_t process) { return bytes_read(process) > std::size_t{100} << 20; });
    EXPECT_EQ(ended.status, status) << ended.err;
    EXPECT_THAT(names_in(folder.path()), ElementsAre("long.raw"));
  }
}

TEST(Interrupt, OfAConversionLeavesNothingHalfWritten) {
  const TemporaryFolder folder;
  for (const char* name : {"out.npy", "out.emd", "out_master.h5"}) {
    std::vector<std::string> words = {"stem", "convert"};
    std::vector<std::string> scan = long_scan(folder);
    scan.insert(scan.begin() + 1, folder.file(name));
    words.insert(words.end(), scan.begin(), scan.end());
    const Ended ended = interrupted(words, SIGINT, [&](pid_t) { return names_in(folder.path()).size() > 1; });
    EXPECT_EQ(ended.status, 130) << name << ": " << ended.err;
    EXPECT_THAT(names_in(folder.path()), ElementsAre("long.raw")) << name;
  }
}

TEST(Interrupt, OfASimulationLeavesNothingHalfWritten) {
  const TemporaryFolder folder;
  const Ended ended = interrupted({"stem", "simulate", folder.file("scan_master.h5"), "--scan-shape", "128,128"},
                                  SIGTERM, [&](pid_t) { return !names_in(folder.path()).empty(); });
  EXPECT_EQ(ended.status, 143) << ended.err;
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
}

// ---- What every stem command keeps ----------------------------------------------------------------------------------

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

}  // namespace
}  // namespace sonde
