// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5.h"

#include <blosc.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "sonde/engine/io/chunk_index.h"
#include "sonde/engine/io/hdf5/fault.h"
#include "sonde/engine/io/hdf5/filters.h"
#include "sonde/engine/io/hdf5_writer.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// One file written by h5py with one of everything.
class Hdf5Reading : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new testing::TemporaryFolder;
    testing::python(R"(
import os, sys
os.chdir(sys.argv[1])
import h5py, numpy as np
with h5py.File('target.h5', 'w') as f:
    f['deep/data'] = np.arange(6, dtype='u4').reshape(2, 3)
with h5py.File('all.h5', 'w') as f:
    f['numbers/integer'] = np.int32(-5)
    f['numbers/natural'] = np.uint64(2**63 + 1)
    f['numbers/fraction'] = np.float32(0.25)
    f['numbers/three'] = np.array([1, 2, 3], 'i2')
    f['numbers/many'] = np.zeros(101, 'i4')
    f['numbers/truth'] = np.bool_(True)
    f['texts/fixed'] = np.bytes_('bslz4')
    f['texts/variable'] = 'Ångström'
    f['texts/lines'] = ['one', 'two']
    f['texts'].attrs['unit'] = 'nm'
    f['texts'].attrs['empty'] = h5py.Empty('f4')
    f['texts'].attrs['grid'] = np.array([[1.5, 2], [3, 4]])
    f['arrays/matrix'] = np.arange(24, dtype='u2').reshape(2, 3, 4)
    f['arrays/big_endian'] = np.arange(24, dtype='>u2').reshape(2, 3, 4)
    f['arrays/complex'] = np.array([1 + 2j, 3 - 4j], 'c8')
    f['arrays/opaque'] = np.array([b'abc', b'def'], 'V3')
    f['arrays/empty'] = np.zeros((0, 4), 'f4')
    f.create_dataset('arrays/packed', data=np.arange(24, dtype='i4').reshape(4, 6), chunks=(2, 4), compression='gzip',
                     shuffle=True, fillvalue=-7)
    f['cycle'] = f['numbers']
    f['numbers/up'] = f['/']
    f['links/soft'] = h5py.SoftLink('/arrays/matrix')
    f['links/dangling'] = h5py.SoftLink('/nowhere')
    f['links/external10'] = h5py.ExternalLink('missing.h5', '/x')
    f['links/external2'] = h5py.ExternalLink('target.h5', '/deep/data')
    layout = h5py.VirtualLayout((4, 3), 'u4')
    layout[0:2] = h5py.VirtualSource('target.h5', 'deep/data', (2, 3))
    layout[2:4] = h5py.VirtualSource('target.h5', 'deep/data', (2, 3))
    f.create_virtual_dataset('virtual', layout)
with h5py.File('block.h5', 'w', userblock_size=512) as f:
    f['x'] = np.arange(5, dtype='u1')
)",
                    folder_->path().string());
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::string path(const std::string& name) { return folder_->file(name); }
  static Hdf5File open() { return Hdf5File::open(path("all.h5")); }

  static testing::TemporaryFolder* folder_;
};
testing::TemporaryFolder* Hdf5Reading::folder_ = nullptr;

TEST_F(Hdf5Reading, NumbersKeepTheirValues) {
  const Hdf5File file = open();
  EXPECT_EQ(file.value("/numbers/integer")->integer(), -5);
  EXPECT_EQ(file.value("/numbers/natural")->printed(), "9223372036854775809");
  EXPECT_EQ(file.value("/numbers/natural")->integer(), std::nullopt);
  EXPECT_EQ(file.value("/numbers/fraction")->number(), 0.25);
  EXPECT_EQ(file.value("/numbers/truth")->integer(), 1);
  EXPECT_EQ(file.value("/numbers/three")->printed(), "[1, 2, 3]");
}

