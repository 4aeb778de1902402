// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

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
              HasSubstr("all.h5, /nowhere: no such data set (HDF5: "));
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
  EXPECT_THAT(text, HasSubstr("truncated file: eof = 17642"));
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

}  // namespace
}  // namespace sonde
