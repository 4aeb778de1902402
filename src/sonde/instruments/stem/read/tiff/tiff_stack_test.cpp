// SPDX-License-Identifier: Apache-2.0
// Stacks are written by libtiff, and by Python where libtiff does not write that layout.
#include "sonde/instruments/stem/read/tiff/tiff_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tiffio.h>

#include <bit>
#include <cstring>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/tiff.h"
#include "sonde/instruments/stem/read/tiff/tiff_segment.h"
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
using sonde::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Index stack_frames = 6, stack_rows = 37, stack_cols = 50;

/// What pixel n of all frames holds: runs and jumps, so that compressions have something to do.
std::uint32_t expected(std::size_t n) { return static_cast<std::uint32_t>(n / 7 * 40503u % 251u); }

struct Layout {
  const char* name;
  const char* mode;  ///< of TIFFOpen: l, b for the byte order, 8 for BigTIFF
  int compression = COMPRESSION_NONE, predictor = 1;
  int bits = 16;
  std::uint32_t rows_per_strip = 8, tile = 0;
  bool floats = false;
};

std::ostream& operator<<(std::ostream& out, const Layout& layout) { return out << layout.name; }

/// The bits of the element that holds it.
std::uint64_t expected_bits(const Layout& layout, std::size_t n) {
  if (layout.floats && layout.bits == 32) return std::bit_cast<std::uint32_t>(static_cast<float>(expected(n)));
  if (layout.floats) return std::bit_cast<std::uint64_t>(static_cast<double>(expected(n)));
  return expected(n);
}

template <class T>
void write_page(TIFF* tiff, const Layout& layout, Index page) {
  std::vector<T> image(static_cast<std::size_t>(stack_rows * stack_cols));
  for (std::size_t i = 0; i < image.size(); ++i)
    image[i] = static_cast<T>(expected(static_cast<std::size_t>(page * stack_rows * stack_cols) + i));
  if (layout.tile == 0) {
    for (Index row = 0; row < stack_rows; ++row)
      ASSERT_EQ(
          TIFFWriteScanline(tiff, &image[static_cast<std::size_t>(row * stack_cols)], static_cast<std::uint32_t>(row)),
          1);
    return;
  }
  const auto side = static_cast<Index>(layout.tile);
  for (Index row = 0; row < stack_rows; row += side)
    for (Index col = 0; col < stack_cols; col += side) {
      std::vector<T> tile(static_cast<std::size_t>(side * side), T{77});  // 77 in what lies beyond the frame
      for (Index r = row; r < std::min(row + side, stack_rows); ++r)
        for (Index c = col; c < std::min(col + side, stack_cols); ++c)
          tile[static_cast<std::size_t>((r - row) * side + c - col)] =
              image[static_cast<std::size_t>(r * stack_cols + c)];
      ASSERT_GT(
          TIFFWriteTile(tiff, tile.data(), static_cast<std::uint32_t>(col), static_cast<std::uint32_t>(row), 0, 0), 0);
    }
}

void write_stack(const std::string& path, const Layout& layout) {
  TIFF* tiff = TIFFOpen(path.c_str(), layout.mode);
  ASSERT_NE(tiff, nullptr);
  for (Index page = 0; page < stack_frames; ++page) {
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(stack_cols));
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(stack_rows));
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, layout.bits);
    if (layout.floats) TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, layout.compression);
    if (layout.predictor != 1) TIFFSetField(tiff, TIFFTAG_PREDICTOR, layout.predictor);
    if (layout.tile == 0) {
      TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, layout.rows_per_strip);
    } else {
      TIFFSetField(tiff, TIFFTAG_TILEWIDTH, layout.tile);
      TIFFSetField(tiff, TIFFTAG_TILELENGTH, layout.tile);
    }
    if (layout.bits == 8) write_page<std::uint8_t>(tiff, layout, page);
    if (layout.bits == 16) write_page<std::uint16_t>(tiff, layout, page);
    if (layout.bits == 32 && !layout.floats) write_page<std::uint32_t>(tiff, layout, page);
    if (layout.bits == 64 && !layout.floats) write_page<std::uint64_t>(tiff, layout, page);
    if (layout.bits == 32 && layout.floats) write_page<float>(tiff, layout, page);
    if (layout.bits == 64 && layout.floats) write_page<double>(tiff, layout, page);
    ASSERT_EQ(TIFFWriteDirectory(tiff), 1);
  }
  TIFFClose(tiff);
}

ReadOptions two_rows() {
  ReadOptions options;
  options.scan_rows = 2;
  return options;
}

class EveryLayout : public ::testing::TestWithParam<Layout> {};