TEST_F(Hdf5Reading, TextsOfFixedAndVariableLengthAreRead) {
  const Hdf5File file = open();
  EXPECT_EQ(file.value("/texts/fixed")->text(), "bslz4");
  EXPECT_EQ(file.value("/texts/variable")->text(), "Ångström");
  EXPECT_EQ(file.value("/texts/lines")->printed(), "[one, two]");
}

TEST_F(Hdf5Reading, AttributesKeepShapeAndValue) {
  const Hdf5File file = open();
  EXPECT_EQ(file.attribute("/texts", "unit")->text(), "nm");
  EXPECT_EQ(file.attribute("/texts", "grid")->shape, (Shape{2, 2}));
  EXPECT_EQ(file.attribute("/texts", "grid")->printed(), "[1.5, 2, 3, 4]");
  EXPECT_FALSE(file.attribute("/texts", "empty").has_value());
  EXPECT_FALSE(file.attribute("/texts", "absent").has_value());
  EXPECT_EQ(file.attributes("/texts").size(), 2u);
}

TEST_F(Hdf5Reading, AbsentAndLargeThingsAreNoValues) {
  const Hdf5File file = open();
  EXPECT_FALSE(file.value("/numbers/absent").has_value());
  EXPECT_FALSE(file.value("/numbers/many").has_value());
  EXPECT_TRUE(file.value("/numbers/many", 101).has_value());
}

TEST_F(Hdf5Reading, SmallValuesAreListedOnceThroughCycles) {
  const auto values = open().small_values();
  EXPECT_EQ(values.count("/numbers/integer") + values.count("/cycle/integer"), 1u);
  EXPECT_EQ(values.count("/numbers/many") + values.count("/cycle/many"), 0u);
  EXPECT_EQ(values.at("/texts@unit").printed(), "nm");
  EXPECT_EQ(values.count("/links/soft"), 0u);
}

TEST_F(Hdf5Reading, LinksAreListedInNaturalOrderWithoutFollowing) {
  const auto links = open().list("/links");
  ASSERT_EQ(links.size(), 4u);
  EXPECT_EQ(links[0].name, "dangling");
  EXPECT_EQ(links[1].name, "external2");
  EXPECT_EQ(links[1].kind, Hdf5Link::Kind::external);
  EXPECT_EQ(links[1].file, "target.h5");
  EXPECT_EQ(links[1].object, "/deep/data");
  EXPECT_EQ(links[2].name, "external10");
  EXPECT_EQ(links[3].kind, Hdf5Link::Kind::soft);
  EXPECT_EQ(links[3].object, "/arrays/matrix");
  EXPECT_THAT(open().list("/nowhere"), IsEmpty());
}

TEST_F(Hdf5Reading, ExistenceFollowsLinks) {
  const Hdf5File file = open();
  EXPECT_TRUE(file.is_dataset("/links/soft"));
  EXPECT_TRUE(file.is_dataset("/links/external2"));
  EXPECT_FALSE(file.exists("/links/external10"));
  EXPECT_FALSE(file.exists("/links/dangling"));
  EXPECT_TRUE(file.is_group("/numbers"));
  EXPECT_EQ(file.link("/links/soft")->name, "soft");
}

TEST_F(Hdf5Reading, VirtualPartsNameTheirSources) {
  const auto parts = open().dataset("/virtual").virtual_parts();
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].file, "target.h5");
  EXPECT_EQ(parts[1].object, "deep/data");
  EXPECT_EQ(parts[1].first, (Shape{2, 0}));
  EXPECT_EQ(parts[1].count, (Shape{2, 3}));
  EXPECT_EQ(parts[1].source_first, (Shape{0, 0}));
  EXPECT_EQ(parts[1].source_count, (Shape{2, 3}));
}

