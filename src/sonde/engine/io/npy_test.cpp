// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/child.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// A version 1 file with this header text and the bytes 1, 2, 3, ... as data.
std::vector<std::byte> file_with(std::string text, std::size_t data_bytes) {
  text = std::string("\x93NUMPY\1\0", 8) + static_cast<char>(text.size() & 0xff) + static_cast<char>(text.size() >> 8) +
         text;
  for (std::size_t i = 1; i <= data_bytes; ++i) text += static_cast<char>(i);
  return bytes_of(text);
}

std::string error_of_header(ErrorKind kind, const std::string& text, std::size_t data_bytes = 64) {
  return testing::error_of(kind, [&] { (void)parse_npy(file_with(text, data_bytes), "a.npy"); });
}

TEST(Npy, EveryTypeIsReadByNumPy) {
  const TemporaryFolder folder;
  std::string expected;
  for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64, DType::i8, DType::i16, DType::i32,
                            DType::i64, DType::f32, DType::f64, DType::c64, DType::c128}) {
    // The first byte of each little-endian integer holds 0, 1, ..., 23, with sum 276; the others stay zero.
    Array array = Array::zeros(Device::cpu(), {2, 3, 4}, dtype);
    const bool integers = dtype <= DType::i64;
    for (std::size_t i = 0; integers && i < 24; ++i)
      static_cast<std::byte*>(array.data())[i * size_bytes(dtype)] = static_cast<std::byte>(i);
    write_npy(folder.file(std::string(name(dtype)) + ".npy"), array);
    expected += std::string(name(dtype)) + (integers ? " (2, 3, 4) 276 True\n" : " (2, 3, 4) 0 True\n");
  }
  const std::string output = testing::python(
      "import sys, numpy\n"
      "for name in 'u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 c64 c128'.split():\n"
      "  a = numpy.load(f'{sys.argv[1]}/{name}.npy')\n"
      "  print(f'{a.dtype.kind}{8 * a.itemsize}', a.shape, int(abs(a).sum()), a.flags.c_contiguous)\n",
      folder.path().string());
  EXPECT_EQ(output, expected);
}

TEST(Npy, ReadsWhatNumPyWrites) {
  const TemporaryFolder folder;
  testing::python(
      "import sys, numpy as np\n"
      "from numpy.lib import format\n"
      "f = sys.argv[1]\n"
      "np.save(f + '/u2.npy', np.arange(24, dtype='<u2').reshape(2, 3, 4) * 1000)\n"
      "np.save(f + '/big_u4.npy', np.arange(6, dtype='>u4').reshape(2, 3) * 70000)\n"
      "np.save(f + '/big_c8.npy', np.array([1 - 2j, 3.5 + 4j], dtype='>c8'))\n"
      "np.save(f + '/bool.npy', np.array([True, False, True]))\n"
      "np.save(f + '/scalar.npy', np.float64(2.5))\n"
      "np.save(f + '/empty.npy', np.zeros((0, 5), dtype='i2'))\n"
      "for version in (2, 3):\n"
      "  with open(f + f'/v{version}.npy', 'wb') as out:\n"
      "    format.write_array(out, np.array([1.5, -2.5], dtype='<f4'), version=(version, 0))\n",
      folder.path().string());
  EXPECT_EQ((read_npy(folder.file("u2.npy")).view<std::uint16_t, 3>()(1, 2, 3)), 23000);
  EXPECT_EQ((read_npy(folder.file("big_u4.npy")).view<std::uint32_t, 2>()(1, 2)), 350000u);
  EXPECT_EQ((read_npy(folder.file("big_c8.npy")).view<complex64, 1>()(1)), complex64(3.5f, 4.0f));
  EXPECT_EQ((read_npy(folder.file("bool.npy")).view<std::uint8_t, 1>()(2)), 1);
  const Array scalar = read_npy(folder.file("scalar.npy"));
  EXPECT_EQ(scalar.shape().rank(), 0);
  EXPECT_EQ(*static_cast<const double*>(scalar.data()), 2.5);
  EXPECT_EQ(read_npy(folder.file("empty.npy")).shape(), (Shape{0, 5}));
  EXPECT_EQ((read_npy(folder.file("v2.npy")).view<float, 1>()(1)), -2.5f);
  EXPECT_EQ((read_npy(folder.file("v3.npy")).view<float, 1>()(0)), 1.5f);
}

TEST(Npy, StridedArraysAreWrittenDense) {
  const TemporaryFolder folder;
  Array pitched = Array::pitched(Device::cpu(), {2, 3}, DType::u16, 64);
  for (Index row = 0; row < 2; ++row)
    for (Index col = 0; col < 3; ++col)
      pitched.view<std::uint16_t, 2>()(row, col) = static_cast<std::uint16_t>(10 * row + col);
  write_npy(folder.file("a.npy"), pitched);
  const Array back = read_npy(folder.file("a.npy"));
  EXPECT_EQ((back.view<std::uint16_t, 2>()(1, 2)), 12);
}

TEST(Npy, HeaderAlignsTheData) {
  const std::string header = npy_header(DType::u16, {512, 512, 192, 192});
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(header.back(), '\n');
}

