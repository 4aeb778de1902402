// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/mrc/mrc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/read/mrc/de_movie.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"
#include "tests/support/read_frames.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::frame_of;
using sonde::testing::frame_sums;
using sonde::testing::frames_of;
using sonde::testing::python;
using sonde::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Six frames of 4 x 5 pixels, element n holds n, in every mode; by the layout of MRC2014 with struct and NumPy.
constexpr const char* mrc_writer =
    "import sys, struct, numpy as np\n"
    "f = sys.argv[1] + '/'\n"
    "def write(name, mode, dtype, end='<', ext=b'', exttyp=b'', stamp=None, imod=None, frames=6, rest=b'', most=0, "
    "plus=0):\n"
    "  a = (np.arange(120) + plus).reshape(6, 4, 5).astype(end + dtype)\n"
    "  h = bytearray(1024)\n"
    "  struct.pack_into(end + '10i', h, 0, 5, 4, frames, mode, 0, 0, 0, 5, 4, 6)\n"
    "  struct.pack_into(end + '6f', h, 40, 2.5, 2.0, 6, 90, 90, 90)\n"
    "  struct.pack_into(end + '3i2f', h, 64, 1, 2, 3, 0, most)\n"
    "  struct.pack_into(end + 'i', h, 92, len(ext))\n"
    "  h[104:104 + len(exttyp)] = exttyp\n"
    "  if imod is not None: struct.pack_into(end + '2i', h, 152, 1146047817, imod)\n"
    "  h[208:212] = b'MAP '\n"
    "  h[212:214] = stamp if stamp is not None else (b'DD' if end == '<' else b'\\x11\\x11')\n"
    "  struct.pack_into(end + 'i', h, 220, 1)\n"
    "  h[224:230] = b'label1'\n"
    "  open(f + name, 'wb').write(bytes(h) + ext + a.tobytes() + rest)\n"
    "write('stated.mrc', 0, 'u1', most=219, plus=100)\n"
    "write('i1.mrc', 0, 'i1'); write('u1.mrc', 0, 'u1', imod=0); write('i2.mrc', 1, 'i2')\n"
    "write('f4.mrc', 2, 'f4'); write('u2.mrc', 6, 'u2'); write('f2.mrc', 12, 'f2')\n"
    "write('big_u2.mrc', 6, 'u2', '>'); write('big_f4.mrc', 2, 'f4', '>'); write('big_f2.mrc', 12, 'f2', '>')\n"
    "write('old_big.mrc', 6, 'u2', '>', stamp=b'\\0\\0')\n"
    "write('complex.mrc', 4, 'u2'); write('many.mrc', 6, 'u2', frames=7); write('more.mrc', 6, 'u2', rest=b'x' * 7)\n"
    "s = np.zeros(1, np.dtype([('size', '<i4'), ('version', '<i4'), ('mask', '<u4'), ('time', '<f8'),\n"
    "  ('names', 'S16', 4), ('ht', '<f8'), ('more', '<f8', 10), ('unused', 'S48'), ('defocus', '<f8', 3),\n"
    "  ('modes', '<i4', 2), ('lens', 'S16', 2), ('probe', '<i4'), ('eftem', '?'), ('magnification', '<f8'),\n"
    "  ('mask2', '<u4'), ('camera', '<f8')]))\n"
    "s['size'] = 768; s['ht'] = 200e3; s['camera'] = 0.23\n"
    "write('fei.mrc', 6, 'u2', ext=(s.tobytes().ljust(768, b'\\0')) * 6, exttyp=b'FEI1')\n";

class MrcFiles : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    python(mrc_writer, folder_->path().string());
  }
  static void TearDownTestSuite() { delete folder_; }
  static ReadOptions two_by_three() {
    ReadOptions options;
    options.scan_rows = 2;
    return options;
  }
  static std::unique_ptr<Source> open(const std::string& name, const ReadOptions& options = two_by_three()) {
    return open_source(folder_->file(name), options);
  }
  static std::string error(ErrorKind kind, const std::string& name, const ReadOptions& options = two_by_three()) {
    return error_of(kind, [&] { (void)open(name, options); });
  }
  template <class T>
  static void expect_counting(const std::string& name) {
    SCOPED_TRACE(name);
    const auto source = open(name);
    EXPECT_EQ(source->acquisition().format, "MRC");
    EXPECT_EQ(source->acquisition().scan.rows, 2);
    EXPECT_EQ(source->acquisition().scan.cols, 3);
    ASSERT_EQ(source->acquisition().frames, 6);
    for (Index frame = 0; frame < 6; ++frame) {
      const std::vector<T> elements = frame_of<T>(*source, frame);
      ASSERT_EQ(elements.size(), 20u);
      for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(elements[i], static_cast<T>(20 * frame + static_cast<Index>(i)));
    }
  }
  static TemporaryFolder* folder_;
};
TemporaryFolder* MrcFiles::folder_ = nullptr;

