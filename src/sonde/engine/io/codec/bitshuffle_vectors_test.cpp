// SPDX-License-Identifier: Apache-2.0
// The codec against files and the HDF5 filter of the bitshuffle project.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/io/codec/bitshuffle.h"
#include "sonde/engine/io/codec/bitshuffle_kernels.h"
#include "sonde/engine/io/codec/decode_serially.h"
#include "tests/support/data.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

using Bytes = std::vector<std::byte>;

constexpr H5Z_filter_t bitshuffle_filter = 32008;

// An HDF5 identifier, closed at the end of its scope.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) { EXPECT_GE(id, 0); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { close_(id_); }
  operator hid_t() const { return id_; }  // NOLINT: stands for the identifier

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

struct Vector {
  std::string name;
  BitshuffleFormat format;
  Bytes chunk, original;
};

std::vector<std::string> names_in(hid_t group) {
  std::vector<std::string> names;
  H5Literate(
      group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr,
      [](hid_t, const char* name, const H5L_info_t*, void* into) -> herr_t {
        static_cast<std::vector<std::string>*>(into)->emplace_back(name);
        return 0;
      },
      &names);
  return names;
}

Bytes read_plain(hid_t file, const std::string& path) {
  const Handle set(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle type(H5Dget_type(set), H5Tclose);
  const Handle space(H5Dget_space(set), H5Sclose);
  Bytes bytes(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)) * H5Tget_size(type));
  EXPECT_GE(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), 0);
  return bytes;
}

Bytes read_first_chunk(hid_t set) {
  const hsize_t origin = 0;
  hsize_t stored = 0;
  EXPECT_GE(H5Dget_chunk_storage_size(set, &origin, &stored), 0);
  Bytes bytes(stored);
  std::uint32_t filter_mask = 0;
  EXPECT_GE(H5Dread_chunk(set, H5P_DEFAULT, &origin, &filter_mask, bytes.data()), 0);
  EXPECT_EQ(filter_mask, 0u);
  return bytes;
}

BitshuffleFormat format_of(hid_t set) {
  const Handle creation(H5Dget_create_plist(set), H5Pclose);
  unsigned flags = 0;
  std::size_t count = 8;
  unsigned values[8] = {};
  EXPECT_GE(H5Pget_filter_by_id2(creation, bitshuffle_filter, &flags, &count, values, 0, nullptr, nullptr), 0);
  return {values[2], values[3], static_cast<BitshuffleCodec>(count > 4 ? values[4] : 0)};
}

std::vector<Vector> vectors_of(const std::filesystem::path& path) {
  std::vector<Vector> vectors;
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  for (const std::string& group_name : names_in(file)) {
    if (group_name == "original") continue;
    const Handle group(H5Gopen2(file, group_name.c_str(), H5P_DEFAULT), H5Gclose);
    for (const std::string& name : names_in(group)) {
      const Handle set(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose);
      vectors.push_back(
          {group_name + "/" + name, format_of(set), read_first_chunk(set), read_plain(file, "original/" + name)});
    }
  }
  return vectors;
}

TEST(BitshuffleVectors, AllDecodeToTheOriginalBytes) {
  SONDE_NEED_DATA(data);
  int checked = 0;
  for (const char* name : {"regression_0.1.3.h5", "regression_0.4.0.h5"})
    for (const Vector& vector : vectors_of(data / "stem/bitshuffle" / name))
      for (const BitshuffleKernels* kernels : usable_bitshuffle_kernels()) {
        SCOPED_TRACE(std::string(name) + ": " + vector.name + " by " + kernels->name);
        BitshuffleScratch scratch(*kernels);
        Bytes out(vector.original.size());
        ASSERT_NO_THROW(decode_bitshuffle(vector.chunk, vector.format, scratch, out));
        EXPECT_EQ(out, vector.original);
        if (kernels == usable_bitshuffle_kernels().front()) ++checked;
      }
  EXPECT_EQ(checked, 63);
}

template <class T>
void expect_original_from_device_logic(const Vector& vector) {
  const std::size_t block_elements =
      vector.format.block_elements != 0 ? vector.format.block_elements : default_block_elements(sizeof(T));
  const ChunkForm form = vector.format.codec == BitshuffleCodec::lz4 ? ChunkForm::lz4 : ChunkForm::planes;
  testing::Bytes chunk(vector.chunk.size());
  std::memcpy(chunk.data(), vector.chunk.data(), chunk.size());
  const auto result =
      testing::decode_serially<T>(chunk, form, vector.original.size() / sizeof(T), vector.format.block_elements,
                                  block_elements * sizeof(T), 3, StepOrder::backwards);
  EXPECT_EQ(result.fault, no_chunk_fault);
  EXPECT_EQ(0, std::memcmp(result.elements.data(), vector.original.data(), vector.original.size()));
}

// The vectors have elements of other sizes and codecs too, which a GPU leaves to the CPU.
TEST(BitshuffleVectors, ThoseThatAGpuTakesDecodeToTheOriginalBytes) {
  SONDE_NEED_DATA(data);
  int checked = 0;
  for (const char* name : {"regression_0.1.3.h5", "regression_0.4.0.h5"})
    for (const Vector& vector : vectors_of(data / "stem/bitshuffle" / name)) {
      if (vector.format.codec == BitshuffleCodec::zstd) continue;
      SCOPED_TRACE(std::string(name) + ": " + vector.name);
      if (vector.format.element_bytes == 1)
        expect_original_from_device_logic<std::uint8_t>(vector);
      else if (vector.format.element_bytes == 2)
        expect_original_from_device_logic<std::uint16_t>(vector);
      else if (vector.format.element_bytes == 4)
        expect_original_from_device_logic<std::uint32_t>(vector);
      else
        continue;
      ++checked;
    }
  EXPECT_GT(checked, 10);
}

