// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/write/write_emd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;

Array counted(std::uint16_t first, const Shape& shape) {
  std::vector<std::uint16_t> elements(static_cast<std::size_t>(shape.count()));
  std::iota(elements.begin(), elements.end(), first);
  return Array::from(elements, shape);
}

TEST(EmdWriter, H5pyFindsTheCubeAndItsAxes) {
  const sonde::testing::TemporaryFolder folder;
  Calibration calibration;
  calibration.scan_step_row_nm = Quantity{0.5, StatedBy::user};
  calibration.scan_step_col_nm = Quantity{0.25, StatedBy::user};
  EmdWriter writer(folder.file("x.h5"), {4, 3, 2, 5}, DType::u16, calibration, {{"note", "made in a test"}});
  writer.append(counted(0, {1, 2, 5}));   // ends inside the first scan row
  writer.append(counted(10, {9, 2, 5}));  // and goes on over several
  writer.append(counted(100, {2, 2, 5}));
  writer.finish();
  EXPECT_EQ(sonde::testing::python(R"(
import sys, h5py, numpy as np
f = h5py.File(sys.argv[1])
cube = f['datacube_root/datacube']
print(f.attrs['emd_group_type'], f.attrs['version_major'], cube.attrs['emd_group_type'], cube.attrs['note'].decode())
print((cube['data'][:] == np.arange(120).reshape(4, 3, 2, 5)).all(), cube['data'].chunks)
for i in range(4): print(cube['dim%d' % i][:].tolist(), cube['dim%d' % i].attrs['name'], cube['dim%d' % i].attrs['units'])
)",
                                   folder.file("x.h5")),
            "file 1 array made in a test\nTrue None\n[0.0, 0.5, 1.0, 1.5] Ry nm\n[0.0, 0.25, 0.5] Rx nm\n"
            "[0.0, 1.0] Qy pixels\n[0.0, 1.0, 2.0, 3.0, 4.0] Qx pixels\n");
}

TEST(EmdWriter, MissingFramesAreCounted) {
  const sonde::testing::TemporaryFolder folder;
  EmdWriter writer(folder.file("x.h5"), {4, 3, 2, 5}, DType::u16, {});
  writer.append(counted(0, {4, 2, 5}));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { writer.finish(); }),
              HasSubstr("4 of 12 frames were given"));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] {
                                         writer.append(counted(0, {9, 2, 5}));
                                       }),
              HasSubstr("9 frames after 4, the scan has 12"));
}

}  // namespace
}  // namespace sonde::stem
