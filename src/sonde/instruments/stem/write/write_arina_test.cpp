// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/write/write_arina.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <iterator>

#include "sonde/instruments/stem/read/source.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"
#include "tests/support/read_frames.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

ArinaDescription small_scan() {
  ArinaDescription d;
  d.scan_rows = 3;
  d.scan_cols = 5;
  d.rows = 7;
  d.cols = 9;
  d.frames_per_file = 4;
  d.sentinels = true;
  d.saturation = 28452;
  d.pixel_mask.assign(63, 0);
  d.pixel_mask[10] = mask_bit::dead;
  d.calibration.scan_step_row_nm = d.calibration.scan_step_col_nm = Quantity{0.25, StatedBy::user};
  d.calibration.high_tension_v = Quantity{300e3, StatedBy::user};
  d.calibration.detector_pixel_m = Quantity{1e-4, StatedBy::user};
  d.frame_time_s = 1e-5;
  return d;
}

std::size_t open_files() {
  std::filesystem::directory_iterator descriptors("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(descriptors), end(descriptors)));
}

/// frames(n, r, c) = 1000 n + 10 r + c.
Array counted(Index first, Index count) {
  std::vector<std::uint16_t> elements;
  for (Index n = first; n < first + count; ++n)
    for (Index r = 0; r < 7; ++r)
      for (Index c = 0; c < 9; ++c) elements.push_back(static_cast<std::uint16_t>(1000 * n + 10 * r + c));
  return Array::from(elements, {count, 7, 9});
}

TEST(ArinaWriter, KeepsOnlyTheFileOpenThatItWrites) {
  const sonde::testing::TemporaryFolder folder;
  ArinaDescription description = small_scan();
  description.frames_per_file = 1;
  const std::size_t before = open_files();
  ArinaWriter writer(folder.file("scan_master.h5"), description);
  writer.append(counted(0, 15));
  EXPECT_EQ(open_files(), before);  // 15 complete files
  EXPECT_EQ(writer.finish().size(), 17u);
}

TEST(ArinaWriter, OtherProgramsReadItsFrames) {
  const sonde::testing::TemporaryFolder folder;
  ArinaWriter writer(folder.file("scan_master.h5"), small_scan());
  writer.append(counted(0, 6));
  writer.append(counted(6, 9));
  EXPECT_EQ(writer.finish().size(), 6u);
  EXPECT_EQ(sonde::testing::python(R"(
import os, sys
os.chdir(sys.argv[1])
import h5py, hdf5plugin, numpy as np
f = h5py.File('scan_master.h5')
names = sorted(f['entry/data'])
print(names, [f['entry/data'][n].shape for n in names], f['entry/data/data_000001'].chunks)
frames = np.concatenate([f['entry/data'][n][:] for n in names])
n, r, c = np.ogrid[:15, :7, :9]
print((frames == 1000 * n + 10 * r + c).all(), frames.dtype)
print([(int(f['entry/data'][n].attrs['image_nr_low']), int(f['entry/data'][n].attrs['image_nr_high'])) for n in names])
d = f['entry/instrument/detector']
print(d['saturation_value'][()], d['detectorSpecific/ntrigger'][()], np.argwhere(d['detectorSpecific/pixel_mask'][:]).tolist())
print(d['detectorSpecific/photon_energy'][()], d['x_pixel_size'][()], d['frame_time'][()])
s = h5py.File('scan.h5')['STEM Metadata'].attrs
print(s['NumPixelsY'], s['NumPixelsX'], s['Pixel Size'], s['High Tension'])
)",
                                   folder.path().string()),
            "['data_000001', 'data_000002', 'data_000003', 'data_000004'] [(4, 7, 9), (4, 7, 9), (4, 7, 9), (3, 7, 9)] "
            "(1, 7, 9)\nTrue uint16\n[(1, 4), (5, 8), (9, 12), (13, 15)]\n28452 15 [[1, 1]]\n300000.0 0.0001 1e-05\n"
            "3 5 0.25 300000.0\n");
}

/// Every value of the type occurs, the largest as well.
Array all_bytes(Index frames) {
  std::vector<std::uint8_t> elements;
  for (Index i = 0; i < frames * 16 * 16; ++i) elements.push_back(static_cast<std::uint8_t>(i));
  return Array::from(elements, {frames, 16, 16});
}