// Debian's package bitshuffle brings the filter as a plugin of the serial HDF5 library.
bool plugin_available() {
  H5PLappend("/usr/lib/x86_64-linux-gnu/hdf5/serial/plugins");
  return H5Zfilter_avail(bitshuffle_filter) > 0;
}

struct Shape2 {
  hsize_t rows, cols;
};

Bytes frame_of_counts(const Shape2& shape, std::size_t element_bytes) {
  std::mt19937 random(11);
  std::poisson_distribution<std::uint32_t> counts(1.0);
  Bytes bytes;
  for (hsize_t i = 0; i < shape.rows * shape.cols; ++i) {
    const std::uint32_t count = random() % 1000 == 0 ? 0xFFFFFFFF : counts(random);
    for (std::size_t k = 0; k < element_bytes; ++k) bytes.push_back(static_cast<std::byte>(count >> (8 * k)));
  }
  return bytes;
}

class BitshufflePlugin : public ::testing::TestWithParam<std::pair<hid_t, std::size_t>> {
 protected:
  void SetUp() override {
    if (!plugin_available()) GTEST_SKIP() << "no HDF5 bitshuffle plugin (Debian package bitshuffle)";
  }

  // A data set of one chunk that the library or the plugin fills and reads.
  static Handle create(hid_t file, const Shape2& shape, hid_t type, unsigned block_elements, unsigned codec) {
    const hsize_t extent[2] = {shape.rows, shape.cols};
    const Handle space(H5Screate_simple(2, extent, nullptr), H5Sclose);
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(creation, 2, extent);
    const unsigned values[2] = {block_elements, codec};
    EXPECT_GE(H5Pset_filter(creation, bitshuffle_filter, H5Z_FLAG_MANDATORY, 2, values), 0);
    return {H5Dcreate2(file, "frame", type, space, H5P_DEFAULT, creation, H5P_DEFAULT), H5Dclose};
  }
};

constexpr Shape2 shapes[] = {{192, 192}, {96, 96}, {193, 191}, {1, 8}, {8, 1}, {5, 7}};
constexpr unsigned block_sizes[] = {0, 64, 1024, 65536};

TEST_P(BitshufflePlugin, ReadsWhatWeWrite) {
  const auto [type, element_bytes] = GetParam();
  const testing::TemporaryFolder folder;
  for (const BitshuffleCodec codec : {BitshuffleCodec::none, BitshuffleCodec::lz4})
    for (const unsigned block_elements : block_sizes)
      for (const Shape2& shape : shapes) {
        SCOPED_TRACE(std::to_string(shape.rows) + "x" + std::to_string(shape.cols) + ", blocks of " +
                     std::to_string(block_elements) + ", codec " + std::to_string(static_cast<unsigned>(codec)));
        const Bytes elements = frame_of_counts(shape, element_bytes);
        const Bytes chunk = encode_bitshuffle(elements, {element_bytes, block_elements, codec});
        const Handle file(H5Fcreate(folder.file("a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
        const Handle set = create(file, shape, type, block_elements, static_cast<unsigned>(codec));
        const hsize_t origin[2] = {0, 0};
        ASSERT_GE(H5Dwrite_chunk(set, H5P_DEFAULT, 0, origin, chunk.size(), chunk.data()), 0);
        Bytes back(elements.size());
        ASSERT_GE(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, back.data()), 0);
        ASSERT_EQ(back, elements);
      }
}

TEST_P(BitshufflePlugin, WritesWhatWeRead) {
  const auto [type, element_bytes] = GetParam();
  const testing::TemporaryFolder folder;
  for (const BitshuffleCodec codec : {BitshuffleCodec::none, BitshuffleCodec::lz4})
    for (const unsigned block_elements : block_sizes)
      for (const Shape2& shape : shapes) {
        SCOPED_TRACE(std::to_string(shape.rows) + "x" + std::to_string(shape.cols) + ", blocks of " +
                     std::to_string(block_elements) + ", codec " + std::to_string(static_cast<unsigned>(codec)));
        const Bytes elements = frame_of_counts(shape, element_bytes);
        const Handle file(H5Fcreate(folder.file("a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
        const Handle set = create(file, shape, type, block_elements, static_cast<unsigned>(codec));
        ASSERT_GE(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements.data()), 0);
        ASSERT_GE(H5Dflush(set), 0);
        const hsize_t origin[2] = {0, 0};
        hsize_t stored = 0;
        ASSERT_GE(H5Dget_chunk_storage_size(set, origin, &stored), 0);
        Bytes chunk(stored);
        std::uint32_t filter_mask = 0;
        ASSERT_GE(H5Dread_chunk(set, H5P_DEFAULT, origin, &filter_mask, chunk.data()), 0);
        BitshuffleScratch scratch;
        Bytes back(elements.size());
        decode_bitshuffle(chunk, {element_bytes, block_elements, codec}, scratch, back);
        ASSERT_EQ(back, elements);
      }
}

INSTANTIATE_TEST_SUITE_P(, BitshufflePlugin,
                         ::testing::Values(std::pair{H5T_STD_U8LE, std::size_t{1}},
                                           std::pair{H5T_STD_U16LE, std::size_t{2}},
                                           std::pair{H5T_STD_U32LE, std::size_t{4}}),
                         [](const auto& each) { return "u" + std::to_string(8 * each.param.second); });

}  // namespace
}  // namespace sonde
