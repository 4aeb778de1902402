// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/gatan/dm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/read/gatan/dm_tags.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/places.h"
#include "tests/support/python.h"
#include "tests/support/read_frames.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::frame_of;
using sonde::testing::frames_of;
using sonde::testing::python;
using sonde::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DmFiles, TheSamplePatternIsNotItsThumbnail) {
  SONDE_NEED_DATA(data);
  const auto source = open_source(data / "stem/other/test_diffraction_pattern.dm3", {});
  const Acquisition& scan = source->acquisition();
  EXPECT_EQ(scan.format, "DM3");
  EXPECT_EQ(scan.scan.rows, 1);
  EXPECT_EQ(scan.scan.cols, 1);
  EXPECT_EQ(scan.rows, 87);
  EXPECT_EQ(scan.cols, 87);
  const auto elements = frame_of<std::int32_t>(*source, 0);
  // Taken with NumPy at the place that a second reading of the tags gives.
  EXPECT_THAT(std::vector(elements.begin(), elements.begin() + 4), ElementsAre(834, 823, 834, 718));
  EXPECT_EQ(elements.back(), 923);
  std::int64_t sum = 0;
  for (const std::int32_t element : elements) sum += element;
  EXPECT_EQ(sum, 9459771);
  // 0.17443285882472992 1/nm per pixel, 200 kV: wavelength 0.0250793 A (published, six digits).
  EXPECT_DOUBLE_EQ(scan.calibration.detector_step_inv_a->value, 0.017443285882472992);
  EXPECT_EQ(scan.calibration.high_tension_v->value, 200e3);
  EXPECT_NEAR(scan.calibration.detector_step_mrad->value, 17.443285882472992 * 0.0250793, 5e-6);
  EXPECT_EQ(scan.original_metadata.at("ImageList/1/ImageTags/Microscope Info/Name"), "FEI Tecnai");
  EXPECT_EQ(scan.original_metadata.at("ImageList/1/ImageTags/Microscope Info/Emission Current (\xb5"
                                      "A)"),
            "0");
}

/// Files of one scan, its axes in every order.
constexpr const char* dm_writer = R"python(
import numpy as np
from dm_writer import Dm as Tree, image, file, THUMBNAIL as thumbnail
folder = sys.argv[1] + '/'
class Dm(Tree):
  def write(self, name, tags): Tree.write(self, folder + name, tags)
scan = np.arange(120).reshape(2, 3, 4, 5)            # (Ry, Rx, Qy, Qx)
slow = scan; fast = scan.transpose(2, 3, 0, 1)        # C order: scan axes slow, or fast
nm, inv = (0.5, 'nm'), (0.2, '1/nm')
fast_axes, slow_axes = [(0.5, 'nm'), (0.25, 'nm'), inv, inv], [inv, inv, (0.5, 'nm'), (0.25, 'nm')]
none = [(1.0, '')] * 4
for version, big in ((3, False), (3, True), (4, False), (4, True)):
  dm = Dm(version, big)
  tail = '%d%s.dm%d' % (version, 'b' if big else 'l', version)
  dm.write('fast_' + tail, file([thumbnail, image(fast.astype('<u2'), fast_axes)]))
  dm.write('slow_' + tail, file([thumbnail, image(slow.astype('<u2'), slow_axes)]))
dm = Dm()
dm.write('swapped.dm4', file([thumbnail, image(slow.astype('<u4'), none, {'Data Order Swapped': True})]))
dm.write('unswapped.dm4', file([thumbnail, image(fast.astype('<u1'), none, {'Data Order Swapped': False})]))
dm.write('silent.dm4', file([thumbnail, image(fast.astype('<u1'), none)]))
dm.write('stack.dm4', file([thumbnail, image(scan.reshape(6, 4, 5).astype('<f4'), [inv, inv, (1.0, '')])]))
dm.write('line.dm4', file([thumbnail, image(scan.reshape(6, 4, 5).astype('<f4'), [inv, inv, nm])]))
dm.write('line_fast.dm4', file([thumbnail, image(scan.reshape(6, 4, 5).transpose(1, 2, 0).astype('<u2'), [nm, inv, inv])]))
dm.write('spectra.dm4', file([thumbnail, image(scan.reshape(6, 4, 5).astype('<f4'), [nm, nm, (1.0, 'eV')], {'Format': 'Spectrum image'})]))
dm.write('colour.dm4', file([thumbnail, image(scan[0, 0].astype('<u4'), none[:2], code=23)]))
dm.write('alone.dm4', file([thumbnail]))
dm.write('unit.dm4', file([thumbnail, image(slow.astype('<u2'), [(2.0, 'furlong'), (2.0, 'furlong'), nm, nm])]))
dm.write('short.dm4', file([thumbnail, {'ImageData': {'Data': np.arange(7, dtype='<u2'), 'DataType': 10, 'Dimensions': [4, 5]}}]))
wide = np.arange(4 * 5 * 70 * 3).reshape(4, 5, 70, 3)   # more positions than a batch, more pixels than a block
dm.write('wide.dm4', file([thumbnail, image(wide.transpose(2, 3, 0, 1).astype('<u2'), fast_axes)]))
)python";

