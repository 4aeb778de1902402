// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "sonde/instruments/stem/read/source.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"
#include "tests/support/read_frames.h"

namespace sonde::stem {
namespace {

namespace fs = std::filesystem;
using sonde::testing::error_of;
using sonde::testing::frames_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::unique_ptr<Source> open(const std::string& path, const ReadOptions& options = {}) {
  return open_source(path, options);
}

TEST(RealArina, EmptyScanHasItsSidecarsShapeAndCalibration) {
  SONDE_NEED_DATA(data);
  const auto source = open(data / "stem/arina-empty/test_00_master.h5");
  const Acquisition& a = source->acquisition();
  EXPECT_EQ(a.format, "ARINA");
  EXPECT_EQ(a.scan.rows, 4);
  EXPECT_EQ(a.scan.cols, 4);
  EXPECT_EQ(a.scan_because, "the sidecar test_00.h5");
  EXPECT_EQ(a.rows, 192);
  EXPECT_EQ(a.cols, 192);
  EXPECT_EQ(a.stored, DType::u32);
  EXPECT_NEAR(a.calibration.scan_step_row_nm->value, 0.13915206, 5e-9);  // half a unit of the published digits
  EXPECT_EQ(a.calibration.high_tension_v->value, 300e3);
  EXPECT_EQ(a.calibration.camera_length_m->value, 0.115);
  EXPECT_NEAR(a.calibration.detector_step_mrad->value, 0.1 / 0.115, 1e-12);
  EXPECT_EQ(a.sentinel, 0xffffffffu);
  EXPECT_EQ(a.saturation, 8352u);
  EXPECT_EQ(a.pixel_mask.size(), 192u * 192u);
  EXPECT_EQ(a.original_metadata.at("/entry/instrument/detector/detectorSpecific/ntrigger"), "16");
  EXPECT_EQ(a.original_metadata.at("sidecar@NumPixelsX"), "4");
  ASSERT_TRUE(source->packing().has_value());
  for (const std::uint64_t count : frames_of(*source)) ASSERT_EQ(count, 0u);
}

TEST(RealArina, BinnedScanHasItsCounts) {
  SONDE_NEED_DATA(data);
  const auto source = open(data / "stem/arina-binned/test_arina_master.h5");
  const Acquisition& a = source->acquisition();
  EXPECT_EQ(a.rows, 24);
  EXPECT_TRUE(a.pixel_mask.empty());  // the stored one is 192 x 192
  std::vector<std::uint64_t> frames = frames_of(*source);
  ASSERT_EQ(frames.size(), 16u * 576u);
  EXPECT_EQ(*std::max_element(frames.begin(), frames.end()), 67108872u);
  std::vector<std::uint64_t> sums;
  std::uint64_t largest = 0;
  for (std::size_t n = 0; n < 16; ++n) {
    for (const auto& [row, col] : {std::pair<std::size_t, std::size_t>{3, 16}, {9, 9}, {14, 1}, {19, 1}})
      frames[n * 576 + row * 24 + col] = 0;
    const auto first = frames.begin() + static_cast<std::ptrdiff_t>(n * 576);
    sums.push_back(std::accumulate(first, first + 576, std::uint64_t{0}));
    largest = std::max(largest, *std::max_element(first, first + 576));
  }
  EXPECT_EQ(largest, 966u);
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), std::uint64_t{0}), 70657u);
  sums.resize(4);
  EXPECT_THAT(sums, ElementsAre(4266u, 4294u, 4340u, 4411u));
}

TEST(RealArina, FixtureOpensByItsScanShapeAttribute) {
  SONDE_NEED_DATA(data);
  const auto source = open(data / "stem/quantem-fixture/fixture_master.h5");
  EXPECT_EQ(source->acquisition().scan.rows, 1);
  EXPECT_EQ(source->acquisition().scan_because, "attribute scan_shape of /entry/data");
  EXPECT_EQ(source->acquisition().stored, DType::u16);
  EXPECT_EQ(frames_of(*source).size(), 64u * 64u);
}