TEST_F(Hdf5Reading, DatasetsDescribeThemselves) {
  const Hdf5DatasetInfo info = open().dataset("/arrays/packed").info();
  EXPECT_EQ(info.shape, (Shape{4, 6}));
  EXPECT_EQ(info.chunk, (Shape{2, 4}));
  EXPECT_EQ(info.dtype, DType::i32);
  EXPECT_EQ(info.type_text, "i32");
  ASSERT_EQ(info.filters.size(), 2u);
  EXPECT_EQ(info.filters[0].id, 2);  // shuffle
  EXPECT_EQ(info.filters[1].id, 1);  // deflate
  EXPECT_THAT(info.filters[1].client_data, ElementsAre(4u));
  ASSERT_EQ(info.fill.size(), 4u);
  EXPECT_EQ(*reinterpret_cast<const std::int32_t*>(info.fill.data()), -7);
}

TEST_F(Hdf5Reading, ContiguousDataHaveAnOffsetInTheFile) {
  const Hdf5Dataset dataset = Hdf5File::open(path("block.h5")).dataset("/x");
  ASSERT_TRUE(dataset.info().data_offset.has_value());
  const auto bytes = testing::read_bytes(path("block.h5"));
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(bytes[*dataset.info().data_offset + i], i);
}

TEST_F(Hdf5Reading, ElementsArriveInNativeByteOrder) {
  const Array matrix = open().dataset("/arrays/matrix").read(), swapped = open().dataset("/arrays/big_endian").read();
  EXPECT_TRUE(open().dataset("/arrays/big_endian").info().big_endian);
  for (Index i = 0; i < 24; ++i) {
    EXPECT_EQ(static_cast<const std::uint16_t*>(matrix.data())[i], i);
    EXPECT_EQ(static_cast<const std::uint16_t*>(swapped.data())[i], i);
  }
}

TEST_F(Hdf5Reading, BoxesAreReadAlone) {
  const Array box = open().dataset("/arrays/packed").read({1, 2}, {2, 3});
  const auto view = box.view<std::int32_t, 2>();
  EXPECT_EQ(view(0, 0), 8);
  EXPECT_EQ(view(1, 2), 16);
}

TEST_F(Hdf5Reading, BoxesBeyondTheShapeAreRefused) {
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [] {
                         (void)open().dataset("/arrays/packed").read({1, 2}, {4, 3});
                       }),
              HasSubstr("(4, 3) elements from (1, 2) reach beyond the shape (4, 6)"));
}

TEST_F(Hdf5Reading, ComplexAndEmptyArraysAreRead) {
  const Array complex = open().dataset("/arrays/complex").read();
  EXPECT_EQ((complex.view<complex64, 1>()(1)), complex64(3, -4));
  EXPECT_EQ(open().dataset("/arrays/empty").read().shape(), (Shape{0, 4}));
}

TEST_F(Hdf5Reading, OpaqueElementsAreRawBytesOnly) {
  const Hdf5Dataset dataset = open().dataset("/arrays/opaque");
  EXPECT_EQ(dataset.raw_elements().size(), 6u);
  EXPECT_EQ(std::to_integer<char>(dataset.raw_elements()[3]), 'd');
  EXPECT_THAT(error_of(ErrorKind::not_supported, [&] { (void)dataset.read(); }),
              HasSubstr("all.h5, /arrays/opaque: elements of type opaque, 3 bytes cannot be read as numbers"));
}

TEST_F(Hdf5Reading, ChunksAreReadAsTheyAreStored) {
  const Hdf5Dataset dataset = open().dataset("/arrays/packed");
  const std::uint64_t bytes = dataset.chunk_bytes({2, 4});
  EXPECT_GT(bytes, 0u);
  std::vector<std::byte> chunk(bytes);
  EXPECT_EQ(dataset.read_chunk({2, 4}, chunk), 0u);
  EXPECT_EQ(std::to_integer<int>(chunk[0]) & 0x0f, 8);  // a zlib stream
}

TEST_F(Hdf5Reading, AbsentDatasetsAreNamed) {
  EXPECT_THAT(error_of(ErrorKind::bad_file, [] { (void)open().dataset("/nowhere"); }),
              HasSubstr("all.h5, /nowhere: no such data set (there is no nowhere)"));
}

