// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/chunk_index.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

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

/// What h5py says of the chunks of a data set: one line "number size mask crc" for each stored one, where the sum is
/// taken over the stored bytes.
std::string chunks_by_h5py(const std::string& file, const std::string& dataset) {
  return testing::python(R"(
import sys, zlib, h5py, numpy as np
name, path = sys.argv[1].split('|', 1)
d = h5py.File(name, 'r')[path]
grid = [-(-n // c) for n, c in zip(d.shape, d.chunks)]
lines = []
for i in range(d.id.get_num_chunks()):
    info = d.id.get_chunk_info(i)
    number = int(np.ravel_multi_index([o // c for o, c in zip(info.chunk_offset, d.chunks)], grid))
    mask, stored = d.id.read_direct_chunk(info.chunk_offset)
    lines.append((number, '%d %d %d %d' % (number, info.size, mask, zlib.crc32(stored))))
lines = [line for number, line in sorted(lines)]
print('\n'.join(lines))
)",
                         file + "|" + dataset);
}

std::string chunks_here(const Hdf5Dataset& dataset, const ChunkIndex& index) {
  const File file(dataset.file_path());
  std::string lines;
  index.for_each_stored([&](Index number, const ChunkEntry& entry) {
    std::vector<std::byte> bytes(entry.stored_bytes), again(entry.stored_bytes);
    file.read_at(entry.offset, bytes);
    EXPECT_EQ(dataset.read_chunk(index.first_element(number), again), entry.filter_mask);
    EXPECT_EQ(bytes, again);
    lines += fmt::format("{} {} {} {}\n", number, entry.stored_bytes, entry.filter_mask,
                         crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
  });
  return lines.empty() ? "\n" : lines;
}

TEST(ChunkIndex, AgreesWithH5pyOnRealFiles) {
  SONDE_NEED_DATA(data);
  for (const char* name : {"stem/arina-binned/test_arina_data_000001.h5", "stem/bitshuffle/regression_0.4.0.h5",
                           "stem/other/Si100_4D.emd", "ptychography/siemens_star_small.h5"}) {
    const Hdf5File file = Hdf5File::open(data / name);
    for (const std::string& each : file.datasets()) {
      const Hdf5Dataset dataset = file.dataset(each);
      if (dataset.info().layout != Hdf5DatasetInfo::Layout::chunked) continue;
      SCOPED_TRACE(file.path() + each);
      EXPECT_EQ(chunks_here(dataset, read_chunk_index(dataset)), chunks_by_h5py(file.path(), each));
      break;  // each asks Python
    }
  }
}

TEST(ChunkIndex, RealDetectorFileHasOneEntryPerFrame) {
  SONDE_NEED_DATA(data);
  const Hdf5File file = Hdf5File::open(data / "stem/arina-empty/test_00_data_000001.h5");
  const ChunkIndex index = read_chunk_index(file.dataset("/entry/data/data"));
  ASSERT_EQ(index.count(), 16);
  for (Index i = 0; i < 16; ++i) EXPECT_EQ(index[i].stored_bytes, 858u);  // 12 + 18 (4 + 43)
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
    # One data set for each kind of index of the newest layout: fixed and extensible arrays, with pages and without,
    # trees, single chunks, chunks one after another.
    f.create_dataset('growing', data=np.arange(900).reshape(300, 3), chunks=(1, 3), maxshape=(None, 3), compression='gzip')
    f.create_dataset('growing_both', data=np.arange(900).reshape(30, 30), chunks=(4, 3), maxshape=(None, None))
    far = f.create_dataset('far', (300000,), 'u1', chunks=(10,), maxshape=(None,))
    for i in (5, 77777, 299999): far[i] = 1
    f.create_dataset('whole', data=np.arange(12).reshape(3, 4), chunks=(3, 4), compression='gzip')
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
  for (const char* path :
       {"/deep/data", "/growing", "/growing_both", "/sparse", "/far", "/whole", "/untouched", "/masked"}) {
    SCOPED_TRACE(path);
    const Hdf5Dataset dataset = file.dataset(path);
    const ChunkIndex index = read_chunk_index(dataset);
    EXPECT_EQ(chunks_here(dataset, index), chunks_by_h5py(folder_->file(GetParam()), path));
    EXPECT_TRUE(index.outside(File(dataset.file_path()).size()).empty());
  }
}
INSTANTIATE_TEST_SUITE_P(, ChunkIndexOfWrittenFiles, ::testing::Values("v0.h5", "block.h5", "v18.h5", "v110.h5"),
                         [](const auto& each) {
                           return std::string(each.param).substr(0, std::strlen(each.param) - 3);
                         });

TEST_F(ChunkIndexOfWrittenFiles, SkippedFiltersShowInTheMask) {
  const ChunkIndex index = read_chunk_index(Hdf5File::open(folder_->file("v0.h5")).dataset("/masked"));
  for (Index i = 0; i < index.count(); ++i) EXPECT_EQ(index[i].filter_mask, 1u);
}

TEST_F(ChunkIndexOfWrittenFiles, AbsentChunksAreMarked) {
  const ChunkIndex index = read_chunk_index(Hdf5File::open(folder_->file("v0.h5")).dataset("/sparse"));
  ASSERT_EQ(index.count(), 16);
  for (Index i = 0; i < 16; ++i) EXPECT_EQ(index[i].absent(), i != 5);
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

/// A small file whose structures can be damaged.
class DamagedTree : public ::testing::Test {
 protected:
  void SetUp() override {
    Hdf5Writer writer(folder_.file("x.h5"));
    writer.declare("/data", {.shape = {4, 8}, .dtype = DType::u8, .chunk = {1, 8}, .filters = {}, .fill = {}});
    const std::vector<std::byte> chunk(8, std::byte{7});
    for (Index i = 0; i < 4; ++i) writer.write_chunk("/data", {i, 0}, chunk);
    writer.finish();
    bytes_ = testing::read_bytes(folder_.file("x.h5"));
    tree_ = find("TREE\x01");
  }
  /// The tree of the chunks is the node of type 1; groups have type 0.
  std::size_t find(const std::string& text) const {
    const auto found = std::search(bytes_.begin(), bytes_.end(), text.begin(), text.end());
    return static_cast<std::size_t>(found - bytes_.begin());
  }
  [[nodiscard]] ChunkIndex walk() const {
    testing::write_bytes(folder_.file("x.h5"), bytes_);
    return read_chunk_index(Hdf5File::open(folder_.file("x.h5")).dataset("/data"));
  }
  [[nodiscard]] std::string failure() const {
    return testing::error_of(ErrorKind::bad_file, [&] { (void)walk(); });
  }
  // A key is size, mask, two coordinates and 0 (the element), 32 bytes; then the address of the child.
  [[nodiscard]] std::size_t entry(std::size_t i) const { return tree_ + 24 + 40 * i; }

  testing::TemporaryFolder folder_;
  std::vector<std::uint8_t> bytes_;
  std::size_t tree_ = 0;
};

TEST_F(DamagedTree, IsWholeBefore) { EXPECT_EQ(walk().stored(), 4); }

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
  EXPECT_THAT(failure(), HasSubstr("appears twice"));
}

TEST_F(DamagedTree, AddressesOutsideTheFileAreFound) {
  bytes_[tree_ + 5] = 1;
  bytes_[entry(0) + 32 + 7] = 0x7f;
  EXPECT_THAT(failure(), HasSubstr("not inside the file of"));
}

TEST_F(DamagedTree, ChunksWhoseBytesLieOutsideAreListed) {
  bytes_[entry(2) + 32 + 4] = 1;  // 4 GiB further
  EXPECT_THAT(walk().outside(bytes_.size()), ::testing::ElementsAre(2));
}

TEST_F(DamagedTree, EveryTruncationIsAnError) {
  const std::vector<std::uint8_t> whole = bytes_;
  for (std::size_t size = 1; size < whole.size(); size += 7) {
    SCOPED_TRACE(size);
    bytes_.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    (void)failure();
  }
}

TEST(ChunkIndex, MemoryFollowsTheStoredChunksAndNotTheDeclaredOnes) {
  const testing::TemporaryFolder folder;
  testing::python(R"(
import sys, h5py
with h5py.File(sys.argv[1], 'w') as f:
    d = f.create_dataset('d', (2**40, 8, 8), 'u2', chunks=(1, 8, 8))
    d[2**39] = 5
)",
                  folder.file("x.h5"));
  const ChunkIndex index = read_chunk_index(Hdf5File::open(folder.file("x.h5")).dataset("/d"));  // dense: 16 TiB
  EXPECT_EQ(index.count(), Index{1} << 40);
  EXPECT_EQ(index.stored(), 1);
  EXPECT_FALSE(index[Index{1} << 39].absent());
  EXPECT_TRUE(index[5].absent());
}

}  // namespace
}  // namespace sonde
