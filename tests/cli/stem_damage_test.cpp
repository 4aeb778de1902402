// SPDX-License-Identifier: Apache-2.0
// Damaged input: every problem is named with its place and a remedy before anything is decoded, the exit status tells
// its kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/stem.h"
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
using testing::run;
using testing::small_scan;
using ::testing::StartsWith;
using testing::TemporaryFolder;

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

}  // namespace
}  // namespace sonde