TEST(Hdf5Opening, MissingFilesAreNamed) {
  EXPECT_THAT(error_of(ErrorKind::bad_file, [] { Hdf5File::open("/nowhere/x.h5"); }),
              HasSubstr("/nowhere/x.h5: no such file"));
}

TEST(Hdf5Opening, OtherFormatsAreNotHdf5) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.file("x.h5")) << "GIF89a";
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { Hdf5File::open(folder.file("x.h5")); }),
              HasSubstr("x.h5: not an HDF5 file"));
  std::ofstream(folder.file("none.h5")).flush();
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { Hdf5File::open(folder.file("none.h5")); }),
              HasSubstr("none.h5: the file is empty"));
}

TEST(Hdf5Opening, CutFilesSayHowFarTheyGo) {
  SONDE_NEED_DATA(data);
  const testing::TemporaryFolder folder;
  auto bytes = testing::read_bytes(data / "stem/arina-empty/test_00_data_000001.h5");
  bytes.resize(bytes.size() - 100);
  testing::write_bytes(folder.file("cut.h5"), bytes);
  const std::string text = error_of(ErrorKind::bad_file, [&] { Hdf5File::open(folder.file("cut.h5")); });
  EXPECT_THAT(text, HasSubstr("cut.h5: damaged: the file is cut off: it has 17642 bytes, expected 17742"));
  EXPECT_THAT(text, HasSubstr("hint: the file may be incomplete"));
}

TEST(Hdf5Opening, FilesWithoutPermissionAreInputOutputErrors) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("secret.h5");
  std::ofstream(path) << "x";
  std::filesystem::permissions(path, std::filesystem::perms::none);
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  const pid_t child = fork();  // root reads everything: look as nobody
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(3);
    try {
      Hdf5File::open(path);
    } catch (const Error& error) {
      _exit(error.kind() == ErrorKind::io &&
                    error.message().find("secret.h5: cannot be read: Permission denied") != std::string::npos
                ? 0
                : 1);
    }
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Hdf5Opening, NamedPipesAreRefusedBeforeTheyBlock) {
  const testing::TemporaryFolder folder;
  ASSERT_EQ(mkfifo(folder.file("pipe.h5").c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe.h5", folder.file("link.h5"));
  for (const char* name : {"pipe.h5", "link.h5"})
    EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { Hdf5File::open(folder.file(name)); }),
                HasSubstr(std::string(name) + ": is not a regular file"));
  Hdf5Writer writer(folder.file("x.h5"));
  writer.external_link("/out", "pipe.h5", "/data");
  writer.finish();
  const Hdf5File file = Hdf5File::open(folder.file("x.h5"));
  EXPECT_FALSE(file.exists("/out"));
  EXPECT_THAT(
      error_of(ErrorKind::bad_file, [&] { (void)file.dataset("/out"); }),
      ::testing::AllOf(HasSubstr("x.h5, /out: no such data set ("), HasSubstr("pipe.h5: is not a regular file")));
}

/// Virtual data sets without an end.
class VirtualCircles : public ::testing::Test {
 protected:
  VirtualCircles() {
    testing::python(R"(
import os, sys, h5py, numpy as np
os.chdir(sys.argv[1])
def virtual(name, source):
    with h5py.File(name, 'w', libver='latest') as f:
        layout = h5py.VirtualLayout((4, 3), 'u4')
        layout[...] = h5py.VirtualSource(source, 'd', (4, 3))
        f.create_virtual_dataset('d', layout)
virtual('self.h5', '.')
virtual('a.h5', 'b.h5')
virtual('b.h5', 'a.h5')
)",
                    folder_.path().string());
  }
  std::string failure(const std::string& name) {
    return error_of(ErrorKind::bad_file, [&] { (void)Hdf5File::open(folder_.file(name)).dataset("/d").read(); });
  }
  testing::TemporaryFolder folder_;
};

TEST_F(VirtualCircles, ADatasetThatIsItsOwnSourceIsDamaged) {
  EXPECT_THAT(failure("self.h5"), HasSubstr("self.h5: damaged: the virtual data set has itself as its source: "));
}

