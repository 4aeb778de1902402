// SPDX-License-Identifier: Apache-2.0
// Scans in plain arrays: NPY, raw frames, EMPAD and Zarr. Every file is written by NumPy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/file.h"
#include "sonde/instruments/stem/read/empad.h"
#include "sonde/instruments/stem/read/source.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"
#include "tests/support/read_frames.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::frame_of;
using sonde::testing::frames_of;
using sonde::testing::python;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Element (i, j, k, l) of the scan (2, 3, 4, 5) is its C index, in every file.
constexpr const char* writer =
    "import sys, os, json, numpy as np\n"
    "f = sys.argv[1] + '/'\n"
    "a = np.arange(120, dtype='<u2').reshape(2, 3, 4, 5)\n"
    "np.save(f + 'scan.npy', a)\n"
    "np.save(f + 'frames.npy', a.reshape(6, 4, 5))\n"
    "np.save(f + 'one.npy', a[0, 0])\n"
    "np.save(f + 'big.npy', a.astype('>u4'))\n"
    "np.save(f + 'five.npy', a[None])\n"
    "np.save(f + 'complex.npy', a * 1j)\n"
    "np.save(f + 'none.npy', a[:0])\n"
    "np.save(f + 'fortran.npy', np.asfortranarray(a))\n"
    "open(f + 'plain.raw', 'wb').write(a.tobytes())\n"
    "with open(f + 'gaps.raw', 'wb') as out:\n"
    "  out.write(b'h' * 100)\n"
    "  for frame in a.astype('>f4').reshape(6, -1): out.write(frame.tobytes() + b'gap')\n"
    "with open(f + 'wide.raw', 'wb') as out:\n"
    "  for frame in a.reshape(6, -1): out.write(frame.tobytes() + bytes(70000))\n"
    "for name, rows, cols in (('z/small', 2, 2), ('z/deep/scan', 4, 5)):\n"
    "  folder = f + name; os.makedirs(folder)\n"
    "  shape = [rows, cols] if rows == 2 else [2, 3, 4, 5]\n"
    "  json.dump(dict(zarr_format=2, shape=shape, chunks=shape, dtype='<u2', order='C', fill_value=0, filters=None,\n"
    "                 compressor=None), open(folder + '/.zarray', 'w'))\n"
    "  open(folder + '/' + '.'.join('0' * len(shape)), 'wb').write(a.ravel()[:np.prod(shape)].tobytes())\n"
    "json.dump({'zarr_format': 2}, open(f + 'z/.zgroup', 'w'))\n"
    "json.dump({'dwell': 1e-3}, open(f + 'z/deep/scan/.zattrs', 'w'))\n"
    "e = np.arange(6 * 130 * 128, dtype='<f4').reshape(6, 130, 128)\n"
    "e.tofile(f + 'scan_x3_y2.raw')\n"
    "e.tofile(f + 'named.raw')\n"
    "open(f + 'named.xml', 'w').write('<root name=\"a\"><raw_file filename=\"/home/x/named.raw\"/>'\n"
    "  '<scan_parameters mode=\"search\"><scan_resolution_x>7</scan_resolution_x></scan_parameters>'\n"
    "  '<scan_parameters mode=\"acquire\"><scan_resolution_x>3</scan_resolution_x>'\n"
    "  '<scan_resolution_y>2</scan_resolution_y></scan_parameters><iom><high_voltage>300000.0</high_voltage>'\n"
    "  '<nominal_camera_length>0.369</nominal_camera_length></iom></root>')\n";

class ArrayFiles : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new sonde::testing::TemporaryFolder;
    python(writer, folder_->path().string());
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::unique_ptr<Source> open(const std::string& name, const ReadOptions& options = {}) {
    return open_source(folder_->file(name), options);
  }
  static std::string error(ErrorKind kind, const std::string& name, const ReadOptions& options = {}) {
    return error_of(kind, [&] { (void)open(name, options); });
  }
  /// Expects the scan that all files hold.
  static void expect_scan(Source& source) {
    EXPECT_EQ(source.acquisition().scan.rows, 2);
    EXPECT_EQ(source.acquisition().scan.cols, 3);
    EXPECT_EQ(source.acquisition().rows, 4);
    EXPECT_EQ(source.acquisition().cols, 5);
    const auto elements = frames_of(source, 4);
    ASSERT_EQ(elements.size(), 120u);
    for (std::size_t i = 0; i < elements.size(); ++i) EXPECT_EQ(elements[i], i);
  }
  static ReadOptions raw(std::vector<Index> shape, std::string dtype) {
    ReadOptions options;
    options.raw_shape = std::move(shape);
    options.raw_dtype = std::move(dtype);
    return options;
  }
  static sonde::testing::TemporaryFolder* folder_;
};
sonde::testing::TemporaryFolder* ArrayFiles::folder_ = nullptr;

