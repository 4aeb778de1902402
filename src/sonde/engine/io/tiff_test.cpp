// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/tiff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

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

/// Walks the directories of a little-endian classic TIFF by its specification and prints tags, description and the last
/// pixel of each page.
constexpr const char* independent_tiff_reader =
    "import sys, struct, numpy as np\n"
    "b = open(sys.argv[1], 'rb').read()\n"
    "assert b[:4] == b'II*\\0'\n"
    "at = struct.unpack('<I', b[4:8])[0]\n"
    "size = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8}\n"
    "while at:\n"
    "  n = struct.unpack('<H', b[at:at + 2])[0]\n"
    "  tags = {}\n"
    "  for i in range(n):\n"
    "    tag, kind, count = struct.unpack('<HHI', b[at + 2 + 12 * i:at + 10 + 12 * i])\n"
    "    where = at + 10 + 12 * i\n"
    "    if size[kind] * count > 4: where = struct.unpack('<I', b[where:where + 4])[0]\n"
    "    v = b[where:where + size[kind] * count]\n"
    "    tags[tag] = {2: lambda: v[:-1].decode(), 3: lambda: struct.unpack('<H', v[:2])[0],\n"
    "      4: lambda: struct.unpack('<I', v[:4])[0], 5: lambda: np.divide(*struct.unpack('<II', "
    "v[:8])).round(6)}[kind]()\n"
    "  dtype = {(1, 8): 'u1', (1, 16): '<u2', (1, 32): '<u4', (3, 32): '<f4'}[tags[339], tags[258]]\n"
    "  a = np.frombuffer(b, dtype, tags[256] * tags[257], tags[273])\n"
    "  print(tags[257], tags[256], dtype, a[-1], tags.get(282), tags.get(283), repr(tags.get(270)))\n"
    "  at = struct.unpack('<I', b[at + 2 + 12 * n:at + 6 + 12 * n])[0]\n";

TEST(Tiff, CarriesPixelSizeAndUnitForImageJ) {
  const TemporaryFolder folder;
  TiffTags tags;
  tags.row_step = 0.25;
  tags.col_step = 0.5;
  tags.unit = "nm";
  tags.description = "sonde={\"dose\": 5}";
  write_tiff(folder.file("a.tif"), ramp<float>({3, 4}, 2), tags);
  EXPECT_EQ(testing::python(independent_tiff_reader, folder.file("a.tif")),
            "3 4 <f4 22.0 2.0 4.0 'ImageJ=1.11a\\nunit=nm\\nsonde={\"dose\": 5}\\n'\n");
}

TEST(Tiff, EveryTypeIsReadIndependently) {
  const TemporaryFolder folder;
  const auto read = [&](const Array& image) {
    write_tiff(folder.file("a.tif"), image);
    return testing::python(independent_tiff_reader, folder.file("a.tif"));
  };
  EXPECT_THAT(read(ramp<std::uint8_t>({2, 3}, 20)), HasSubstr("2 3 u1 100 None"));
  EXPECT_THAT(read(ramp<std::uint16_t>({2, 3}, 12000)), HasSubstr("2 3 <u2 60000 None"));
  EXPECT_THAT(read(ramp<std::uint32_t>({2, 3}, 800000000)), HasSubstr("2 3 <u4 4000000000 None"));
}

TEST(Tiff, StacksHaveOnePageEach) {
  const TemporaryFolder folder;
  write_tiff(folder.file("a.tif"), ramp<std::uint16_t>({3, 2, 2}, 1));
  EXPECT_EQ(testing::python(independent_tiff_reader, folder.file("a.tif")),
            "2 2 <u2 3 None None 'ImageJ=1.11a\\nimages=3\\nslices=3\\n'\n"
            "2 2 <u2 7 None None None\n"
            "2 2 <u2 11 None None None\n");
}