TEST_F(VirtualCircles, FilesThatNameEachOtherAreDamagedAndNotZeros) {
  const std::string text = failure("a.h5");
  EXPECT_THAT(text, HasSubstr("damaged: the virtual data set has itself as its source: "));
  EXPECT_THAT(text, HasSubstr("a.h5, /d -> "));
  EXPECT_THAT(text, HasSubstr("b.h5, d -> "));
}

TEST_F(VirtualCircles, AreFoundWithoutReading) {
  EXPECT_THAT(
      error_of(ErrorKind::bad_file, [&] { Hdf5File::open(folder_.file("self.h5")).dataset("/d").require_sources(); }),
      HasSubstr("damaged: the virtual data set has itself as its source"));
}

TEST(Hdf5Filters, AnUnknownOneIsNamedWithARemedy) {
  const testing::TemporaryFolder folder;
  Hdf5Writer writer(folder.file("x.h5"));
  writer.declare("/d",
                 {.shape = {2, 4}, .dtype = DType::u8, .chunk = {2, 4}, .filters = {{307, "", true, {}}}, .fill = {}});
  writer.write_chunk("/d", {0, 0}, std::vector<std::byte>(8));
  writer.finish();
  const std::string text =
      error_of(ErrorKind::not_supported, [&] { (void)Hdf5File::open(folder.file("x.h5")).dataset("/d").read(); });
  EXPECT_THAT(text, HasSubstr("x.h5, /d: the elements are packed by filter 307 (bzip2), which is not read"));
  EXPECT_THAT(text, HasSubstr("h5repack -f NONE"));
}

/// Chunks packed by the codecs' own libraries, as the plugins of the HDF Group lay them out.
class PackedChunks : public ::testing::Test {
 protected:
  void expect_read(int filter, const std::vector<std::byte>& chunk) {
    const testing::TemporaryFolder folder;
    Hdf5Writer writer(folder.file("x.h5"));
    writer.declare(
        "/d",
        {.shape = {50, 40}, .dtype = DType::u16, .chunk = {50, 40}, .filters = {{filter, "", true, {}}}, .fill = {}});
    writer.write_chunk("/d", {0, 0}, chunk);
    writer.finish();
    const Array array = Hdf5File::open(folder.file("x.h5")).dataset("/d").read();
    EXPECT_EQ(std::memcmp(array.data(), elements_.data(), bytes()), 0);
  }
  [[nodiscard]] std::size_t bytes() const { return elements_.size() * sizeof(std::uint16_t); }
  PackedChunks() {
    for (std::size_t i = 0; i < elements_.size(); ++i) elements_[i] = static_cast<std::uint16_t>(i * i % 97);
  }
  std::vector<std::uint16_t> elements_ = std::vector<std::uint16_t>(2000);
};

TEST_F(PackedChunks, OfZstdAreRead) {
  std::vector<std::byte> chunk(ZSTD_compressBound(bytes()));
  chunk.resize(ZSTD_compress(chunk.data(), chunk.size(), elements_.data(), bytes(), 3));
  expect_read(32015, chunk);
}

TEST_F(PackedChunks, OfBloscAreRead) {
  std::vector<std::byte> chunk(bytes() + BLOSC_MAX_OVERHEAD);
  const int made =
      blosc_compress_ctx(5, BLOSC_SHUFFLE, 2, bytes(), elements_.data(), chunk.data(), chunk.size(), "lz4", 0, 1);
  ASSERT_GT(made, 0);
  chunk.resize(static_cast<std::size_t>(made));
  expect_read(32001, chunk);
}