TEST_F(ArrayFiles, NpyWithScanShape) {
  const auto source = open("scan.npy");
  EXPECT_EQ(source->acquisition().format, "NPY");
  EXPECT_EQ(source->acquisition().scan_because, "the shape of the array");
  expect_scan(*source);
}

TEST_F(ArrayFiles, NpyInTheOtherByteOrder) { expect_scan(*open("big.npy")); }

TEST_F(ArrayFiles, NpyOfFramesNeedsTheScanShape) {
  EXPECT_THAT(error(ErrorKind::bad_input, "frames.npy"),
              AllOf(HasSubstr("6 frames"), HasSubstr("while: opening"), HasSubstr("--scan-shape, for instance 2,3")));
  ReadOptions options;
  options.scan_rows = 2;
  expect_scan(*open("frames.npy", options));
}

TEST_F(ArrayFiles, NpyOfOneFrame) {
  const auto source = open("one.npy");
  EXPECT_EQ(source->acquisition().scan.rows, 1);
  EXPECT_EQ(frame_of<std::uint16_t>(*source, 0)[19], 19);
}

TEST_F(ArrayFiles, NpyThatIsNoScanIsRefused) {
  EXPECT_THAT(error(ErrorKind::not_supported, "five.npy"),
              HasSubstr("shape (1, 2, 3, 4, 5), expected (Ry, Rx, Qy, Qx)"));
  EXPECT_THAT(error(ErrorKind::not_supported, "complex.npy"), HasSubstr("complex elements"));
  EXPECT_THAT(error(ErrorKind::not_supported, "fortran.npy"), HasSubstr("ascontiguousarray"));
  EXPECT_THAT(error(ErrorKind::bad_file, "none.npy"), HasSubstr("shape (0, 3, 4, 5) holds nothing"));
}

TEST_F(ArrayFiles, RawFrames) { expect_scan(*open("plain.raw", raw({2, 3, 4, 5}, "u2"))); }

TEST_F(ArrayFiles, RawFramesWithOffsetGapAndByteOrder) {
  ReadOptions options = raw({2, 3, 4, 5}, "f4");
  options.raw_big_endian = true;
  options.raw_offset = 100;
  options.raw_gap = 3;
  const auto source = open("gaps.raw", options);
  EXPECT_EQ(source->acquisition().stored, DType::f32);
  EXPECT_EQ(frame_of<float>(*source, 5)[19], 119.0f);
  EXPECT_EQ(frame_of<float>(*source, 0)[0], 0.0f);
}

TEST_F(ArrayFiles, RawFramesWithGapsThatAreNotReadAlong) {
  ReadOptions options = raw({2, 3, 4, 5}, "u2");
  options.raw_gap = 70000;
  const auto source = open("wide.raw", options);
  EXPECT_EQ(source->stored_bytes(0), 40u);
  expect_scan(*source);
}

TEST_F(ArrayFiles, RawShapeMayLeaveTheScanToTheSize) {
  ReadOptions options = raw({4, 5}, "u2");
  options.scan_cols = 3;
  expect_scan(*open("plain.raw", options));
}

TEST_F(ArrayFiles, RawDescriptionsThatDoNotFitAreErrors) {
  EXPECT_THAT(error(ErrorKind::bad_file, "plain.raw", raw({2, 4, 4, 5}, "u2")),
              AllOf(HasSubstr("6 frames, but raw_shape says a scan of 2 x 4 = 8"), HasSubstr("--allow-incomplete")));
  EXPECT_THAT(error(ErrorKind::bad_file, "plain.raw", raw({2, 3, 5, 5}, "u2")),
              HasSubstr("ends inside a frame: frame 4 has 40 of 50 bytes"));
  EXPECT_THAT(error(ErrorKind::bad_file, "plain.raw", raw({1, 1, 100, 100}, "u2")), HasSubstr("does not fit into it"));
}

TEST_F(ArrayFiles, RawDescriptionsThatAreIncompleteAreErrors) {
  EXPECT_THAT(error(ErrorKind::usage, "plain.raw", raw({2, 3, 4, 5}, "")),
              AllOf(HasSubstr("raw frames need an element type"), HasSubstr("--raw-dtype")));
  EXPECT_THAT(error(ErrorKind::usage, "plain.raw", raw({2, 3, 4, 5}, "u3")), HasSubstr("\"u3\""));
  EXPECT_THAT(error(ErrorKind::usage, "plain.raw", raw({2, 3, 4}, "u2")), HasSubstr("raw_shape 2,3,4: expected four"));
  EXPECT_THAT(error(ErrorKind::usage, "plain.raw", raw({2, 0, 4, 5}, "u2")), HasSubstr("positive"));
}