TEST(RealArina, DataFilesOpenAlone) {
  SONDE_NEED_DATA(data);
  const auto one = open(data / "stem/quantem-fixture/fixture_u8_data_000001.h5");
  EXPECT_EQ(one->acquisition().scan.cols, 1);
  EXPECT_EQ(one->acquisition().stored, DType::u8);
  EXPECT_EQ(frames_of(*one).size(), 192u * 192u);
  ReadOptions options;
  options.scan_rows = 2;
  options.scan_cols = 8;
  const auto sixteen = open(data / "stem/arina-empty/test_00_data_000001.h5", options);
  EXPECT_EQ(sixteen->acquisition().scan.cols, 8);
  EXPECT_THAT(sixteen->acquisition().notes.back().because, HasSubstr("test_00_master.h5"));
}

TEST(RealArina, SidecarNamesItsMaster) {
  SONDE_NEED_DATA(data);
  const std::string text = error_of(ErrorKind::bad_file, [&] { open(data / "stem/arina-empty/test_00.h5"); });
  EXPECT_THAT(text, HasSubstr("test_00.h5: the microscope's sidecar of a scan, without frames"));
  EXPECT_THAT(text, HasSubstr("arina-empty/test_00_master.h5, which it belongs to"));
}

/// An acquisition of 12 frames of 6 x 8 in three files, written by h5py; tests damage it. The frames are plain chunks,
/// so that no filter plugin decides what the test shows.
class Arina : public ::testing::Test {
 protected:
  void SetUp() override { make(""); }

  /// Runs h5py in the folder with `f` open for changes; `extra` is Python.
  void make(const std::string& extra) {
    sonde::testing::python(R"(
import os, sys, h5py, numpy as np
os.chdir(sys.argv[1])
def part(k, dtype='u2', shape=(4, 6, 8), **kw):
    name = 'scan_data_%06d.h5' % k
    if os.path.exists(name): os.remove(name)
    with h5py.File(name, 'w') as f:
        n = np.arange(4 * (k - 1), 4 * (k - 1) + shape[0])
        data = (100 * n[:, None, None] + np.arange(shape[1] * shape[2]).reshape(1, *shape[1:])).astype(dtype)
        f.create_dataset('entry/data/data', data=data, chunks=(1, *shape[1:]), **kw)
def master(name='scan_master.h5', shape=None):
    f = h5py.File(name, 'a')
    if 'entry' not in f:
        for k in (3, 1, 2):   # creation order is not numeric order
            f['entry/data/data_%06d' % k] = h5py.ExternalLink('scan_data_%06d.h5' % k, '/entry/data/data')
        d = f.create_group('entry/instrument/detector/detectorSpecific')
        d['ntrigger'] = np.uint64(12)
        d['nimages'] = np.uint64(1)
        f['entry/data'].attrs['scan_shape'] = [3, 4]
    return f
if not os.path.exists('scan_master.h5'):
    for k in (1, 2, 3): part(k)
    master().close()
)" + extra,
                           folder_.path().string());
  }
  [[nodiscard]] std::string master() const { return folder_.file("scan_master.h5"); }
  [[nodiscard]] std::string failure(ErrorKind kind = ErrorKind::bad_file) const {
    return error_of(kind, [&] { open(master()); });
  }

  sonde::testing::TemporaryFolder folder_;
};

std::vector<std::uint64_t> expected_frames() {
  std::vector<std::uint64_t> frames;
  for (std::uint64_t n = 0; n < 12; ++n)
    for (std::uint64_t q = 0; q < 48; ++q) frames.push_back(100 * n + q);
  return frames;
}

TEST_F(Arina, FramesComeInTheOrderOfTheNumbers) {
  const auto source = open(master());
  EXPECT_EQ(source->acquisition().files.size(), 3u);
  EXPECT_EQ(frames_of(*source), expected_frames());
  EXPECT_EQ(frames_of(*source, 5), expected_frames());  // batches that cross the files
}