// Mode 0 is signed by the standard, but no signed byte is as large as the header says here.
TEST_F(MrcFiles, BytesWhoseLargestValueIsBeyond127AreUnsigned) {
  const auto source = open("stated.mrc");
  EXPECT_EQ(source->acquisition().stored, DType::u8);
  EXPECT_EQ(frame_of<std::uint8_t>(*source, 5).back(), 219);
  EXPECT_EQ(open("i1.mrc")->acquisition().stored, DType::i8);
}

TEST_F(MrcFiles, WholeNumbersInBothByteOrders) {
  expect_counting<std::int8_t>("i1.mrc");
  expect_counting<std::int16_t>("i2.mrc");
  expect_counting<std::uint16_t>("u2.mrc");
  expect_counting<std::uint16_t>("big_u2.mrc");
}

TEST_F(MrcFiles, RealNumbersInBothByteOrders) {
  expect_counting<float>("f4.mrc");
  expect_counting<float>("big_f4.mrc");
}

TEST_F(MrcFiles, HalfPrecisionIsGivenAsSingle) {
  expect_counting<float>("f2.mrc");
  expect_counting<float>("big_f2.mrc");
}

TEST_F(MrcFiles, BytesAreUnsignedWhereImodSaysSo) { expect_counting<std::uint8_t>("u1.mrc"); }

TEST_F(MrcFiles, TheModeTellsTheByteOrderOfFilesWithoutAStamp) { expect_counting<std::uint16_t>("old_big.mrc"); }

TEST_F(MrcFiles, ExtendedHeaderGivesVoltageAndCameraLength) {
  const auto source = open("fei.mrc");
  EXPECT_EQ(source->acquisition().calibration.high_tension_v->value, 200e3);
  EXPECT_EQ(source->acquisition().calibration.camera_length_m->value, 0.23);
  EXPECT_EQ(source->acquisition().original_metadata.at("MRC/label 0"), "label1");
  EXPECT_EQ(frames_of(*source)[119], 119u);  // behind six sections of 768 bytes
}

TEST_F(MrcFiles, TheCellOfAnImageIsNoCalibrationOfPatterns) {
  const auto source = open("u2.mrc");
  EXPECT_FALSE(source->acquisition().calibration.detector_step_inv_a.has_value());
  EXPECT_EQ(source->acquisition().original_metadata.at("MRC/cell x"), "2.5");
}

TEST_F(MrcFiles, ModesThatAreNoCountsAreRefused) {
  EXPECT_THAT(error(ErrorKind::not_supported, "complex.mrc"),
              AllOf(HasSubstr("MRC mode 4; modes 0, 1, 2, 6 and 12 are read"), HasSubstr("newstack")));
}

TEST_F(MrcFiles, WithoutAScanShapeTheErrorSaysHowToGiveIt) {
  EXPECT_THAT(error(ErrorKind::bad_input, "u2.mrc", {}),
              AllOf(HasSubstr("6 frames: nothing says the shape of the scan"), HasSubstr("for instance 2,3 or 1,6")));
}

TEST_F(MrcFiles, MissingFramesAreErrorsUnlessAccepted) {
  EXPECT_THAT(
      error(ErrorKind::bad_file, "many.mrc"),
      AllOf(HasSubstr("many.mrc: damaged: 6 whole frames, the header says 7"), HasSubstr("--allow-incomplete")));
  ReadOptions options = two_by_three();
  options.allow_incomplete = true;
  EXPECT_EQ(open("many.mrc", options)->acquisition().frames, 6);
  EXPECT_EQ(open("more.mrc")->acquisition().notes.size(), 1u);
}

/// The first file with other bytes at some place.
std::string error_with(const std::string& path, std::size_t at, const std::vector<std::uint8_t>& other,
                       std::size_t keep = 1 << 20) {
  const TemporaryFolder folder;
  std::ifstream in(path, std::ios::binary);
  std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(in)), {});
  std::copy(other.begin(), other.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
  bytes.resize(std::min(bytes.size(), keep));
  sonde::testing::write_bytes(folder.file("a.mrc"), bytes);
  return error_of(ErrorKind::bad_file, [&] { (void)open_mrc(folder.file("a.mrc"), {}); });
}

TEST_F(MrcFiles, DamagedHeadersAreErrors) {
  const std::string path = folder_->file("u2.mrc");
  EXPECT_THAT(error_with(path, 0, {}, 1000),
              HasSubstr("a.mrc: damaged: the MRC header needs 1024 bytes from offset 0 on, the file has 1000"));
  EXPECT_THAT(error_with(path, 0, {0, 0, 0, 0}), HasSubstr("damaged: frames of 4 x 0 pixels; expected 1 to 65536"));
  EXPECT_THAT(error_with(path, 8, {0xff, 0xff, 0xff, 0xff}), HasSubstr("damaged: -1 frames; expected 1 or more"));
  EXPECT_THAT(error_with(path, 92, {0xff, 0xff, 0xff, 0x7f}),
              HasSubstr("damaged: an extended header of 2147483647 bytes"));
  EXPECT_THAT(error_with(path, 4, {0xff, 0xff, 0, 0}), HasSubstr("a frame needs 655350 bytes"));
}