class WrittenDm : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    python("import sys\nsys.dont_write_bytecode = True\nsys.path.insert(0, '" + sonde::testing::source_folder() +
               "/tests/support')\n" + dm_writer,
           folder_->path().string());
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::unique_ptr<Source> open(const std::string& name, const ReadOptions& options = {}) {
    return open_source(folder_->file(name), options);
  }
  static std::string error(ErrorKind kind, const std::string& name) {
    return error_of(kind, [&] { (void)open(name); });
  }
  /// Element n holds n, whatever the order in the file; in batches that do and do not divide the scan.
  static void expect_scan(Source& source, Index frames = 6) {
    for (const Index batch : {Index{1}, Index{4}, frames}) {
      SCOPED_TRACE(batch);
      const auto elements = frames_of(source, batch);
      ASSERT_EQ(elements.size(),
                static_cast<std::size_t>(frames * source.acquisition().rows * source.acquisition().cols));
      for (std::size_t i = 0; i < elements.size(); ++i) ASSERT_EQ(elements[i], i);
    }
  }
  static void expect_shape(const Acquisition& scan) {
    EXPECT_EQ(scan.scan.rows, 2);
    EXPECT_EQ(scan.scan.cols, 3);
    EXPECT_EQ(scan.rows, 4);
    EXPECT_EQ(scan.cols, 5);
  }
  static TemporaryFolder* folder_;
};
TemporaryFolder* WrittenDm::folder_ = nullptr;

class EveryDm : public WrittenDm, public ::testing::WithParamInterface<const char*> {};

TEST_P(EveryDm, ScanAxesAreFoundByTheirUnits) {
  const auto source = open(GetParam());
  const Acquisition& scan = source->acquisition();
  expect_shape(scan);
  EXPECT_EQ(scan.stored, DType::u16);
  EXPECT_EQ(scan.calibration.scan_step_col_nm->value, 0.5);
  EXPECT_EQ(scan.calibration.scan_step_row_nm->value, 0.25);
  EXPECT_DOUBLE_EQ(scan.calibration.detector_step_inv_a->value, 0.02);
  EXPECT_NEAR(scan.calibration.detector_step_mrad->value, 20 * 0.0196875, 1e-5);  // 300 kV, published to six digits
  EXPECT_DOUBLE_EQ(scan.calibration.camera_length_m->value, 0.115);
  expect_scan(*source);
}

INSTANTIATE_TEST_SUITE_P(, EveryDm,
                         ::testing::Values("fast_3l.dm3", "fast_3b.dm3", "fast_4l.dm4", "fast_4b.dm4", "slow_3l.dm3",
                                           "slow_3b.dm3", "slow_4l.dm4", "slow_4b.dm4"),
                         [](const auto& each) { return std::string(each.param).substr(0, 7); });

TEST_F(WrittenDm, WithoutUnitsTheTagSaysWhichAxesAreThoseOfTheScan) {
  for (const char* name : {"swapped.dm4", "unswapped.dm4"}) {
    SCOPED_TRACE(name);
    const auto source = open(name);
    expect_shape(source->acquisition());
    EXPECT_EQ(source->acquisition().notes.back().because, "the tag Data Order Swapped says so");
    expect_scan(*source);
  }
}

TEST_F(WrittenDm, WithoutUnitsAndTagTheScanAxesAreTheFastOnesAndANoteSaysSo) {
  const auto source = open("silent.dm4");
  expect_shape(source->acquisition());
  expect_scan(*source);
  EXPECT_THAT(source->acquisition().notes.back().because, HasSubstr("no units and no tag"));
}

TEST_F(WrittenDm, FramesOfManyBlocksAreGathered) {
  const auto source = open("wide.dm4");
  EXPECT_EQ(source->acquisition().scan.rows, 4);
  EXPECT_EQ(source->acquisition().rows, 70);
  expect_scan(*source, 20);
}

