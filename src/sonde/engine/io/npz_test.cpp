// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/npz.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>

#include "sonde/engine/io/npy.h"
#include "sonde/engine/io/zip.h"
#include "tests/support/child.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryFolder;

std::vector<NamedArray> example() {
  std::vector<std::uint16_t> counts(20000);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = static_cast<std::uint16_t>(i / 7);
  std::vector<NamedArray> arrays;
  arrays.push_back({"counts", Array::from(counts, {100, 200})});
  arrays.push_back({"centre", Array::from<double>({95.5, 94.25}, {2})});
  arrays.push_back({"nothing", Array(Device::cpu(), {0, 4}, DType::f32)});
  return arrays;
}

class NpzOfEachMethod : public ::testing::TestWithParam<ZipMethod> {};

TEST_P(NpzOfEachMethod, IsReadByNumPyAndUnzip) {
  const TemporaryFolder folder;
  write_npz(folder.file("a.npz"), example(), GetParam());
  EXPECT_EQ(testing::python("import sys, numpy as np, zipfile\n"
                            "z = np.load(sys.argv[1])\n"
                            "print(list(z), z['counts'].shape, z['counts'].sum(), z['centre'], z['nothing'].shape)\n"
                            "print(zipfile.ZipFile(sys.argv[1]).testzip())\n",
                            folder.file("a.npz")),
            "['counts', 'centre', 'nothing'] (100, 200) 28561429 [95.5  94.25] (0, 4)\nNone\n");
}

TEST_P(NpzOfEachMethod, ReadsBackUnchanged) {
  const TemporaryFolder folder;
  const auto arrays = example();
  write_npz(folder.file("a.npz"), arrays, GetParam());
  const auto back = read_npz(folder.file("a.npz"));
  ASSERT_EQ(back.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    SCOPED_TRACE(arrays[i].name);
    EXPECT_EQ(back[i].name, arrays[i].name);
    ASSERT_EQ(back[i].array.shape(), arrays[i].array.shape());
    ASSERT_EQ(back[i].array.dtype(), arrays[i].array.dtype());
    const std::size_t bytes = arrays[i].array.allocated_bytes();
    EXPECT_TRUE(bytes == 0 || std::memcmp(back[i].array.data(), arrays[i].array.data(), bytes) == 0);
  }
}

INSTANTIATE_TEST_SUITE_P(, NpzOfEachMethod, ::testing::Values(ZipMethod::stored, ZipMethod::deflated),
                         [](const auto& each) { return each.param == ZipMethod::stored ? "stored" : "deflated"; });

TEST(ZipReader, SaysWhereTheBytesOfAStoredEntryAre) {
  const TemporaryFolder folder;
  testing::python(
      "import sys, zipfile\n"
      "with zipfile.ZipFile(sys.argv[1], 'w') as z:\n"
      "  z.writestr('first', 'x' * 1000)\n"
      "  z.writestr('second', 'the bytes')\n"
      "  z.writestr('packed', 'y' * 1000, zipfile.ZIP_DEFLATED)\n",
      folder.file("a.zip"));
  const ZipReader zip(folder.file("a.zip"));
  const auto whole = testing::read_bytes(folder.file("a.zip"));
  const auto at = zip.offset(zip.entries()[1]);
  EXPECT_EQ(
      std::string(whole.begin() + static_cast<std::ptrdiff_t>(at), whole.begin() + static_cast<std::ptrdiff_t>(at) + 9),
      "the bytes");
  const auto bytes = std::as_bytes(std::span(whole)).subspan(at, 9);
  zip.check(zip.entries()[1], bytes);
  EXPECT_EQ(testing::error_of(ErrorKind::bad_file, [&] { zip.check(zip.entries()[1], bytes.first(8)); }),
            "error: " + folder.file("a.zip") +
                ": not a valid ZIP archive: second: its checksum is wrong\nhint: the copy may be incomplete");
  EXPECT_EQ(testing::error_of(ErrorKind::not_supported, [&] { static_cast<void>(zip.offset(zip.entries()[2])); }),
            "error: " + folder.file("a.zip") + ": packed is deflated; expected a stored entry");
}

TEST(Npz, ReadsWhatNumPyWrites) {
  const TemporaryFolder folder;
  testing::python(
      "import sys, numpy as np\n"
      "a = np.arange(6, dtype='>u4').reshape(2, 3)\n"
      "np.savez(sys.argv[1] + '/stored.npz', a=a, b=np.float32(1.5))\n"
      "np.savez_compressed(sys.argv[1] + '/packed.npz', a=a, b=np.float32(1.5))\n",
      folder.path().string());
  for (const char* name : {"stored.npz", "packed.npz"}) {
    SCOPED_TRACE(name);
    const auto arrays = read_npz(folder.file(name));
    ASSERT_EQ(arrays.size(), 2u);
    EXPECT_EQ(arrays[1].name, "b");
    EXPECT_EQ((arrays[0].array.view<std::uint32_t, 2>()(1, 2)), 5u);
  }
}

