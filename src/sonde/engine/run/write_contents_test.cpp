// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/write_contents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

Contents small() {
  Contents contents;
  contents.attribute("schema", "sonde.test.result/1");
  contents.attribute("periods", std::int64_t{5});
  contents.attribute("scan/centre", "1,2");
  contents.add("D11", {"rho", "nu"}, Array::from<double>({1, 2, 3, 4, 5, 6}, {2, 3})).unit("m");
  contents.add("scan/total", {"row"}, Array::from<std::int32_t>({7, 8}, {2}))
      .attributes.emplace_back("pixel_size_nm", std::vector{0.5, 0.25});
  contents.add("iota", 0.5);
  contents.add_text("settings", "[grid]");
  return contents;
}

// h5py and NumPy are independent readers. What each prints is written here by hand.
TEST(WriteContents, OtherProgramsReadHdf5WithAxesUnitsAndAttributes) {
  const testing::TemporaryFolder folder;
  write_contents(folder.file("x.h5"), small());
  EXPECT_EQ(testing::python(R"(
import sys, h5py
with h5py.File(sys.argv[1]) as f:
    print(f.attrs['schema'], f.attrs['periods'], f['scan'].attrs['centre'])
    d = f['D11']
    print(d[()].tolist(), d.attrs['units'], [each.label for each in d.dims])
    t = f['scan/total']
    print(t[()].tolist(), t.attrs['pixel_size_nm'].tolist(), [each.label for each in t.dims])
    print(f['iota'][()], f['settings'][()].decode())
)",
                            folder.file("x.h5")),
            "sonde.test.result/1 5 1,2\n[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] m ['rho', 'nu']\n"
            "[7, 8] [0.5, 0.25] ['row']\n0.5 [grid]\n");
}

TEST(WriteContents, NumpyReadsNpzWithItsAttributes) {
  const testing::TemporaryFolder folder;
  write_contents(folder.file("x.npz"), small());
  EXPECT_EQ(testing::python(R"(
import json, sys, numpy as np
with np.load(sys.argv[1]) as f:
    print(sorted(f))
    print(f['D11'].tolist(), f['scan/total'].tolist(), f['iota'], f['settings'])
    said = json.loads(str(f['attributes_json']))
    print(said[''], said['D11'], said['scan/total'])
)",
                            folder.file("x.npz")),
            "['D11', 'attributes_json', 'iota', 'scan/total', 'settings']\n"
            "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] [7, 8] 0.5 [grid]\n"
            "{'schema': 'sonde.test.result/1', 'periods': 5, 'scan/centre': '1,2'} "
            "{'units': 'm', 'dimensions': ['rho', 'nu']} "
            "{'pixel_size_nm': [0.5, 0.25], 'dimensions': ['row']}\n");
}

TEST(WriteContents, EqualContentsGiveEqualBytes) {
  const testing::TemporaryFolder folder;
  for (const char* suffix : {".h5", ".npz", ".nc"}) {
    SCOPED_TRACE(suffix);
    write_contents(folder.file(std::string("a") + suffix), small());
    write_contents(folder.file(std::string("b") + suffix), small());
    EXPECT_EQ(testing::read_bytes(folder.file(std::string("a") + suffix)),
              testing::read_bytes(folder.file(std::string("b") + suffix)));
  }
}

TEST(WriteContents, OtherEndingsAndMissingFoldersAreNamed) {
  const testing::TemporaryFolder folder;
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { require_contents_path(folder.file("run.txt")); }),
              HasSubstr("written as .nc, .h5 or .npz"));
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { require_contents_path(folder.file("run.nc"), {".h5"}); }),
              HasSubstr("written as .h5"));
  EXPECT_NO_THROW(require_contents_path(folder.file("run.HDF5"), {".h5"}));
  testing::error_of(ErrorKind::io, [&] { require_contents_path(folder.file("none/run.nc")); });
}

}  // namespace
}  // namespace sonde