TEST(Npy, FortranOrderIsReadAsNumPyShowsIt) {
  const TemporaryFolder folder;
  testing::python(
      "import sys, numpy as np\n"
      "a = np.arange(24, dtype='<u2').reshape(2, 3, 4)\n"
      "np.save(sys.argv[1] + '/a.npy', np.asfortranarray(a))\n"
      "np.save(sys.argv[1] + '/big.npy', np.asfortranarray(a.astype('>c16') * 1j))\n",
      folder.path().string());
  const Array array = read_npy(folder.file("a.npy")), big = read_npy(folder.file("big.npy"));
  ASSERT_EQ(array.shape(), (Shape{2, 3, 4}));
  for (Index i = 0; i < 24; ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(static_cast<const std::uint16_t*>(array.data())[i], i);
    EXPECT_EQ(static_cast<const complex128*>(big.data())[i], complex128(0, static_cast<double>(i)));
  }
}

TEST(Npy, FortranOrderOfAnEmptyArrayIsEmpty) {
  EXPECT_EQ(parse_npy(file_with("{'descr': '<u2', 'fortran_order': True, 'shape': (2, 0, 3), }", 0), "a.npy").shape(),
            (Shape{2, 0, 3}));
}

TEST(Npy, FortranOrderIsRefusedWithTheRemedyWhereDataAreStreamed) {
  const TemporaryFolder folder;
  testing::python("import sys, numpy as np\nnp.save(sys.argv[1], np.zeros((2, 3), order='F'))\n", folder.file("a.npy"));
  const std::string text =
      testing::error_of(ErrorKind::not_supported, [&] { (void)read_npy_header(File(folder.file("a.npy"))); });
  EXPECT_EQ(text, "error: " + folder.file("a.npy") +
                      ": the array is stored in Fortran order\n"
                      "hint: store it in C order: numpy.save(path, numpy.ascontiguousarray(array))");
}

TEST(Npy, FortranOrderOfOneDimensionIsTheSame) {
  const Array array = parse_npy(file_with("{'shape':(3L,),\"fortran_order\":True,'descr':'|u1'}", 3), "a.npy");
  EXPECT_EQ((array.view<std::uint8_t, 1>()(2)), 3);
}

TEST(Npy, TypesThatAreNotReadAreNamed) {
  EXPECT_THAT(error_of_header(ErrorKind::not_supported, "{'descr': '<f2', 'fortran_order': False, 'shape': (2,)}"),
              AllOf(HasSubstr("\"<f2\""), HasSubstr("hint: convert")));
  EXPECT_THAT(error_of_header(ErrorKind::not_supported, "{'descr': '|O', 'fortran_order': False, 'shape': (2,)}"),
              HasSubstr("\"|O\""));
  EXPECT_THAT(
      error_of_header(ErrorKind::not_supported, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,)}"),
      HasSubstr("structured elements"));
}

TEST(Npy, ShortDataNameBothSizes) {
  EXPECT_THAT(error_of_header(ErrorKind::bad_file, "{'descr': '<u2', 'fortran_order': False, 'shape': (4, 5), }", 39),
              HasSubstr("a.npy: shape (4, 5) of u16 needs 40 bytes of data, the file has 39"));
}

TEST(Npy, ShapesBeyondAddressesAreErrors) {
  EXPECT_THAT(error_of_header(ErrorKind::bad_file,
                              "{'descr': '<u2', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"),
              HasSubstr("needs more than 2^63 bytes"));
}

TEST(Npy, BrokenHeadersNameThePlace) {
  EXPECT_THAT(error_of_header(ErrorKind::bad_file, "{'descr' '<u2'}"), HasSubstr("no ':' at character 9"));
  EXPECT_THAT(error_of_header(ErrorKind::bad_file, "{'descr': '<u2}"), HasSubstr("a quote without end"));
  EXPECT_THAT(error_of_header(ErrorKind::bad_file, "{'descr': '<u2', 'shape': (2,)}"), HasSubstr("lacks"));
  EXPECT_THAT(error_of_header(ErrorKind::bad_file, "{'descr': '<u2', 'fortran_order': False, 'shape': (-2,)}"),
              HasSubstr("no extent"));
  EXPECT_THAT(error_of_header(ErrorKind::bad_file, "{'shape': (2,), 'shape': (2,)}"), HasSubstr("unexpected key"));
}

TEST(Npy, ForeignAndShortFilesAreErrors) {
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [] { (void)parse_npy(bytes_of("PK\3\4 no npy"), "a.npy"); }),
              HasSubstr("is not an NPY file"));
  EXPECT_THAT(testing::error_of(ErrorKind::not_supported,
                                [] { (void)parse_npy(bytes_of(std::string("\x93NUMPY\7\0    ", 12)), "a.npy"); }),
              HasSubstr("NPY version 7"));
  auto cut = file_with("{'descr': '<u2', 'fortran_order': False, 'shape': (4, 5), }", 0);
  cut.resize(30);
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { (void)parse_npy(cut, "a.npy"); }),
              HasSubstr("ends inside its NPY header"));
}

TEST(Npy, FullDiskLeavesNothing) {
  const TemporaryFolder folder;
  const Array array = Array::zeros(Device::cpu(), {1000}, DType::f64);
  const std::string text = testing::text_from_child([&] {
    testing::limit_file_size(4096);
    write_npy(folder.file("a.npy"), array);
    return std::string("written");
  });
  EXPECT_THAT(text, HasSubstr("a.npy: writing 8000 bytes at offset 4096 failed"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace sonde