TEST_F(PackedChunks, OfLz4AreReadBlockByBlock) {
  constexpr std::size_t block = 1024;
  std::vector<std::byte> chunk;
  const auto big_endian = [&](std::uint64_t value, int count) {
    for (int i = count - 1; i >= 0; --i) chunk.push_back(static_cast<std::byte>(value >> (8 * i)));
  };
  big_endian(bytes(), 8);
  big_endian(block, 4);
  const char* from = reinterpret_cast<const char*>(elements_.data());
  for (std::size_t at = 0; at < bytes(); at += block) {
    const std::size_t now = std::min(block, bytes() - at);
    std::vector<char> packed(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(now))));
    const int made =
        LZ4_compress_default(from + at, packed.data(), static_cast<int>(now), static_cast<int>(packed.size()));
    big_endian(static_cast<std::uint64_t>(made), 4);
    for (int i = 0; i < made; ++i) chunk.push_back(static_cast<std::byte>(packed[static_cast<std::size_t>(i)]));
  }
  expect_read(32004, chunk);
}

TEST(Hdf5Filters, AWrongChecksumIsDamage) {
  const testing::TemporaryFolder folder;
  testing::python(R"(
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], 'w') as f:
    d = f.create_dataset('d', data=np.arange(8, dtype='u2'), chunks=(8,), fletcher32=True)
    mask, chunk = d.id.read_direct_chunk((0,))
    d.id.write_direct_chunk((0,), chunk[:3] + b'\x77' + chunk[4:], mask)
)",
                  folder.file("x.h5"));
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)Hdf5File::open(folder.file("x.h5")).dataset("/d").read(); }),
              HasSubstr("x.h5: damaged: /d: the checksum of a chunk is wrong"));
}

TEST(Hdf5Damage, AChunkThatDeclaresMoreThanTheFileHoldsIsRefusedBeforeItIsAllocated) {
  const testing::TemporaryFolder folder;
  testing::python(R"(
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], 'w') as f:
    d = f.create_dataset('d', (2**20, 2**10), 'u4', chunks=(2**10, 2**19 // 2**10), compression='gzip')
    d.id.write_direct_chunk((0, 0), b'x' * 10)
)",
                  folder.file("x.h5"));
  EXPECT_THAT(error_of(ErrorKind::bad_file,
                       [&] {
                         (void)Hdf5File::open(folder.file("x.h5")).dataset("/d").read({0, 0}, {1, 1});
                       }),
              HasSubstr("x.h5: damaged: /d: 10 bytes for a chunk of 2097152"));
}

TEST(Hdf5Damage, AChunkFarLargerThanItsDatasetIsNotAllocated) {
  const testing::TemporaryFolder folder;
  testing::python(R"(
import sys, h5py
with h5py.File(sys.argv[1], 'w') as f:
    f.create_dataset('d', (50,), 'f8', chunks=(2**28,), maxshape=(None,), fillvalue=1.0)
)",
                  folder.file("x.h5"));
  const Hdf5File file = Hdf5File::open(folder.file("x.h5"));
  EXPECT_FALSE(file.value("/d").has_value());
  EXPECT_THAT(error_of(ErrorKind::not_supported, [&] { (void)file.dataset("/d").read(); }),
              HasSubstr("x.h5: /d: chunks of 2147483648 bytes for 400 bytes of elements"));
}

TEST(Hdf5Damage, MoreElementsThanTheFiltersCanHoldInTheFileAreNotAllocated) {
  const testing::TemporaryFolder folder;
  testing::python(R"(
import sys, h5py
with h5py.File(sys.argv[1], 'w') as f:  # 40 MB in a file of a few kB, of which gzip makes a thousandth at best
    f.create_dataset('d', (5000000,), 'f8', chunks=(100000,), compression='gzip')
)",
                  folder.file("x.h5"));
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)Hdf5File::open(folder.file("x.h5")).dataset("/d").read(); }),
              HasSubstr("cannot hold them"));
}