/// A small valid archive as bytes.
std::vector<std::uint8_t> archive(ZipMethod method) {
  const TemporaryFolder folder;
  write_npz(folder.file("a.npz"), example(), method);
  return testing::read_bytes(folder.file("a.npz"));
}

std::string error_of_archive(const std::vector<std::uint8_t>& bytes) {
  const TemporaryFolder folder;
  testing::write_bytes(folder.file("a.npz"), bytes);
  return testing::error_of(ErrorKind::bad_file, [&] { (void)read_npz(folder.file("a.npz")); });
}

TEST(Npz, CutArchivesAreErrors) {
  auto bytes = archive(ZipMethod::stored);
  bytes.resize(bytes.size() - 30);
  EXPECT_THAT(error_of_archive(bytes), HasSubstr("a.npz: not a valid ZIP archive: it has no end record"));
  bytes.resize(10);
  EXPECT_THAT(error_of_archive(bytes), HasSubstr("it is too short"));
}

TEST(Npz, ChangedBytesAreFoundByTheChecksum) {
  auto bytes = archive(ZipMethod::stored);
  bytes[2000] ^= 1;
  EXPECT_THAT(error_of_archive(bytes), HasSubstr("counts.npy: its checksum is wrong"));
}

TEST(Npz, BrokenPackingIsFound) {
  auto bytes = archive(ZipMethod::deflated);
  for (std::size_t i = 200; i < 240; ++i) bytes[i] = 0xff;
  EXPECT_THAT(error_of_archive(bytes), HasSubstr("counts.npy: its packed bytes are broken"));
}

TEST(Npz, SizesThatCannotBeTrueAreNotAllocated) {
  auto bytes = archive(ZipMethod::deflated);
  // The ZIP64 field of the first directory entry: 46 bytes, the name, then identifier and length.
  const std::array<std::uint8_t, 4> signature = {'P', 'K', 1, 2};
  const auto entry = std::search(bytes.begin(), bytes.end(), signature.begin(), signature.end());
  ASSERT_NE(entry, bytes.end());
  *(entry + 46 + 10 + 4 + 6) = 0x7f;  // "counts.npy"; the size becomes 2^54 and more
  EXPECT_THAT(error_of_archive(bytes), HasSubstr("cannot come from"));
}

TEST(Npz, FullDiskLeavesNothing) {
  const TemporaryFolder folder;
  const std::string text = testing::text_from_child([&] {
    testing::limit_file_size(4096);
    write_npz(folder.file("a.npz"), example());
    return std::string("written");
  });
  EXPECT_THAT(text, HasSubstr("a.npz: writing"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Npz, TextsAreTextsToNumPyToo) {
  const TemporaryFolder folder;
  const std::vector<std::string> texts = {"m^-3 T^-2", "", "ν = 1 µ, 𝛴", "two\nlines"};
  std::vector<NamedArray> arrays = example();
  for (std::size_t i = 0; i < texts.size(); ++i) arrays.push_back({.name = fmt::format("t{}", i), .text = texts[i]});
  arrays.push_back({.name = "bad", .text = std::string("a\xff\xc3")});
  write_npz(folder.file("a.npz"), arrays);
  EXPECT_EQ(
      testing::python("import sys, numpy as np\n"
                      "z = np.load(sys.argv[1])\n"
                      "assert [str(z[f't{i}']) for i in range(4)] == ['m^-3 T^-2', '', 'ν = 1 µ, 𝛴', 'two\\nlines']\n"
                      "assert z['t0'].shape == () and str(z['bad']) == 'a\\ufffd\\ufffd'\n"
                      "np.savez(sys.argv[1] + 'back.npz', **z)\n",
                      folder.file("a.npz")),
      "");
  for (const char* name : {"a.npz", "a.npzback.npz"}) {
    SCOPED_TRACE(name);
    const std::vector<NamedArray> back = read_npz(folder.file(name));
    ASSERT_EQ(back.size(), arrays.size());
    for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(back[3 + i].text, texts[i]);
    EXPECT_FALSE(back[0].text);
  }
}

TEST(Npz, ATextThatIsCutOffOrNoneIsNamed) {
  const std::string file = npy_of_text("abc");
  const auto bytes = std::as_bytes(std::span(file));
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { (void)parse_npy_text(bytes.first(bytes.size() - 1), "x"); }),
              HasSubstr("x: ends inside its text"));
  std::string surrogate = file;
  surrogate[surrogate.size() - 3] = static_cast<char>(0xd8);
  EXPECT_THAT(
      testing::error_of(ErrorKind::bad_file, [&] { (void)parse_npy_text(std::as_bytes(std::span(surrogate)), "x"); }),
      HasSubstr("is not a character"));
}

}  // namespace
}  // namespace sonde
