// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/mark.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/checkpoint.h"
#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/engine/io/png.h"
#include "sonde/engine/io/tiff.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

using testing::TemporaryFolder;

Array small_image() { return Array::from<std::uint8_t>({0, 50, 100, 150, 200, 250}, {2, 3}); }

std::string written(const TemporaryFolder& folder, const std::string& text) {
  std::ofstream(folder.file("file"), std::ios::binary) << text;
  return folder.file("file");
}

TEST(Mark, OwnPicturesAreKnown) {
  const TemporaryFolder folder;
  write_png(folder.file("a.png"), small_image(), std::string(100000, 'd'));
  EXPECT_EQ(mark_of(folder.file("a.png")), FileMark::picture);
  write_tiff(folder.file("a.tif"), small_image());
  EXPECT_EQ(mark_of(folder.file("a.tif")), FileMark::picture);
}

TEST(Mark, PicturesOfOthersAreNot) {
  const TemporaryFolder folder;
  testing::python(
      "import struct, sys\n"
      "tags = [(256, 4, 1, 1), (257, 4, 1, 1), (305, 2, 4, int.from_bytes(b'abc\\0', 'little'))]\n"
      "open(sys.argv[1], 'wb').write(b'II*\\0' + struct.pack('<IH', 8, len(tags))\n"
      "    + b''.join(struct.pack('<HHII', *tag) for tag in tags) + bytes(8))\n",
      folder.file("b.tif"));
  EXPECT_EQ(mark_of(folder.file("b.tif")), FileMark::none);
}

TEST(Mark, DrawingsOfOtherProgramsAreMarked) {
  const TemporaryFolder folder;
  for (const std::string& text :
       {std::string("%PDF-1.5\nstuff\n%%EOF\n"), std::string("<?xml version=\"1.0\"?>\n<svg width=\"3\"></svg>")}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(mark_of(written(folder, text)), FileMark::none);
    EXPECT_EQ(mark_of(written(folder, marked_picture(text))), FileMark::picture);
  }
}

TEST(Mark, AMarkedPngIsStillThatPicture) {
  const TemporaryFolder folder;
  testing::python(
      "import struct, sys, zlib\n"
      "def chunk(kind, data):\n"
      "    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))\n"
      "rows = b'\\0\\x07\\x08' + b'\\0\\x09\\x0a'\n"
      "open(sys.argv[1], 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n'\n"
      "    + chunk(b'IHDR', struct.pack('>IIBBBBB', 2, 2, 8, 0, 0, 0, 0))\n"
      "    + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))\n",
      folder.file("c.png"));
  EXPECT_EQ(mark_of(folder.file("c.png")), FileMark::none);
  const auto bytes = testing::read_bytes(folder.file("c.png"));
  const std::string path = written(folder, marked_picture(std::string(bytes.begin(), bytes.end())));
  EXPECT_EQ(mark_of(path), FileMark::picture);
  const Array image = read_png(path);
  const auto pixels = image.view<std::uint8_t, 2>();
  EXPECT_EQ(pixels(0, 0), 7);
  EXPECT_EQ(pixels(1, 1), 10);
}

TEST(Mark, JsonIsKnownByItsSchema) {
  const TemporaryFolder folder;
  EXPECT_EQ(mark_of(written(folder, "{\n  \"schema\": \"sonde.report/1\"\n}\n")), FileMark::json);
  EXPECT_EQ(mark_of(written(folder, "{\"schema\":\"sonde.result/1\"}")), FileMark::json);
  EXPECT_EQ(mark_of(written(folder, "{\"schema\": \"other/1\"}")), FileMark::none);
  EXPECT_EQ(mark_of(written(folder, "{\"a\": 1}")), FileMark::none);
}

TEST(Mark, LogsAreKnownByTheirHead) {
  const TemporaryFolder folder;
  EXPECT_EQ(mark_of(written(folder, "{\"schema\":\"sonde.log/1\"}\n{\"iteration\":1}\n")), FileMark::text);
  EXPECT_EQ(mark_of(written(folder, "<?xml?>\n<!-- made by sonde -->\n<VTKFile>\n")), FileMark::text);
  EXPECT_EQ(mark_of(written(folder, "<?xml?>\n<VTKFile>\n")), FileMark::none);
  EXPECT_EQ(mark_of(written(folder, "{\"iteration\":1}\n")), FileMark::none);
  EXPECT_EQ(mark_of(written(folder, "my notes on sonde\n")), FileMark::none);
}

TEST(Mark, PagesAreKnownByTheirGenerator) {
  const TemporaryFolder folder;
  EXPECT_EQ(mark_of(written(folder, "<!DOCTYPE html>\n<html><head><meta name=\"generator\" content=\"sonde\">")),
            FileMark::page);
  EXPECT_EQ(mark_of(written(folder, "<!DOCTYPE html>\n<html><head></head>")), FileMark::none);
}

TEST(Mark, CheckpointsAreKnownByTheirSealAndResultsByTheirSchema) {
  const TemporaryFolder folder;
  CheckpointWriter checkpoint(folder.file("run.ckpt.h5"), {"test", 1}, 3, "");
  checkpoint.finish();
  EXPECT_EQ(mark_of(folder.file("run.ckpt.h5")), FileMark::hdf5);
  Hdf5Writer result(folder.file("result.h5"));
  result.attribute("/", "schema", std::string("sonde.ptycho.result/1"));
  result.finish();
  EXPECT_EQ(mark_of(folder.file("result.h5")), FileMark::hdf5);
  Hdf5Writer other(folder.file("other.h5"));
  other.finish();
  EXPECT_EQ(mark_of(folder.file("other.h5")), FileMark::none);
}

TEST(Mark, AnEmptyFileMayBeReplacedAndAnotherKindMayNot) {
  const TemporaryFolder folder;
  EXPECT_TRUE(may_replace(written(folder, ""), FileMark::json));
  EXPECT_TRUE(may_replace(written(folder, "{\"schema\": \"sonde.report/1\"}"), FileMark::json));
  EXPECT_FALSE(may_replace(written(folder, "{\"schema\": \"sonde.report/1\"}"), FileMark::picture));
  EXPECT_FALSE(may_replace(written(folder, "notes"), FileMark::text));
}

}  // namespace
}  // namespace sonde