TEST(Hdf5Damage, StructuresOfASparseFileCostWhatItStores) {
  const testing::TemporaryFolder folder;
  testing::python(R"(
import os, struct, sys, h5py
with h5py.File(sys.argv[1], 'w', libver='earliest') as f:
    f['d'] = 1
with open(sys.argv[1], 'r+b') as f:
    at = f.read().index(b'HEAP')  # the names of the root group
    f.seek(at + 8)
    f.write(struct.pack('<Q', 20 << 30))
os.truncate(sys.argv[1], 21 << 30)
)",
                  folder.file("x.h5"));
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)Hdf5File::open(folder.file("x.h5")).datasets(); }),
              HasSubstr("x.h5: damaged: its structures are larger than the file"));
}

TEST(Hdf5Damage, ChunksOfASparseFileThatHasNoIndexAreNotListedWithoutEnd) {
  const testing::TemporaryFolder folder;
  testing::python(R"(
import sys, h5py
with h5py.File(sys.argv[1], 'w', libver='latest') as f:  # 16 million chunks of one byte, none of them written
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_chunk((1, 1)); p.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY); p.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    h5py.h5d.create(f.id, b'd', h5py.h5t.NATIVE_UINT8, h5py.h5s.create_simple((4096, 4096)), p)
)",
                  folder.file("x.h5"));
  EXPECT_THAT(
      error_of(ErrorKind::bad_file, [&] { (void)read_chunk_index(Hdf5File::open(folder.file("x.h5")).dataset("/d")); }),
      HasSubstr("x.h5: damaged: /d: its structures are larger than the file"));
}

TEST(Hdf5RecordLists, OfH5pyAreReadWithNumbersOfAnyType) {
  const testing::TemporaryFolder folder;
  testing::python(R"(
import sys, h5py, numpy as np
record = np.dtype([('x', '<f8'), ('n', '<i2'), ('y', '>f4')])
with h5py.File(sys.argv[1], 'w') as f:
    d = f.create_dataset('lists', (3,), h5py.vlen_dtype(record))
    d[0] = np.array([(0.5, -7, 1.25), (1.5, 8, 2.25)], record)
    d[2] = np.array([(2.5, 9, 3.25)], record)
    f.create_dataset('rows', (1,), h5py.vlen_dtype('f8'))
)",
                  folder.file("x.h5"));
  const Hdf5File file = Hdf5File::open(folder.file("x.h5"));
  const auto lists = file.dataset("/lists").record_lists();
  ASSERT_TRUE(lists);
  EXPECT_THAT(lists->fields, ElementsAre("x", "n", "y"));
  EXPECT_THAT(lists->first, ElementsAre(0, 2, 2, 3));
  EXPECT_THAT(lists->values, ElementsAre(0.5, -7, 1.25, 1.5, 8, 2.25, 2.5, 9, 3.25));
  EXPECT_FALSE(file.dataset("/rows").record_lists());
}

TEST(Hdf5Damage, PartsThatCoverEachOtherThousandsOfTimesAreRefused) {
  const testing::TemporaryFolder folder;
  testing::python(R"(
import sys, h5py
with h5py.File(sys.argv[1], 'w', libver='latest') as f:
    f.create_dataset('source', (1024, 1024), 'u2')  # never written: costs the file nothing
    space, p = h5py.h5s.create_simple((1024, 1024)), h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    for _ in range(2000): p.set_virtual(space, b'.', b'source', space)
    h5py.h5d.create(f.id, b'd', h5py.h5t.STD_U16LE, space, p)
)",
                  folder.file("x.h5"));
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)Hdf5File::open(folder.file("x.h5")).dataset("/d").read(); }),
              HasSubstr("x.h5: damaged: /d: the virtual data set refers to its sources again and again"));
}

TEST(Hdf5Filters, FieldsThatOverlapAreNoRecordOfTheNBitFilter) {
  // One element: a record of 8 bytes with two fields, each of which is all of it.
  const std::vector<unsigned> settings = {13, 0, 1, 3, 8, 2, 0, 4, 8, 0, 4, 8};
  const std::vector<std::byte> packed(16);
  std::vector<std::byte> elements(8);
  EXPECT_THROW((void)hdf5::undo_nbit(settings, packed, elements), hdf5::Fault);
}

}  // namespace
}  // namespace sonde
