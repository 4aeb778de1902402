// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/chunk_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "sonde/engine/io/file.h"
#include "sonde/engine/io/hdf5_writer.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

/// The oracle is the library: it must give the same size, the same filter mask and the same bytes for every chunk.
void expect_same_as_library(const Hdf5Dataset& dataset, const ChunkIndex& index) {
  const ChunkIndex asked = ask_chunk_sizes(dataset);
  ASSERT_EQ(index.entries.size(), asked.entries.size());
  const File file(dataset.file_path());
  for (std::size_t i = 0; i < index.entries.size(); ++i) {
    SCOPED_TRACE(i);
    const ChunkEntry& entry = index.entries[i];
    ASSERT_EQ(entry.stored_bytes, asked.entries[i].stored_bytes);
    if (entry.absent()) continue;
    std::vector<std::byte> here(entry.stored_bytes), there(entry.stored_bytes);
    file.read_at(entry.offset, here);
    ASSERT_EQ(dataset.read_chunk(index.first_element(static_cast<Index>(i)), there), entry.filter_mask);
    ASSERT_EQ(here, there);
  }
}

TEST(ChunkIndex, AgreesWithTheLibraryOnEveryRealFile) {
  SONDE_NEED_DATA(data);
  int walked = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    char signature[8] = "";
    stream.read(signature, 8);
    if (std::memcmp(signature, "\x89HDF\r\n\x1a\n", 8) != 0) continue;
    SCOPED_TRACE(entry.path());
    const Hdf5File file = Hdf5File::open(entry.path());
    for (const std::string& path : file.datasets()) {
      SCOPED_TRACE(path);
      const Hdf5Dataset dataset = file.dataset(path);
      if (dataset.info().layout != Hdf5DatasetInfo::Layout::chunked) continue;
      const ChunkIndex index = read_chunk_index(dataset);
      EXPECT_TRUE(index.has_offsets);
      expect_same_as_library(dataset, index);
      ++walked;
    }
  }
  EXPECT_GE(walked, 60);  // the bitshuffle vectors alone have 63 chunked data sets
}

TEST(ChunkIndex, RealDetectorFileHasOneEntryPerFrame) {
  SONDE_NEED_DATA(data);
  const Hdf5File file = Hdf5File::open(data / "stem/arina-empty/test_00_data_000001.h5");
  const ChunkIndex index = read_chunk_index(file.dataset("/entry/data/data"));
  ASSERT_EQ(index.entries.size(), 16u);
  for (const ChunkEntry& entry : index.entries) EXPECT_EQ(entry.stored_bytes, 858u);  // 12 + 18 (4 + 43)
}

/// Files by h5py: other superblocks, other layouts, holes, deep trees.
class ChunkIndexOfWrittenFiles : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() {
    folder_ = new testing::TemporaryFolder;
    testing::python(R"(
import os, sys
os.chdir(sys.argv[1])
import h5py, numpy as np
def fill(f):
    d = f.create_dataset('deep/data', (70, 9, 13), 'u2', chunks=(1, 4, 5), compression='gzip')  # 630 chunks: two levels
    d[...] = np.arange(70 * 9 * 13).reshape(70, 9, 13) % 1000
    s = f.create_dataset('sparse', (10, 10), 'f4', chunks=(3, 3), maxshape=(None, 10))
    s[4:5, 4:5] = 1
    f.create_dataset('untouched', (10, 10), 'u1', chunks=(5, 5))
    m = f.create_dataset('masked', (4, 8), 'u1', chunks=(1, 8), compression='gzip')
    for i in range(4): m.id.write_direct_chunk((i, 0), bytes(range(8)), filter_mask=1)
    for i in range(40): d.attrs['a%d' % i] = 'x' * 100   # forces continuation blocks
with h5py.File('v0.h5', 'w') as f: fill(f)
with h5py.File('block.h5', 'w', userblock_size=1024) as f: fill(f)
with h5py.File('v110.h5', 'w', libver='latest') as f: fill(f)
with h5py.File('v18.h5', 'w', libver=('v108', 'v108')) as f: fill(f)
)",
                    folder_->path().string());
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static testing::TemporaryFolder* folder_;
};
testing::TemporaryFolder* ChunkIndexOfWrittenFiles::folder_ = nullptr;

TEST_P(ChunkIndexOfWrittenFiles, AgreesWithTheLibrary) {
  const Hdf5File file = Hdf5File::open(folder_->file(GetParam()));
  for (const char* path : {"/deep/data", "/sparse", "/untouched", "/masked"}) {
    SCOPED_TRACE(path);
    const Hdf5Dataset dataset = file.dataset(path);
    const ChunkIndex index = read_chunk_index(dataset);
    ASSERT_TRUE(index.has_offsets) << index.because;
    expect_same_as_library(dataset, index);
    EXPECT_TRUE(index.outside(File(dataset.file_path()).size()).empty());
  }
}
INSTANTIATE_TEST_SUITE_P(, ChunkIndexOfWrittenFiles, ::testing::Values("v0.h5", "block.h5", "v18.h5"),
                         [](const auto& each) {
                           return std::string(each.param).substr(0, std::strlen(each.param) - 3);
                         });

TEST_F(ChunkIndexOfWrittenFiles, SkippedFiltersShowInTheMask) {
  const ChunkIndex index = read_chunk_index(Hdf5File::open(folder_->file("v0.h5")).dataset("/masked"));
  for (const ChunkEntry& entry : index.entries) EXPECT_EQ(entry.filter_mask, 1u);
}

