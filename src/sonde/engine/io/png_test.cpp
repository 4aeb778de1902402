// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/png.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "sonde/engine/io/npy.h"
#include "tests/support/child.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"
#include "tests/support/ramp.h"

namespace sonde {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::ramp;
using testing::TemporaryFolder;

/// Reads PNG by its specification (Python's zlib, filters undone by hand) and prints IHDR and the sum of all bytes.
constexpr const char* independent_png_reader =
    "import sys, zlib, struct\n"
    "b = open(sys.argv[1], 'rb').read()\n"
    "assert b[:8] == b'\\x89PNG\\r\\n\\x1a\\n'\n"
    "at, data, text = 8, b'', b''\n"
    "while at < len(b):\n"
    "  n, kind = struct.unpack('>I4s', b[at:at + 8])\n"
    "  body = b[at + 8:at + 8 + n]\n"
    "  assert zlib.crc32(kind + body) == struct.unpack('>I', b[at + 8 + n:at + 12 + n])[0]\n"
    "  if kind == b'IHDR': cols, rows, bits, colour = struct.unpack('>IIBB', body[:10])\n"
    "  if kind == b'IDAT': data += body\n"
    "  if kind == b'iTXt': text = body\n"
    "  at += 12 + n\n"
    "channels = {0: 1, 2: 3, 6: 4}[colour]\n"
    "bpp = channels * bits // 8\n"
    "raw, stride, out, prev = zlib.decompress(data), cols * bpp, [], bytes(cols * bpp)\n"
    "for r in range(rows):\n"
    "  f, line = raw[r * (stride + 1)], bytearray(raw[r * (stride + 1) + 1:(r + 1) * (stride + 1)])\n"
    "  for i in range(stride):\n"
    "    a, u, c = (line[i - bpp] if i >= bpp else 0), prev[i], (prev[i - bpp] if i >= bpp else 0)\n"
    "    p = a + u - c\n"
    "    paeth = a if abs(p - a) <= abs(p - u) and abs(p - a) <= abs(p - c) else u if abs(p - u) <= abs(p - c) else c\n"
    "    line[i] = (line[i] + [0, a, u, (a + u) // 2, paeth][f]) & 255\n"
    "  out.append(bytes(line)); prev = bytes(line)\n"
    "print(rows, cols, bits, colour, out[-1].hex(), text.decode())\n";

TEST(Png, GreyIsReadIndependently) {
  const TemporaryFolder folder;
  write_png(folder.file("a.png"), ramp<std::uint8_t>({3, 4}, 10));
  EXPECT_THAT(testing::python(independent_png_reader, folder.file("a.png")), HasSubstr("3 4 8 0 505a646e"));
}

TEST(Png, SixteenBitsAreStoredBigEndian) {
  const TemporaryFolder folder;
  write_png(folder.file("a.png"), ramp<std::uint16_t>({2, 2}, 1000));
  EXPECT_THAT(testing::python(independent_png_reader, folder.file("a.png")),
              HasSubstr("2 2 16 0 07d00bb8"));  // 2000, 3000
}

TEST(Png, ColourAndDescriptionAreReadIndependently) {
  const TemporaryFolder folder;
  write_png(folder.file("rgb.png"), ramp<std::uint8_t>({1, 2, 3}, 1));
  EXPECT_THAT(testing::python(independent_png_reader, folder.file("rgb.png")), HasSubstr("1 2 8 2 000102030405"));
  write_png(folder.file("rgba.png"), ramp<std::uint8_t>({2, 1, 4}, 1), "{\"dose\": 5}");
  EXPECT_THAT(testing::python(independent_png_reader, folder.file("rgba.png")),
              AllOf(HasSubstr("2 1 8 6 04050607"), HasSubstr("{\"dose\": 5}")));
}

TEST(Png, GreyReadsBackUnchanged) {
  const Array small = ramp<std::uint8_t>({5, 7}, 3), deep = ramp<std::uint16_t>({5, 7}, 1777);
  const Array small_back = decode_png(encode_png(small), "a.png"), deep_back = decode_png(encode_png(deep), "a.png");
  ASSERT_EQ(small_back.dtype(), DType::u8);
  ASSERT_EQ(deep_back.dtype(), DType::u16);
  EXPECT_EQ(std::memcmp(small.data(), small_back.data(), 35), 0);
  EXPECT_EQ(std::memcmp(deep.data(), deep_back.data(), 70), 0);
}

TEST(Png, OneBitMasksAreStretched) {
  const TemporaryFolder folder;
  testing::python(
      "import sys, zlib, struct\n"
      "chunk = lambda kind, body: struct.pack('>I', len(body)) + kind + body + "
      "struct.pack('>I', zlib.crc32(kind + body))\n"
      "open(sys.argv[1], 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 9, 1, 1, 0, 0, "
      "0, 0))\n"
      "  + chunk(b'IDAT', zlib.compress(b'\\0\\x81\\x80')) + chunk(b'IEND', b''))\n",
      folder.file("mask.png"));
  const Array mask = read_png(folder.file("mask.png"));
  EXPECT_EQ(mask.shape(), (Shape{1, 9}));
  const auto* values = static_cast<const std::uint8_t*>(mask.data());
  EXPECT_EQ(std::vector<int>(values, values + 9), (std::vector<int>{255, 0, 0, 0, 0, 0, 0, 255, 255}));
}

TEST(Png, ColourIsNotReadAsAMask) {
  const auto bytes = encode_png(ramp<std::uint8_t>({2, 2, 3}, 1));
  EXPECT_EQ(testing::error_of(ErrorKind::not_supported, [&] { (void)decode_png(bytes, "mask.png"); }),
            "error: mask.png: is a PNG with colour, a palette or transparency\n"
            "hint: save it as plain greyscale of 8 or 16 bits");
}

TEST(Png, ShortAndForeignFilesAreErrors) {
  auto bytes = encode_png(ramp<std::uint8_t>({50, 70}, 3));
  bytes.resize(bytes.size() / 2);
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { (void)decode_png(bytes, "a.png"); }),
              HasSubstr("a.png: not a valid PNG image: the file ends early"));
  const std::vector<std::byte> zeros(100);
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { (void)decode_png(zeros, "a.png"); }),
              HasSubstr("Not a PNG file"));
}