TEST(ArinaWriter, OwnReaderGivesBackFramesAndDescription) {
  const sonde::testing::TemporaryFolder folder;
  ArinaDescription d;
  d.scan_rows = 2;
  d.scan_cols = 3;
  d.rows = d.cols = 16;
  d.dtype = DType::u8;
  d.frames_per_file = 4;
  d.saturation = 200;  // below 255: without the attribute of our files 255 would mean "no data"
  d.pixel_mask.assign(256, 0);
  d.pixel_mask[17] = mask_bit::noisy;
  d.calibration.scan_step_row_nm = Quantity{0.5, StatedBy::user};
  d.calibration.scan_step_col_nm = Quantity{0.25, StatedBy::user};
  d.calibration.camera_length_m = Quantity{0.115, StatedBy::user};
  d.calibration.detector_pixel_m = Quantity{1e-4, StatedBy::user};
  d.attributes["sonde_seed"] = std::int64_t{7};
  for (const bool sidecar : {true, false}) {
    SCOPED_TRACE(sidecar);
    d.sidecar = sidecar;
    const std::string master = folder.file(sidecar ? "with_master.h5" : "without_master.h5");
    ArinaWriter writer(master, d);
    writer.append(all_bytes(6));
    (void)writer.finish();
    const auto source = open_source(master, {});
    const Acquisition& a = source->acquisition();
    EXPECT_EQ(a.scan.rows, 2);
    EXPECT_EQ(a.scan.cols, 3);
    EXPECT_THAT(a.scan_because, HasSubstr(sidecar ? "the sidecar with.h5" : "attribute scan_shape"));
    EXPECT_FALSE(a.sentinel.has_value());
    EXPECT_EQ(a.saturation, 200u);
    EXPECT_EQ(a.pixel_mask, d.pixel_mask);
    EXPECT_EQ(a.original_metadata.at("/entry/data@sonde_seed"), "7");
    EXPECT_TRUE(source->packing().has_value());
    if (sidecar) {
      EXPECT_EQ(a.calibration.scan_step_row_nm->value, 0.5);
      EXPECT_EQ(a.calibration.scan_step_col_nm->value, 0.25);
      EXPECT_DOUBLE_EQ(a.calibration.detector_step_mrad->value, 0.1 / 0.115);
    }
    const auto frames = sonde::testing::frames_of(*source);
    for (std::size_t i = 0; i < frames.size(); ++i) ASSERT_EQ(frames[i], i % 256);
  }
}

TEST(ArinaWriter, ScansMayHaveMoreFilesThanAProcessMayOpen) {
  const sonde::testing::TemporaryFolder folder;
  ArinaDescription d = small_scan();
  d.scan_rows = 20;
  d.frames_per_file = 1;
  std::size_t files = 0;
  {
    ArinaWriter writer(folder.file("scan_master.h5"), d);
    for (Index n = 0; n < 100; ++n) writer.append(counted(n % 15, 1));
    files = writer.finish().size();
  }
  EXPECT_EQ(files, 102u);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few = {48, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &few);
  std::vector<std::uint64_t> frames;
  EXPECT_NO_THROW(frames = sonde::testing::frames_of(*open_source(folder.file("scan_master.h5"), {}), 30));
  setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_EQ(frames.size(), 100u * 63u);
  EXPECT_EQ(frames[99 * 63], 1000u * (99 % 15));
}

TEST(ArinaWriter, NothingHasItsNameBeforeFinish) {
  const sonde::testing::TemporaryFolder folder;
  {
    ArinaWriter writer(folder.file("scan_master.h5"), small_scan());
    writer.append(counted(0, 15));
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      EXPECT_THAT(entry.path().filename().string(), HasSubstr("partial"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ArinaWriter, MissingFramesAreCounted) {
  const sonde::testing::TemporaryFolder folder;
  ArinaWriter writer(folder.file("scan_master.h5"), small_scan());
  writer.append(counted(0, 14));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)writer.finish(); }), HasSubstr("14 of 15 frames were given"));
}

TEST(ArinaWriter, FramesBeyondTheScanAreRefused) {
  const sonde::testing::TemporaryFolder folder;
  ArinaWriter writer(folder.file("scan_master.h5"), small_scan());
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { writer.append(counted(0, 16)); }),
              HasSubstr("16 frames after 0, the scan has 15"));
}

TEST(ArinaWriter, FramesOfAnotherShapeAreRefused) {
  const sonde::testing::TemporaryFolder folder;
  ArinaWriter writer(folder.file("scan_master.h5"), small_scan());
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] {
                         writer.append(Array::zeros(Device::cpu(), {1, 9, 7}, DType::u16));
                       }),
              HasSubstr("frames (1, 9, 7) of u16, expected (n, 7, 9) of u16"));
}

TEST(ArinaWriter, NamesThatAreNoMasterAreRefused) {
  EXPECT_THAT(error_of(ErrorKind::usage, [] { ArinaWriter writer("scan.h5", small_scan()); }),
              HasSubstr("hint: give a name that ends in _master.h5"));
}

TEST(ArinaWriter, ADescriptionThatContradictsItselfIsRefused) {
  ArinaDescription d = small_scan();
  d.pixel_mask.resize(5);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { ArinaWriter writer("x_master.h5", d); }),
              HasSubstr("a pixel mask of 5 pixels on a detector of 7 x 9"));
}

}  // namespace
}  // namespace sonde::stem