TEST_F(ChunkIndexOfWrittenFiles, NewerLayoutsAreLeftToTheLibrary) {
  const Hdf5Dataset dataset = Hdf5File::open(folder_->file("v110.h5")).dataset("/deep/data");
  const ChunkIndex index = read_chunk_index(dataset);
  EXPECT_FALSE(index.has_offsets);
  EXPECT_THAT(index.because, HasSubstr("newer kind"));
  ASSERT_EQ(index.entries.size(), 630u);
  for (const ChunkEntry& entry : index.entries) EXPECT_GT(entry.stored_bytes, 0u);
}

TEST_F(ChunkIndexOfWrittenFiles, AbsentChunksAreMarked) {
  const ChunkIndex index = read_chunk_index(Hdf5File::open(folder_->file("v0.h5")).dataset("/sparse"));
  ASSERT_EQ(index.entries.size(), 16u);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(index.entries[i].absent(), i != 5);
}

TEST(ChunkIndex, DatasetsWithoutChunksAreRefused) {
  const testing::TemporaryFolder folder;
  Hdf5Writer writer(folder.file("x.h5"));
  writer.array("/x", Array::from<float>({1, 2, 3}, {3}));
  writer.finish();
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input,
                                [&] { (void)read_chunk_index(Hdf5File::open(folder.file("x.h5")).dataset("/x")); }),
              HasSubstr("x.h5, /x: the data set is not chunked"));
}

/// A small file in memory, so that its structures can be damaged.
class DamagedTree : public ::testing::Test {
 protected:
  void SetUp() override {
    const testing::TemporaryFolder folder;
    Hdf5Writer writer(folder.file("x.h5"));
    writer.declare("/data", {.shape = {4, 8}, .dtype = DType::u8, .chunk = {1, 8}, .filters = {}, .fill = {}});
    const std::vector<std::byte> chunk(8, std::byte{7});
    for (Index i = 0; i < 4; ++i) writer.write_chunk("/data", {i, 0}, chunk);
    writer.finish();
    const Hdf5Dataset dataset = Hdf5File::open(folder.file("x.h5")).dataset("/data");
    layout_ = {{4, 8}, {1, 8}, 1, dataset.info().header_address};
    bytes_ = testing::read_bytes(folder.file("x.h5"));
    tree_ = find("TREE\x01");
  }
  /// The tree of the chunks is the node of type 1; groups have type 0.
  std::size_t find(const std::string& text) const {
    const auto found = std::search(bytes_.begin(), bytes_.end(), text.begin(), text.end());
    return static_cast<std::size_t>(found - bytes_.begin());
  }
  [[nodiscard]] std::optional<ChunkIndex> walk() const {
    return walk_chunk_tree(
        [&](std::uint64_t offset, std::span<std::byte> bytes) {
          if (offset + bytes.size() > bytes_.size()) return false;
          std::memcpy(bytes.data(), bytes_.data() + offset, bytes.size());
          return true;
        },
        bytes_.size(), layout_);
  }
  [[nodiscard]] std::string failure() const {
    return testing::error_of(ErrorKind::bad_file, [&] { (void)walk(); });
  }
  // A key is size, mask, two coordinates and 0 (the element), 32 bytes; then the address of the child.
  [[nodiscard]] std::size_t entry(std::size_t i) const { return tree_ + 24 + 40 * i; }

  ChunkedLayout layout_;
  std::vector<std::uint8_t> bytes_;
  std::size_t tree_ = 0;
};

TEST_F(DamagedTree, IsWholeBefore) { EXPECT_EQ(walk()->entries.size(), 4u); }

TEST_F(DamagedTree, ChunksBeyondTheShapeAreFound) {
  bytes_[entry(3) + 8] = 9;
  EXPECT_THAT(failure(), HasSubstr("a chunk begins at element 9 of dimension 0, which has 4 elements in chunks of 1"));
}

TEST_F(DamagedTree, ChunksThatAppearTwiceAreFound) {
  bytes_[entry(3) + 8] = 2;
  EXPECT_THAT(failure(), HasSubstr("chunk 2 appears twice"));
}

TEST_F(DamagedTree, ANodeThatIsItsOwnChildIsFound) {
  bytes_[tree_ + 5] = 1;  // the root now claims to be above leaves
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < 8; ++k)
      bytes_[entry(i) + 32 + k] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(tree_) >> (8 * k));
  EXPECT_THAT(failure(), HasSubstr("is on level 1, expected 0"));
}

TEST_F(DamagedTree, AddressesOutsideTheFileAreFound) {
  bytes_[tree_ + 5] = 1;
  bytes_[entry(0) + 32 + 7] = 0x7f;
  EXPECT_THAT(failure(), HasSubstr("not inside the file of"));
}

TEST_F(DamagedTree, ChunksWhoseBytesLieOutsideAreListed) {
  bytes_[entry(2) + 32 + 4] = 1;  // 4 GiB further
  EXPECT_THAT(walk()->outside(bytes_.size()), ::testing::ElementsAre(2));
}

TEST_F(DamagedTree, EveryTruncationIsAnErrorOrListed) {
  const std::vector<std::uint8_t> whole = bytes_;
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    SCOPED_TRACE(size);
    bytes_.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    try {
      const auto index = walk();
      ASSERT_TRUE(index.has_value());
      EXPECT_FALSE(index->outside(size).empty() && size + 8 < entry(3));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_file);
    }
  }
}

}  // namespace
}  // namespace sonde