TEST_F(Arina, ARenamedAcquisitionIsRepairedAndNoted) {
  fs::rename(master(), folder_.file("other_master.h5"));
  for (int k = 1; k <= 3; ++k)
    fs::rename(folder_.file("scan_data_00000" + std::to_string(k) + ".h5"),
               folder_.file("other_data_00000" + std::to_string(k) + ".h5"));
  const auto source = open(folder_.file("other_master.h5"));
  EXPECT_EQ(frames_of(*source), expected_frames());
  ASSERT_EQ(source->acquisition().notes.size(), 3u);
  EXPECT_THAT(source->acquisition().notes[0].value, HasSubstr("other_data_000001.h5 instead of scan_data_000001.h5"));
}

TEST_F(Arina, AllProblemsAreReportedTogether) {
  make(R"(
os.remove('scan_data_000001.h5')
part(2, dtype='u4')
part(3, shape=(4, 6, 9), compression='gzip')
with h5py.File('scan_master.h5', 'a') as f:
    f['entry/data/data_000004'] = h5py.ExternalLink('elsewhere.h5', '/entry/data/data')
    f['entry/data/data_000005'] = h5py.ExternalLink('scan_data_000002.h5', '/entry/nothing')
)");
  const std::string text = failure();
  EXPECT_THAT(text, HasSubstr("scan_master.h5: 6 problems, nothing was read"));
  EXPECT_THAT(text, HasSubstr("scan_data_000001.h5: no such file; /entry/data/data_000001 of "));
  EXPECT_THAT(text, HasSubstr("scan_data_000003.h5: frames of 6 x 9, but scan_data_000002.h5 has frames of 6 x 8"));
  EXPECT_THAT(text, HasSubstr("scan_data_000003.h5: elements of type u16, but scan_data_000002.h5 has u32"));
  EXPECT_THAT(text, HasSubstr("scan_data_000003.h5: filter 1, but scan_data_000002.h5 has no filter"));
  EXPECT_THAT(text, HasSubstr("elsewhere.h5: no such file; /entry/data/data_000004 of "));
  EXPECT_THAT(text, HasSubstr("scan_data_000002.h5: no data set /entry/nothing; /entry/data/data_000005 of "));
}

TEST_F(Arina, AShortFileIsAMissingFrame) {
  make("part(2, shape=(3, 6, 8))\n");
  const std::string text = failure();
  EXPECT_THAT(text, HasSubstr("11 frames, but attribute scan_shape of /entry/data says a scan of 3 x 4 = 12"));
  ReadOptions options;
  options.allow_incomplete = true;
  const auto source = open(master(), options);
  EXPECT_EQ(source->acquisition().frames, 11);
  EXPECT_EQ(source->acquisition().scan.rows, 3);
  EXPECT_TRUE(source->acquisition().allow_incomplete);
}

/// Python that numbers the images of the three data files.
std::string number_images(const std::string& ranges) {
  return "for k, (low, high) in zip((1, 2, 3), " + ranges + R"():
    with h5py.File('scan_data_%06d.h5' % k, 'a') as f:
        f['entry/data/data'].attrs['image_nr_low'] = low
        f['entry/data/data'].attrs['image_nr_high'] = high
)";
}

TEST_F(Arina, ImageNumbersThatFitAreFine) {
  make(number_images("((1, 4), (5, 8), (9, 12))"));
  EXPECT_EQ(frames_of(*open(master())), expected_frames());
}

TEST_F(Arina, AFileWithFewerFramesThanImagesWasCut) {
  make("part(2, shape=(3, 6, 8))\n" + number_images("((1, 4), (5, 8), (9, 12))"));
  EXPECT_THAT(failure(), HasSubstr("scan_data_000002.h5: 3 frames, but it states images 5 to 8"));
  ReadOptions options;
  options.allow_incomplete = true;
  EXPECT_EQ(open(master(), options)->acquisition().frames, 11);
}

