// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5_ragged.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "sonde/engine/io/hdf5_writer.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

std::vector<std::uint32_t> list_of(const Hdf5IntegerLists& lists, Index list) {
  const auto i = static_cast<std::size_t>(list);
  std::vector<std::uint32_t> integers(lists.first()[i + 1] - lists.first()[i]);
  lists.read(list, integers);
  return integers;
}

TEST(Hdf5IntegerLists, OfH5pyAreReadWithIntegersOfAnyType) {
  const TemporaryFolder folder;
  testing::python(R"(
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], 'w') as f:
    for name, t in (('u4', '<u4'), ('big', '>u4'), ('u2', '<u2'), ('i8', '<i8')):
        d = f.create_dataset('g/' + name, (5,), h5py.vlen_dtype(np.dtype(t)))
        d[0] = np.array([3, 1, 65535], t)
        d[1] = np.array([], t)
        d[3] = np.arange(3000).astype(t)      # a heap of its own
        d[4] = np.array([7], t)
    f.create_dataset('two', (2, 3), h5py.vlen_dtype('u4'), chunks=(1, 2), compression='gzip')[1, 2] = [9, 8]
    f.create_dataset('texts', (1,), h5py.string_dtype())
    f.create_dataset('reals', (1,), h5py.vlen_dtype('f8'))
)",
                  folder.file("x.h5"));
  const Hdf5File file = Hdf5File::open(folder.file("x.h5"));
  for (const char* name : {"/g/u4", "/g/big", "/g/u2", "/g/i8"}) {
    SCOPED_TRACE(name);
    const auto lists = Hdf5IntegerLists::open(file, name);
    ASSERT_TRUE(lists);
    EXPECT_EQ(lists->lists(), 5);
    EXPECT_THAT(lists->first(), ElementsAre(0, 3, 3, 3, 3003, 3004));
    EXPECT_THAT(list_of(*lists, 0), ElementsAre(3, 1, 65535));
    EXPECT_THAT(list_of(*lists, 1), ElementsAre());
    std::vector<std::uint32_t> counting(3000);
    std::iota(counting.begin(), counting.end(), 0U);
    EXPECT_EQ(list_of(*lists, 3), counting);
    EXPECT_THAT(list_of(*lists, 4), ElementsAre(7));
  }
  const auto two = Hdf5IntegerLists::open(file, "/two");
  ASSERT_TRUE(two);
  EXPECT_EQ(two->shape(), (Shape{2, 3}));
  EXPECT_THAT(list_of(*two, 5), ElementsAre(9, 8));
  EXPECT_FALSE(Hdf5IntegerLists::open(file, "/texts"));
  EXPECT_FALSE(Hdf5IntegerLists::open(file, "/reals"));
}

TEST(Hdf5IntegerLists, AreReadAsTheyWereWritten) {
  const TemporaryFolder folder;
  const std::vector<std::uint64_t> first = {0, 2, 2, 5};
  const std::vector<std::uint32_t> values = {4, 0, 1, 4294967295, 2};
  Hdf5Writer writer(folder.file("x.h5"));
  writer.integer_lists("/group/lists", first, values);
  writer.finish();
  const auto lists = Hdf5IntegerLists::open(Hdf5File::open(folder.file("x.h5")), "/group/lists");
  ASSERT_TRUE(lists);
  EXPECT_EQ(lists->first(), first);
  EXPECT_THAT(list_of(*lists, 2), ElementsAre(1, 4294967295, 2));
  EXPECT_EQ(testing::python(R"(
import sys, h5py
with h5py.File(sys.argv[1]) as f: print([l.tolist() for l in f['group/lists']], f['group/lists'].shape)
)",
                            folder.file("x.h5")),
            "[[4, 0], [], [1, 4294967295, 2]] (3,)\n");
}

TEST(Hdf5IntegerLists, OfIntegersBeyond32BitsAreRefused) {
  const TemporaryFolder folder;
  testing::python(R"(
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], 'w') as f:
    d = f.create_dataset('lists', (2,), h5py.vlen_dtype('i8'))
    d[0] = [1, -1]
    d[1] = [2**32]
)",
                  folder.file("x.h5"));
  const auto lists = Hdf5IntegerLists::open(Hdf5File::open(folder.file("x.h5")), "/lists");
  ASSERT_TRUE(lists);
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)list_of(*lists, 0); }),
              HasSubstr("x.h5: damaged: /lists: list 0 has an integer that is not from 0 to 2^32 - 1"));
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)list_of(*lists, 1); }), HasSubstr("list 1 has an integer"));
}

/// What is said of a file of one list [1, 2, 3] when some bytes of it are changed: where `before` is found, `after` is
/// put.
std::string error_when(const std::string& before, const std::string& after) {
  const TemporaryFolder folder;
  testing::python("before, after = (bytes.fromhex(a) for a in ('" + before + "', '" + after + R"('))
import sys, h5py
with h5py.File(sys.argv[1], 'w') as f:
    f.create_dataset('lists', (1,), h5py.vlen_dtype('u4'))[0] = [1, 2, 3]
data = open(sys.argv[1], 'rb').read()
assert data.count(before) == 1, data.count(before)
open(sys.argv[1], 'wb').write(data.replace(before, after))
)",
                  folder.file("x.h5"));
  return error_of(ErrorKind::bad_file,
                  [&] { (void)Hdf5IntegerLists::open(Hdf5File::open(folder.file("x.h5")), "/lists"); });
}

TEST(Hdf5IntegerLists, WhoseHeapIsDamagedAreRefused) {
  EXPECT_THAT(error_when("47434f4c01", "47434f4d01"), HasSubstr("x.h5: damaged: /lists: there is no heap of lists at"));
  // The head of the object: number 1, one reference, 12 bytes.
  EXPECT_THAT(error_when("01000000000000000c00000000000000", "02000000000000000c00000000000000"),
              HasSubstr("has no object 1"));
  EXPECT_THAT(error_when("01000000000000000c00000000000000", "01000000000000000800000000000000"),
              HasSubstr("list 0 ends early"));
  EXPECT_THAT(error_when("01000000000000000c00000000000000", "0100000000000000ffffffffffffffff"),
              HasSubstr("a list reaches beyond its heap"));
}

}  // namespace
}  // namespace sonde