TEST(Png, SizesThatCannotBeTrueAreNotAllocated) {
  auto bytes = encode_png(ramp<std::uint8_t>({2, 2}, 1));
  bytes[16] = bytes[20] = std::byte{0x00};
  bytes[17] = bytes[21] = std::byte{0x0f};  // 983042 x 983042 pixels
  // The CRC of the header, computed with Python's zlib: any other value is refused before the size is seen.
  const TemporaryFolder folder;
  testing::write_bytes(folder.file("a.png"), {});
  std::string hex;
  for (std::size_t i = 12; i < 29; ++i) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", static_cast<unsigned>(bytes[i]));
    hex += text;
  }
  const std::string crc = testing::python("import sys, zlib\nprint(zlib.crc32(bytes.fromhex(sys.argv[1])))\n", hex);
  const auto value = static_cast<std::uint32_t>(std::stoul(crc));
  for (std::size_t i = 0; i < 4; ++i) bytes[29 + i] = static_cast<std::byte>(value >> (24 - 8 * i));
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { (void)decode_png(bytes, "a.png"); }),
              HasSubstr("not a valid PNG image"));
}

TEST(Png, OtherArraysAreRefused) {
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input,
                                [] {
                                  (void)encode_png(ramp<float>({2, 2}, 1));
                                }),
              AllOf(HasSubstr("an array of f32 with shape (2, 2)"), HasSubstr("hint: PNG holds")));
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input,
                                [] {
                                  (void)encode_png(ramp<std::uint8_t>({0, 2}, 1));
                                }),
              HasSubstr("shape (0, 2)"));
}

TEST(Png, FullDiskLeavesNothing) {
  const TemporaryFolder folder;
  const std::string text = testing::text_from_child([&] {
    testing::limit_file_size(20);
    write_png(folder.file("a.png"), ramp<std::uint8_t>({50, 70}, 3));
    return std::string("written");
  });
  EXPECT_THAT(text, HasSubstr("a.png: writing"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace sonde