TEST_F(Arina, ExchangedFilesAreSeenByTheirNumbers) {
  make(number_images("((1, 4), (9, 12), (5, 8))"));
  EXPECT_THAT(failure(), HasSubstr("scan_data_000002.h5: states images 9 to 12, those of scan_data_000003.h5 belong "
                                   "there"));
}

TEST_F(Arina, NumbersThatBeginAnewInEveryFileAreLeftAlone) {
  make(number_images("((1, 4), (1, 4), (1, 4))"));
  EXPECT_EQ(frames_of(*open(master())), expected_frames());
}

TEST_F(Arina, ExtraFramesCanBeDropped) {
  make("part(3, shape=(5, 6, 8))\n");
  EXPECT_THAT(failure(), HasSubstr("13 frames"));
  ReadOptions options;
  options.drop_extra = true;
  EXPECT_EQ(open(master(), options)->acquisition().scan.cols, 4);
}

TEST_F(Arina, ACutFileIsNamedWithItsSize) {
  const std::string path = folder_.file("scan_data_000002.h5");
  fs::resize_file(path, fs::file_size(path) - 10);
  EXPECT_THAT(failure(), HasSubstr("scan_data_000002.h5: damaged: the file is cut off: it has "));
}

TEST_F(Arina, AChunkBeyondTheEndIsNamedWithItsBytes) {
  const std::string path = folder_.file("scan_data_000002.h5");
  auto bytes = sonde::testing::read_bytes(path);
  // The leaf of the chunk tree: 24 bytes, then keys of 8 + 4 x 8 bytes with the child's address behind each.
  const std::string signature("TREE\x01\x00", 6);
  const auto found = std::search(bytes.begin(), bytes.end(), signature.begin(), signature.end());
  ASSERT_NE(found, bytes.end());
  bytes[static_cast<std::size_t>(found - bytes.begin()) + 24 + 2 * 48 + 40 + 3] = 1;  // chunk 2 lies 16 MiB further
  sonde::testing::write_bytes(path, bytes);
  const std::string text = failure();
  EXPECT_THAT(text,
              HasSubstr("scan_data_000002.h5, /entry/data/data: chunk 2 (the first of 1 that are outside) is bytes"));
  EXPECT_THAT(text, HasSubstr("of a file of " + std::to_string(bytes.size()) + " bytes"));
}

TEST_F(Arina, AFileWithoutPermissionIsReported) {
  fs::permissions(folder_.file("scan_data_000002.h5"), fs::perms::none);
  fs::permissions(folder_.path(), fs::perms::all);
  const pid_t child = fork();  // root reads everything: look as nobody
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(3);
    try {
      open(master());
    } catch (const Error& error) {
      _exit(error.kind() == ErrorKind::io &&
                    error.message().find("scan_data_000002.h5: cannot be read: Permission denied") != std::string::npos
                ? 0
                : 1);
    }
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Arina, FramesInsideTheMasterAreRead) {
  make(R"(
with h5py.File('inside_master.h5', 'w') as f:
    with h5py.File('scan_data_000001.h5') as part: part.copy('entry', f)
with h5py.File('hard_master.h5', 'w') as f:
    with h5py.File('scan_data_000001.h5') as part: part.copy('entry/data/data', f, 'entry/data/data_000001')
)");
  auto expected = expected_frames();
  expected.resize(4 * 48);
  EXPECT_EQ(frames_of(*open(folder_.file("inside_master.h5"))), expected);
  EXPECT_EQ(frames_of(*open(folder_.file("hard_master.h5"))), expected);
}