TEST(Tiff, ReadsBackWhatWasWritten) {
  const TemporaryFolder folder;
  for (const Array& image : {ramp<std::uint8_t>({5, 7}, 3), ramp<std::uint16_t>({5, 7}, 1777),
                             ramp<std::uint32_t>({5, 7}, 100000000), ramp<float>({5, 7}, 3)}) {
    SCOPED_TRACE(name(image.dtype()));
    write_tiff(folder.file("a.tif"), image);
    const Array back = read_tiff(folder.file("a.tif"));
    ASSERT_EQ(back.dtype(), image.dtype());
    ASSERT_EQ(back.shape(), image.shape());
    EXPECT_EQ(std::memcmp(back.data(), image.data(), image.allocated_bytes()), 0);
  }
}

TEST(Tiff, ReadsBigEndianMasks) {
  const TemporaryFolder folder;
  testing::python(
      "import sys, struct\n"
      "tags = [(256, 3, 2 << 16), (257, 3, 1 << 16), (258, 3, 16 << 16), (259, 3, 1 << 16), (262, 3, 1 << 16),\n"
      "        (273, 4, 8), (277, 3, 1 << 16), (278, 3, 1 << 16), (279, 4, 4)]\n"
      "with open(sys.argv[1], 'wb') as f:\n"
      "  f.write(b'MM\\0*' + struct.pack('>I', 12) + struct.pack('>HH', 258, 65535) + struct.pack('>H', len(tags)))\n"
      "  for tag, kind, value in tags: f.write(struct.pack('>HHII', tag, kind, 1, value))\n"
      "  f.write(struct.pack('>I', 0))\n",
      folder.file("mask.tif"));
  const Array mask = read_tiff(folder.file("mask.tif"));
  EXPECT_EQ((mask.view<std::uint16_t, 2>()(0, 0)), 258);
  EXPECT_EQ((mask.view<std::uint16_t, 2>()(0, 1)), 65535);
}

TEST(Tiff, SeveralPagesAreNoMask) {
  const TemporaryFolder folder;
  write_tiff(folder.file("a.tif"), ramp<std::uint8_t>({2, 3, 3}, 1));
  EXPECT_THAT(testing::error_of(ErrorKind::not_supported, [&] { (void)read_tiff(folder.file("a.tif")); }),
              AllOf(HasSubstr("a.tif: is a TIFF of several pages, expected one"), HasSubstr("hint: ")));
}

TEST(Tiff, ShortAndForeignFilesAreErrors) {
  const TemporaryFolder folder;
  write_tiff(folder.file("a.tif"), ramp<std::uint16_t>({20, 30}, 1));
  auto bytes = testing::read_bytes(folder.file("a.tif"));
  bytes.resize(600);
  testing::write_bytes(folder.file("short.tif"), bytes);
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { (void)read_tiff(folder.file("short.tif")); }),
              HasSubstr("short.tif: not a valid TIFF image: "));
  testing::write_bytes(folder.file("text.tif"), {'n', 'o', ' ', 't', 'i', 'f', 'f', '.', '.'});
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { (void)read_tiff(folder.file("text.tif")); }),
              HasSubstr("Not a TIFF"));
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { (void)read_tiff(folder.file("none.tif")); }),
              HasSubstr("no such file"));
}

TEST(Tiff, OtherArraysAreRefused) {
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input,
                                [] {
                                  write_tiff("/nowhere/a.tif", ramp<double>({2, 2}, 1));
                                }),
              HasSubstr("an array of f64 with shape (2, 2) cannot be written as TIFF"));
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input,
                                [] {
                                  write_tiff("/nowhere/a.tif", ramp<std::uint8_t>({2, 0}, 1));
                                }),
              HasSubstr("shape (2, 0)"));
}

TEST(Tiff, FullDiskLeavesNothing) {
  const TemporaryFolder folder;
  const std::string text = testing::text_from_child([&] {
    testing::limit_file_size(4096);
    write_tiff(folder.file("a.tif"), ramp<float>({100, 100}, 1));
    return std::string("written");
  });
  EXPECT_THAT(text, HasSubstr("a.tif: writing an image of 39.1 KiB failed"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace sonde