TEST_F(WrittenDm, FramesAreTheSameWhateverIsHeldOfThem) {
  const auto source = open("wide.dm4");
  const std::size_t frame_bytes = source->stored_bytes(0);
  EXPECT_EQ(source->useful_cache_bytes(), 20 * frame_bytes);  // all of them: a piece of 4 KiB has more
  for (const std::size_t held : {std::size_t{1}, std::size_t{6}, std::size_t{13}, std::size_t{1000}}) {
    SCOPED_TRACE(held);
    source->set_cache_bytes(held * frame_bytes);
    expect_scan(*source, 20);
    EXPECT_EQ(frame_of<std::uint16_t>(*source, 7)[0], 7 * 210);  // out of the order
  }
}

TEST_F(WrittenDm, AStackNeedsTheScanShapeALineDoesNot) {
  EXPECT_THAT(error(ErrorKind::bad_input, "stack.dm4"), HasSubstr("--scan-shape, for instance 2,3"));
  ReadOptions options;
  options.scan_rows = 2;
  EXPECT_EQ(frame_of<float>(*open("stack.dm4", options), 5)[19], 119);
  const auto line = open("line.dm4");
  EXPECT_EQ(line->acquisition().scan.rows, 1);
  EXPECT_EQ(line->acquisition().scan.cols, 6);
  EXPECT_EQ(line->acquisition().calibration.scan_step_col_nm->value, 0.5);
  expect_scan(*open("line_fast.dm4"));
}

TEST_F(WrittenDm, WhatIsNoScanIsRefused) {
  EXPECT_THAT(error(ErrorKind::not_supported, "spectra.dm4"), HasSubstr("a \"spectrum image\" of 5 x 4 x 6"));
  EXPECT_THAT(error(ErrorKind::not_supported, "colour.dm4"), HasSubstr("data of type 23, which are not counts"));
  EXPECT_THAT(error(ErrorKind::bad_file, "alone.dm4"), HasSubstr("no image besides thumbnails"));
  EXPECT_THAT(error(ErrorKind::bad_file, "short.dm4"),
              HasSubstr("damaged: ImageList/1 has 4 x 5 pixels, but 7 values"));
}

TEST_F(WrittenDm, UnknownUnitsAreNotedAndNotUsed) {
  const auto source = open("unit.dm4");
  EXPECT_FALSE(source->acquisition().calibration.detector_step_inv_a.has_value());
  EXPECT_EQ(source->acquisition().notes.front().value, "the step of the detector, 2 \"furlong\", is not used");
}

std::string error_of_bytes(std::vector<std::uint8_t> bytes) {
  const TemporaryFolder folder;
  sonde::testing::write_bytes(folder.file("a.dm3"), bytes);
  return error_of(ErrorKind::bad_file, [&] { (void)read_dm_tags(File(folder.file("a.dm3"))); });
}

TEST(DmTags, DamagedTreesAreErrors) {
  EXPECT_THAT(error_of_bytes({0, 0, 0, 3, 0, 0}), HasSubstr("a.dm3: damaged: the header needs 4 bytes"));
  EXPECT_THAT(error_of_bytes({0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 7}),
              HasSubstr("damaged: a byte order of 7; expected 0 or 1"));
  EXPECT_THAT(error_of_bytes({0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0xff, 0, 0, 0}),
              HasSubstr("damaged: a group of 4278190080 tags, the file has 0 more bytes"));
  EXPECT_THAT(error_of_bytes({0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 99, 0, 0, 0, 0, 0, 0, 0}),
              HasSubstr("damaged: a tag of kind 99; expected 20 or 21"));
  // One tag "a": an array of 2^31 bytes.
  EXPECT_THAT(error_of_bytes({0,   0,   0,   3,   0,   0, 0, 0, 0, 0, 0, 1, 1,  0, 0, 0, 0,  1,    21, 0, 1,
                              'a', '%', '%', '%', '%', 0, 0, 0, 3, 0, 0, 0, 20, 0, 0, 0, 10, 0x80, 0,  0, 0}),
              HasSubstr("damaged: tag a is an array of 2147483648 values, the file has 0 more bytes"));
}

TEST(DmTags, GroupsThatAreNestedTooDeeplyAreErrors) {
  std::vector<std::uint8_t> bytes = {0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1};
  for (int i = 0; i < 100; ++i) bytes.insert(bytes.end(), {20, 0, 1, 'a', 1, 0, 0, 0, 0, 1});
  EXPECT_THAT(error_of_bytes(bytes), HasSubstr("tags are nested more than 64 deep"));
}

}  // namespace
}  // namespace sonde::stem