TEST_F(Arina, FramesThatWereNeverWrittenHaveTheFillValue) {
  make(R"(
with h5py.File('holes_data_000001.h5', 'w') as f:
    d = f.create_dataset('entry/data/data', (4, 2, 3), 'u2', chunks=(1, 2, 3), fillvalue=65535)
    d[1] = 7
)");
  const auto source = open(folder_.file("holes_data_000001.h5"));
  const auto frames = frames_of(*source);
  for (std::size_t i = 0; i < frames.size(); ++i) ASSERT_EQ(frames[i], i / 6 == 1 ? 7u : 65535u);
  EXPECT_EQ(source->stored_bytes(0), 0u);
  EXPECT_EQ(source->acquisition().notes[0].value, "3 frames hold the fill value");
}

/// Which value means "no data", by stored type and the detector's limits.
struct SentinelRow {
  const char* what;
  const char* dtype;
  const char* extra;
  std::optional<std::uint64_t> sentinel;
};
class ArinaSentinels : public Arina, public ::testing::WithParamInterface<SentinelRow> {};

TEST_P(ArinaSentinels, FollowTheStoredType) {
  const SentinelRow& row = GetParam();
  make(std::string("for k in (1, 2, 3): part(k, dtype='") + row.dtype + "')\nf = master()\n" + row.extra +
       "\nf.close()\n");
  EXPECT_EQ(open(master())->acquisition().sentinel, row.sentinel);
}

INSTANTIATE_TEST_SUITE_P(
    , ArinaSentinels,
    ::testing::Values(
        SentinelRow{"u32", "u4", "", 0xffffffffu}, SentinelRow{"u16_without_limit", "u2", "", std::nullopt},
        SentinelRow{"u16", "u2", "f['entry/instrument/detector/saturation_value'] = 28452", 65535},
        SentinelRow{"u8", "u1", "f['entry/instrument/detector/saturation_value'] = 200", 255},
        SentinelRow{"u8_beyond", "u1", "f['entry/instrument/detector/saturation_value'] = 8352", std::nullopt},
        SentinelRow{"cutoff", "u2",
                    "f['entry/instrument/detector/detectorSpecific/countrate_correction_count_cutoff'] = 9000", 65535},
        SentinelRow{"written_by_sonde", "u4", "f['entry/data'].attrs['sonde_sentinels'] = False", std::nullopt}),
    [](const auto& each) { return each.param.what; });

TEST_F(Arina, PixelMasksAreUsedWhenTheyFit) {
  make(
      "f = master()\nm = np.zeros((6, 8), 'u4'); m[2, 3] = 16; m[0, 1] = 2**31\n"
      "f['entry/instrument/detector/detectorSpecific/pixel_mask'] = m\nf.close()\n");
  const auto source = open(master());
  ASSERT_EQ(source->acquisition().pixel_mask.size(), 48u);
  EXPECT_TRUE(mask_bit::is_bad(source->acquisition().pixel_mask[2 * 8 + 3]));
  EXPECT_FALSE(mask_bit::is_bad(source->acquisition().pixel_mask[1]));  // interpolated: valid
  ReadOptions options;
  options.ignore_mask = true;
  EXPECT_TRUE(open(master(), options)->acquisition().pixel_mask.empty());
}

TEST_F(Arina, SidecarsGiveShapeAndPrescan) {
  make(R"(
f = master(); del f['entry/data'].attrs['scan_shape']; f.close()
with h5py.File('scan.h5', 'w') as f:
    a = f.create_group('STEM Metadata').attrs
    a['NumPixelsY'] = 2; a['NumPixelsX'] = 4; a['NumPixelsPrescan'] = np.array([2], 'u4'); a['Pixel Size'] = [0.5]
)");
  const auto source = open(master());
  const Acquisition& a = source->acquisition();
  EXPECT_EQ(a.scan.rows, 2);
  EXPECT_EQ(a.scan.cols, 4);
  EXPECT_EQ(a.scan.prescan, 2);
  EXPECT_EQ(a.scan.frame(1, 0), 8);
  EXPECT_EQ(a.calibration.scan_step_col_nm->value, 0.5);
}

}  // namespace
}  // namespace sonde::stem