TEST_F(ArrayFiles, ZarrTakesTheArrayWithMostDimensions) {
  const auto source = open("z");
  EXPECT_EQ(source->acquisition().format, "Zarr");
  EXPECT_EQ(source->acquisition().original_metadata.at("array"), "deep/scan");
  EXPECT_EQ(source->acquisition().original_metadata.at(".zattrs/dwell"), "0.001");
  expect_scan(*source);
}

TEST_F(ArrayFiles, ZarrTakesTheArrayThatIsNamed) {
  ReadOptions options;
  options.dataset = "/small";
  EXPECT_EQ(frame_of<std::uint16_t>(*open("z", options), 0)[3], 3);
  options.dataset = "deep/scam";
  EXPECT_THAT(error(ErrorKind::bad_input, "z", options),
              HasSubstr("has no array \"deep/scam\"; did you mean \"deep/scan\"?"));
}

TEST_F(ArrayFiles, EmpadByTheNameAndSizeOfItsRawFile) {
  const auto source = open("scan_x3_y2.raw");
  EXPECT_EQ(source->acquisition().format, "EMPAD");
  EXPECT_EQ(source->acquisition().scan.rows, 2);
  EXPECT_EQ(source->acquisition().scan.cols, 3);
  EXPECT_EQ(source->acquisition().rows, 128);
  EXPECT_EQ(frame_of<float>(*source, 5).front(), 5 * 130 * 128);
  // What the user describes is not recognised as something else.
  EXPECT_EQ(open("scan_x3_y2.raw", raw({2, 3, 130, 128}, "f4"))->acquisition().format, "raw");
  // Another size under such a name is no EMPAD file.
  EXPECT_FALSE(is_empad_raw("scan_x3_y2.raw", 6 * 130 * 128 * 4 - 1));
  EXPECT_FALSE(is_empad_raw("scan_x3_y2.bin", 6 * 130 * 128 * 4));
}

TEST_F(ArrayFiles, EmpadByItsHeaderDropsTheLastRows) {
  const auto source = open("named.xml");
  const Acquisition& scan = source->acquisition();
  EXPECT_EQ(scan.format, "EMPAD");
  EXPECT_THAT(scan.files, ElementsAre(folder_->file("named.raw")));
  EXPECT_EQ(scan.scan.rows, 2);
  EXPECT_EQ(scan.scan.cols, 3);
  EXPECT_EQ(scan.rows, 128);
  EXPECT_EQ(scan.calibration.high_tension_v->value, 300000);
  EXPECT_EQ(scan.calibration.camera_length_m->value, 0.369);
  const auto last = frame_of<float>(*source, 5);
  EXPECT_EQ(last.front(), 5 * 130 * 128);
  EXPECT_EQ(last.back(), 5 * 130 * 128 + 128 * 128 - 1);
}

TEST_F(ArrayFiles, EmpadByItsRawFile) {
  ReadOptions options;
  options.preset = "empad";
  EXPECT_EQ(open("named.raw", options)->acquisition().scan_because, "the XML header");
  const auto source = open("scan_x3_y2.raw", options);
  EXPECT_EQ(source->acquisition().scan_because, "the name of the file");
  EXPECT_EQ(source->acquisition().scan.cols, 3);
}

TEST(Empad, RealHeadersNameScanAndTension) {
  SONDE_NEED_DATA(data);
  const auto header = [&](const char* name) {
    const std::string path = (data / "stem/other" / name).string();
    return parse_empad_header(read_text(path), path);
  };
  const EmpadHeader older = header("map4x4.xml"), newer = header("EMPAD_v1.2.2_x32_y64_size0.8.xml");
  EXPECT_EQ(older.raw_file, "scan_x4_y4.raw");
  EXPECT_EQ(older.grid->rows, 4);
  EXPECT_EQ(older.grid->cols, 4);
  EXPECT_EQ(older.calibration.camera_length_m->value, 0.7225);
  EXPECT_EQ(newer.raw_file, "scan_x32_y64.raw");
  EXPECT_EQ(newer.grid->rows, 64);
  EXPECT_EQ(newer.grid->cols, 32);
  EXPECT_EQ(newer.calibration.high_tension_v->value, 300000);
  EXPECT_EQ(newer.metadata.at("root/iom_measurements/spot_size_index"), "7");
}

TEST(Empad, BrokenHeadersAreErrors) {
  const auto error = [](const char* xml) {
    return error_of(ErrorKind::bad_file, [&] { (void)parse_empad_header(xml, "a.xml"); });
  };
  EXPECT_THAT(error("<root><a>1</a></root>"), HasSubstr("a.xml: not an EMPAD header: it names no raw file"));
  EXPECT_THAT(error("<root><a>"), HasSubstr("<a> has no end"));
  EXPECT_THAT(error("</root>"), HasSubstr("closes more than it opens"));
  EXPECT_THAT(error("<root"), HasSubstr("a tag without end"));
}

}  // namespace
}  // namespace sonde::stem
