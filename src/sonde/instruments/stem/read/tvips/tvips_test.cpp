// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/tvips/tvips.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/base/error.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"
#include "tests/support/read_frames.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::frame_sums;
using sonde::testing::frames_of;
using sonde::testing::python;
using sonde::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ReadOptions rows_of_scan(Index count) {
  ReadOptions options;
  options.scan_rows = count;
  return options;
}

TEST(TvipsFiles, TheSampleHasItsFramesAndVoltage) {
  SONDE_NEED_DATA(data);
  const auto source = open_source(data / "stem/other/test_tvips_2345_000.tvips", rows_of_scan(2));
  const Acquisition& scan = source->acquisition();
  EXPECT_EQ(scan.format, "TVIPS");
  EXPECT_EQ(scan.scan.cols, 3);
  EXPECT_EQ(scan.rows, 4);
  EXPECT_EQ(scan.cols, 5);
  EXPECT_EQ(scan.calibration.high_tension_v->value, 200e3);     // stored as 200
  EXPECT_FALSE(scan.calibration.detector_pixel_m.has_value());  // stored as 1: no size of a pixel in nm
  EXPECT_THAT(frame_sums<std::uint16_t>(*source), ElementsAre(190, 590, 990, 1390, 1790, 2190));  // taken with NumPy
}

TEST(TvipsFiles, WithoutAScanShapeTheErrorSuggestsOne) {
  SONDE_NEED_DATA(data);
  const std::string path = data / "stem/other/test_tvips_2345_000.tvips";
  EXPECT_THAT(
      error_of(ErrorKind::bad_input, [&] { (void)open_source(path, {}); }),
      AllOf(HasSubstr("6 frames: nothing says the shape of the scan"), HasSubstr("--scan-shape, for instance 2,3")));
}

/// Seven frames of 2 x 3 bytes in three files, frame headers of 70 bytes, by the documented layout with struct.
constexpr const char* tvips_writer =
    "import sys, struct\n"
    "f = sys.argv[1] + '/'\n"
    "head = struct.pack('<13I', 256, 2, 3, 2, 8, 0, 0, 2, 2, 15500, 300000, 120, 70).ljust(256, b'T')\n"
    "def frame(n): return struct.pack('<4If2I', n, 0, 0, 0, 0, 0, 2).ljust(70, b'h') + bytes(range(6 * n, 6 * n + 6))\n"
    "for part, frames in enumerate(((0, 1, 2), (3,), (4, 5, 6))):\n"
    "  open(f + 'run_%03d.tvips' % part, 'wb').write((head if part == 0 else b'') + b''.join(map(frame, frames)))\n"
    "open(f + 'v3.tvips', 'wb').write(struct.pack('<13I', 256, 3, 3, 2, 8, 0, 0, 1, 1, 1, 200, 0, 60).ljust(400, "
    "b'T'))\n"
    "open(f + 'deep.tvips', 'wb').write(struct.pack('<13I', 256, 2, 3, 2, 32, 0, 0, 1, 1, 1, 200, 0, 60).ljust(400, "
    "b'T'))\n"
    "open(f + 'wide.tvips', 'wb').write(struct.pack('<13I', 256, 2, 3 << 20, 2, 8, 0, 0, 1, 1, 1, 2, 0, "
    "60).ljust(400))\n"
    "open(f + 'long.tvips', 'wb').write(struct.pack('<13I', 256, 2, 3, 2, 8, 0, 0, 1, 1, 1, 2, 0, 1 << "
    "30).ljust(400))\n"
    "open(f + 'head.tvips', 'wb').write(struct.pack('<13I', 1 << 30, 2, 3, 2, 8, 0, 0, 1, 1, 1, 2, 0, 60).ljust(400))\n"
    "open(f + 'cut.tvips', 'wb').write(head[:100])\n";

class TvipsParts : public ::testing::Test {
 protected:
  TvipsParts() { python(tvips_writer, folder_.path().string()); }
  std::string error(ErrorKind kind, const std::string& name) {
    return error_of(kind, [&] { (void)open_source(folder_.file(name), rows_of_scan(1)); });
  }
  TemporaryFolder folder_;
};

TEST_F(TvipsParts, FramesContinueFromFileToFile) {
  for (const Index batch : {1, 2, 3, 7}) {
    SCOPED_TRACE(batch);
    const auto source = open_source(folder_.file("run_000.tvips"), rows_of_scan(1));
    EXPECT_EQ(source->acquisition().files.size(), 3u);
    const auto elements = frames_of(*source, batch);
    ASSERT_EQ(elements.size(), 42u);
    for (std::size_t i = 0; i < elements.size(); ++i) EXPECT_EQ(elements[i], i);
  }
}

TEST_F(TvipsParts, PixelsOfACameraHaveTheirBinnedSize) {
  const auto source = open_source(folder_.file("run_000.tvips"), rows_of_scan(1));
  EXPECT_DOUBLE_EQ(source->acquisition().calibration.detector_pixel_m->value, 31e-6);
  EXPECT_EQ(source->acquisition().calibration.high_tension_v->value, 300e3);  // stored as 300000
  ASSERT_EQ(source->acquisition().notes.size(), 1u);
  EXPECT_THAT(source->acquisition().notes[0].because, HasSubstr("does not state its unit"));
}

TEST_F(TvipsParts, ALaterPartNamesTheFirst) {
  EXPECT_THAT(
      error(ErrorKind::bad_input, "run_001.tvips"),
      AllOf(HasSubstr("a later part of a TVIPS recording; expected its first part"), HasSubstr("run_000.tvips")));
}

TEST_F(TvipsParts, DamagedAndUnknownHeadersAreErrors) {
  EXPECT_THAT(error(ErrorKind::not_supported, "v3.tvips"), HasSubstr("TVIPS version 3; versions 1 and 2 are read"));
  EXPECT_THAT(error(ErrorKind::not_supported, "deep.tvips"), HasSubstr("32 bits per pixel; 8 and 16 are read"));
  EXPECT_THAT(error(ErrorKind::bad_file, "wide.tvips"), HasSubstr("damaged: frames of 2 x 3145728 pixels"));
  EXPECT_THAT(error(ErrorKind::bad_file, "long.tvips"), HasSubstr("damaged: frame headers of 1073741824 bytes"));
  EXPECT_THAT(error(ErrorKind::bad_file, "head.tvips"), HasSubstr("damaged: a series header of 1073741824 bytes"));
  EXPECT_THAT(error(ErrorKind::bad_file, "cut.tvips"),
              HasSubstr("damaged: the series header needs 256 bytes from offset 0 on, the file has 100"));
}

TEST_F(TvipsParts, AFileThatEndsInsideAFrameIsAnError) {
  std::filesystem::resize_file(folder_.file("run_002.tvips"), 150);
  EXPECT_THAT(error(ErrorKind::bad_file, "run_000.tvips"), HasSubstr("run_002.tvips: ends inside a frame"));
}

}  // namespace
}  // namespace sonde::stem