TEST_P(EveryLayout, OfLibtiffIsReadExactly) {
  const TemporaryFolder folder;
  write_stack(folder.file("a.tif"), GetParam());
  const auto source = open_source(folder.file("a.tif"), two_rows());
  const Acquisition& scan = source->acquisition();
  EXPECT_EQ(scan.format, "TIFF");
  EXPECT_EQ(scan.scan.cols, 3);
  EXPECT_EQ(scan.rows, stack_rows);
  EXPECT_EQ(scan.cols, stack_cols);
  const auto elements = frames_of(*source, 4);
  ASSERT_EQ(elements.size(), static_cast<std::size_t>(stack_frames * stack_rows * stack_cols));
  for (std::size_t i = 0; i < elements.size(); ++i) ASSERT_EQ(elements[i], expected_bits(GetParam(), i)) << i;
}

INSTANTIATE_TEST_SUITE_P(
    , EveryLayout,
    ::testing::Values(
        Layout{"plain", "wl"}, Layout{"plain_big_endian", "wb"}, Layout{"bigtiff", "w8l"},
        Layout{"bigtiff_big_endian", "w8b"}, Layout{"bytes", "wl", COMPRESSION_NONE, 1, 8},
        Layout{"words", "wb", COMPRESSION_NONE, 1, 32}, Layout{"one_strip", "wl", COMPRESSION_NONE, 1, 16, 64},
        Layout{"lzw", "wl", COMPRESSION_LZW}, Layout{"lzw_predictor", "wb", COMPRESSION_LZW, 2},
        Layout{"lzw_bytes_predictor", "wl", COMPRESSION_LZW, 2, 8, 37},
        Layout{"deflate", "wl", COMPRESSION_ADOBE_DEFLATE},
        Layout{"deflate_predictor", "w8b", COMPRESSION_ADOBE_DEFLATE, 2, 32},
        Layout{"packbits", "wl", COMPRESSION_PACKBITS, 1, 8}, Layout{"tiles", "wl", COMPRESSION_NONE, 1, 16, 0, 16},
        Layout{"tiles_deflate", "wb", COMPRESSION_ADOBE_DEFLATE, 2, 16, 0, 32},
        Layout{"wide_tiles", "wl", COMPRESSION_LZW, 1, 8, 0, 64}, Layout{"long_words", "wb", COMPRESSION_NONE, 1, 64},
        Layout{"floats_predictor", "wl", COMPRESSION_ADOBE_DEFLATE, 3, 32, 8, 0, true},
        Layout{"float_tiles_predictor", "wl", COMPRESSION_ADOBE_DEFLATE, 3, 32, 0, 32, true},
        Layout{"doubles_predictor", "wl", COMPRESSION_ADOBE_DEFLATE, 3, 64, 8, 0, true}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(TiffStack, StripsThatFollowEachOtherAreReadAtOnce) {
  const TemporaryFolder folder;
  write_stack(folder.file("a.tif"), {"plain", "wl"});
  const File file(folder.file("a.tif"));
  const TiffPages pages = read_tiff_pages(file);
  EXPECT_EQ(pages.segments.size(), 6u);  // 5 strips of each page are one
  EXPECT_EQ(pages.frame.segment_rows, stack_rows);
}

TEST(TiffStack, StacksOfSondeComeBackWithTheirPixelSize) {
  const TemporaryFolder folder;
  Array images(Device::cpu(), Shape{4, 3, 5}, DType::f32);
  for (Index i = 0; i < images.count(); ++i) static_cast<float*>(images.data())[i] = 0.5F * static_cast<float>(i);
  write_tiff(folder.file("a.tif"), images, {.row_step = 0.25, .col_step = 0.25, .unit = "mrad", .description = ""});
  const auto source = open_source(folder.file("a.tif"), {});
  EXPECT_EQ(source->acquisition().scan.rows, 2);  // a square number
  EXPECT_EQ(frame_of<float>(*source, 3)[14], 29.5F);
  ASSERT_TRUE(source->acquisition().calibration.detector_step_mrad.has_value());
  // The resolution is a fraction of two 32-bit numbers.
  EXPECT_NEAR(source->acquisition().calibration.detector_step_mrad->value, 0.25, 1e-6);
}

/// One directory, by the TIFF 6.0 layout, with struct.
constexpr const char* tiff_writer =
    "import sys, struct\n"
    "f = sys.argv[1] + '/'\n"
    "def tiff(name, tags, data, images=None, next=0):\n"
    "  text = b'ImageJ=1.53t\\nimages=%d\\nslices=2\\nunit=1/nm\\n\\0' % images if images else b''\n"
    "  at = 8 + 2 + 12 * (len(tags) + bool(text) + (2 if images else 0)) + 4\n"
    "  extra = text + (struct.pack('<2I', 4, 1) * 2 if images else b'')\n"
    "  tags = dict(tags)\n"
    "  entries = {t: (3 if t != 273 and t != 279 else 4, 1, v) for t, v in tags.items()}\n"
    "  if images:\n"
    "    entries[270] = (2, len(text), at)\n"
    "    entries[282] = (5, 1, at + len(text)); entries[283] = (5, 1, at + len(text) + 8)\n"
    "  entries[273] = (4, 1, at + len(extra))\n"
    "  body = struct.pack('<H', len(entries))\n"
    "  for t in sorted(entries): body += struct.pack('<HHII', t, *entries[t])\n"
    "  open(f + name, 'wb').write(b'II*\\0' + struct.pack('<I', 8) + body + struct.pack('<I', next) + extra + data)\n"
    "base = {256: 3, 257: 2, 258: 16, 259: 1, 273: 0, 277: 1, 278: 2, 279: 12}\n"
    "tiff('imagej.tif', base, struct.pack('<24H', *range(24)), 4)\n"
    "tiff('short.tif', base, struct.pack('<23H', *range(23)), 4)\n"
    "tiff('ring.tif', base, bytes(12), next=8)\n"
    "tiff('colour.tif', {**base, 277: 3}, bytes(36))\n"
    "tiff('jpeg.tif', {**base, 259: 7}, bytes(36))\n"
    "tiff('bits.tif', {**base, 258: 1}, bytes(36))\n"
    "tiff('outside.tif', {**base, 279: 12}, bytes(2))\n"
    "tiff('few.tif', {**base, 279: 11}, bytes(12))\n"
    "tiff('bomb.tif', {**base, 256: 60000, 257: 60000, 278: 60000, 259: 5, 279: 20}, bytes(20))\n"
    "tiff('broken.tif', {**base, 259: 8}, bytes(12))\n"
    // Every 12 bytes the same hundred entries begin again as another directory, and each names the next.
    "same = struct.pack('<H', 100) + struct.pack('<HHIHH', 254, 3, 1, 1, 100) * 100\n"
    "then = b''.join(struct.pack('<I', 20 + 12 * i) + bytes(8) for i in range(5))\n"
    "open(f + 'overlap.tif', 'wb').write(b'II*\\0' + struct.pack('<I', 8) + same + then)\n"
    "open(f + 'tags.tif', 'wb').write(b'II*\\0' + struct.pack('<IH', 8, 65535))\n"
    "open(f + 'values.tif', 'wb').write(b'II*\\0' + struct.pack('<IHHHII', 8, 1, 256, 4, 1 << 30, 0))\n";

class WrittenTiff : public ::testing::Test {
 protected:
  WrittenTiff() { python(tiff_writer, folder_.path().string()); }
  std::string error(ErrorKind kind, const std::string& name) {
    return error_of(kind, [&] { (void)open_source(folder_.file(name), {}); });
  }
  TemporaryFolder folder_;
};

TEST_F(WrittenTiff, FramesBehindTheOnlyDirectoryOfImageJ) {
  const auto source = open_source(folder_.file("imagej.tif"), {});
  EXPECT_EQ(source->acquisition().frames, 4);
  const auto elements = frames_of(*source);
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(elements[i], i);
  EXPECT_DOUBLE_EQ(source->acquisition().calibration.detector_step_inv_a->value, 0.025);  // 4 pixels per 1/nm
  EXPECT_THAT(error(ErrorKind::bad_file, "short.tif"),
              HasSubstr("short.tif: damaged: the description states 4 images, the file has space for 3"));
}

TEST_F(WrittenTiff, TheShapeThatTifffileDescribesIsThatOfTheScan) {
  python(std::string("import sys, struct, json\nf = sys.argv[1] + '/'\n") +
             "def tiff(name, shape, frames, truncated):\n"
             "  text = json.dumps({'shape': shape, 'truncated': truncated}).encode() + b'\\0'\n"
             "  out = b'II*\\0' + struct.pack('<I', 8)\n"
             "  for n in range(1 if truncated else frames):\n"
             "    at = len(out) + 2 + 12 * 10 + 4\n"
             "    data = b''.join(struct.pack('<6H', *range(6 * i, 6 * i + 6)) for i in range(n, frames if truncated "
             "else n + 1))\n"
             "    tags = {256: 3, 257: 2, 258: 16, 259: 1, 262: 1, 270: at, 273: at + len(text), 277: 1, 278: 2, 279: "
             "12}\n"
             "    out += struct.pack('<H', 10)\n"
             "    for t, v in sorted(tags.items()): out += struct.pack('<HHII', t, *((2, len(text), v) if t == 270 "
             "else (4, 1, v)))\n"
             "    last = truncated or n + 1 == frames\n"
             "    out += struct.pack('<I', 0 if last else at + len(text) + len(data)) + text + data\n"
             "  open(f + name, 'wb').write(out)\n"
             "tiff('scan.tif', [2, 3, 2, 3], 6, False)\n"
             "tiff('truncated.tif', [2, 3, 2, 3], 6, True)\n"
             "tiff('other.tif', [4, 3, 2], 6, False)\n"
             "tiff('lie.tif', [1000, 1000, 2, 3], 6, True)\n",
         folder_.path().string());
  for (const char* name : {"scan.tif", "truncated.tif"}) {
    SCOPED_TRACE(name);
    const auto source = open_source(folder_.file(name), {});
    EXPECT_EQ(source->acquisition().scan.rows, 2);
    EXPECT_EQ(source->acquisition().scan.cols, 3);
    EXPECT_EQ(source->acquisition().scan_because, "the shape in the description");
    const auto elements = frames_of(*source);
    ASSERT_EQ(elements.size(), 36u);
    for (std::size_t i = 0; i < 36; ++i) EXPECT_EQ(elements[i], i);
  }
  // A text whose last two numbers are not rows and columns describes something else.
  EXPECT_THAT(error(ErrorKind::bad_input, "other.tif"), HasSubstr("6 frames: nothing says the shape of the scan"));
  EXPECT_THAT(error(ErrorKind::bad_file, "lie.tif"),
              HasSubstr("the description states 1000000 images, the file has space for"));
}

TEST_F(WrittenTiff, DamagedFilesAreErrors) {
  EXPECT_THAT(error(ErrorKind::bad_file, "ring.tif"), HasSubstr("damaged: its directories form a ring"));
  EXPECT_THAT(error(ErrorKind::bad_file, "overlap.tif"), HasSubstr("damaged: its directories overlap"));
  EXPECT_THAT(error(ErrorKind::bad_file, "outside.tif"), HasSubstr("strip or tile 0 is located outside the file"));
  EXPECT_THAT(error(ErrorKind::bad_file, "few.tif"), HasSubstr("strip or tile 0 has 11 bytes; expected 12"));
  EXPECT_THAT(error(ErrorKind::bad_file, "tags.tif"), HasSubstr("damaged: a directory of 65535 entries at offset 8"));
  EXPECT_THAT(error(ErrorKind::bad_file, "values.tif"), HasSubstr("damaged: tag 256 has 1073741824 values"));
  EXPECT_THAT(error(ErrorKind::bad_file, "bomb.tif"),
              HasSubstr("damaged: a strip or tile of 20 bytes cannot hold 60000 x 60000 pixels"));
}

TEST_F(WrittenTiff, WhatIsNoGreyscaleStackIsRefused) {
  EXPECT_THAT(error(ErrorKind::not_supported, "colour.tif"), HasSubstr("3 values per pixel; greyscale is read"));
  EXPECT_THAT(error(ErrorKind::not_supported, "jpeg.tif"),
              AllOf(HasSubstr("compression 7; none, LZW, Deflate and PackBits are read"), HasSubstr("uncompressed")));
  EXPECT_THAT(error(ErrorKind::not_supported, "bits.tif"), HasSubstr("pixels of 1 bits in sample format 1"));
}

TEST_F(WrittenTiff, ABrokenStripIsAnErrorWhenItIsDecoded) {
  const auto source = open_source(folder_.file("broken.tif"), {});
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)frames_of(*source); }),
              HasSubstr("broken.tif: damaged: page 0, strip or tile 0 (offset 110) does not unpack"));
}

TEST(TiffSegment, LzwThatEndsOrPointsNowhereStops) {
  std::array<std::byte, 64> to{};
  EXPECT_EQ(unpack_lzw({}, to), 0u);
  // Clear (256), then code 300, which nothing defined: 9 bits each.
  const std::array<std::byte, 3> bytes = {std::byte{0x80}, std::byte{0x4b}, std::byte{0x00}};
  EXPECT_EQ(unpack_lzw(bytes, to), 0u);
}

TEST(TiffSegment, PackBitsThatEndEarlyStop) {
  std::array<std::byte, 4> to{};
  const std::array<std::byte, 2> literal = {std::byte{3}, std::byte{9}};  // four bytes follow, but there is one
  EXPECT_EQ(unpack_packbits(literal, to), 1u);
  const std::array<std::byte, 1> run = {std::byte{0xff}};
  EXPECT_EQ(unpack_packbits(run, to), 0u);
}

}  // namespace
}  // namespace sonde::stem