// The sums were taken with NumPy from the documented layout.

TEST(DirectElectron, AScanInRandomOrderIsSortedByItsPositions) {
  SONDE_NEED_DATA(data);
  const auto source = open_source(data / "stem/other/ROI_Random_Scan_movie.mrc", {});
  const Acquisition& scan = source->acquisition();
  EXPECT_EQ(scan.scan.rows, 29);
  EXPECT_EQ(scan.scan.cols, 12);
  EXPECT_EQ(scan.scan_because, "the scan coordinates");
  EXPECT_EQ(scan.rows, 16);
  EXPECT_EQ(scan.stored, DType::u16);
  EXPECT_EQ(scan.calibration.high_tension_v->value, 300e3);
  EXPECT_FALSE(scan.calibration.camera_length_m.has_value());  // -1 is written where it is not known
  const auto sums = frame_sums<std::uint16_t>(*source);
  EXPECT_THAT(std::vector(sums.begin(), sums.begin() + 6), ElementsAre(300210, 300226, 300198, 300234, 300215, 300221));
  EXPECT_THAT(std::vector(sums.end() - 4, sums.end()), ElementsAre(300226, 300242, 300212, 300224));
  double total = 0;
  for (const double sum : sums) total += sum;
  EXPECT_EQ(total, 104477835);
}

TEST(DirectElectron, PositionsThatAreVisitedTwiceNeedAScanShape) {
  SONDE_NEED_DATA(data);
  const std::string path = data / "stem/other/Custom_movie.mrc";
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)open_source(path, {}); }),
              AllOf(HasSubstr("30 frames at positions that do not fill a grid once (Custom_scan_coordinates.csv)"),
                    HasSubstr("--scan-shape 1,30")));
  ReadOptions options;
  options.scan_rows = 1;
  const auto source = open_source(path, options);
  const auto sums = frame_sums<std::uint16_t>(*source);
  EXPECT_THAT(std::vector(sums.begin(), sums.begin() + 6), ElementsAre(300212, 300204, 300206, 300187, 300246, 300213));
}

TEST(DirectElectron, ARasterScanHasTheShapeOfTheInfoFile) {
  const TemporaryFolder folder;
  python(mrc_writer, folder.path().string());
  std::filesystem::rename(folder.file("u2.mrc"), folder.file("x_movie.mrc"));
  std::ofstream(folder.file("x_info.txt"))
      << "Scan - Enable = Enable\r\nScan - Type = Raster\r\nScan - ROI Enable = Disable\r\nScan - Size X = 2\r\n"
         "Scan - Size Y = 3\r\nSpecimen Pixel Size X (nanometers) = 0.5\r\nSpecimen Pixel Size Y (nanometers) = 0.5\r\n"
         "Instrument Accelerating Voltage (V) = 80000\r\nInstrument Project Camera Length (centimeters) = 11.5\r\n"
         "Diffraction Pixel Size X = 0.2\r\n";
  const auto source = open_source(folder.file("x_movie.mrc"), {});
  const Acquisition& scan = source->acquisition();
  EXPECT_EQ(scan.scan.rows, 3);
  EXPECT_EQ(scan.scan.cols, 2);
  EXPECT_EQ(scan.calibration.high_tension_v->value, 80e3);
  EXPECT_DOUBLE_EQ(scan.calibration.camera_length_m->value, 0.115);
  EXPECT_EQ(scan.calibration.scan_step_col_nm->value, 0.5);
  ASSERT_EQ(scan.notes.size(), 1u);
  EXPECT_EQ(scan.notes[0].because, "the info file does not state its unit");
}

TEST(DirectElectron, CoordinatesThatAreNoGridOrNoNumbers) {
  const auto scan = parse_scan_coordinates("4,1\n0,1\n0,0\n4,0\n", "a.csv");
  ASSERT_TRUE(scan.has_value());
  EXPECT_EQ(scan->rows, 2);
  EXPECT_THAT(scan->frame_of, ElementsAre(2, 3, 1, 0));
  EXPECT_FALSE(parse_scan_coordinates("0,0\n1,1\n", "a.csv").has_value());
  EXPECT_FALSE(parse_scan_coordinates("0,0\n1,0\n5,0\n", "a.csv").has_value());  // uneven
  EXPECT_THAT(error_of(ErrorKind::bad_file, [] { (void)parse_scan_coordinates("0,0\n1;0\n", "a.csv"); }),
              HasSubstr("a.csv: damaged: line 2 is not \"x,y\""));
}

}  // namespace
}  // namespace sonde::stem
