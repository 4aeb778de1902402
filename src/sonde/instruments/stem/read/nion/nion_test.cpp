// SPDX-License-Identifier: Apache-2.0
// Data items as Nion Swift stores them: HDF5 by h5py, ndata by Python's zipfile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/read/source.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"
#include "tests/support/read_frames.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::frames_of;
using sonde::testing::python;
using sonde::testing::TemporaryFolder;
using ::testing::HasSubstr;

constexpr const char* nion_writer = R"python(
import sys, io, json, zipfile, numpy as np, h5py
f = sys.argv[1] + '/'
scan = np.arange(120, dtype='<u2').reshape(2, 3, 4, 5)
def properties(shape, units, scales, datum=2, sequence=False):
  return dict(type='data-item', data_shape=shape, data_dtype='uint16', is_sequence=sequence,
              collection_dimension_count=len(shape) - datum, datum_dimension_count=datum,
              intensity_calibration=dict(offset=0.0, scale=1.0, units='counts'),
              dimensional_calibrations=[dict(offset=-1.0, scale=s, units=u) for s, u in zip(scales, units)],
              metadata=dict(hardware_source=dict(name='camera', autostem=dict(high_tension=60000.0, EHT=1)), description=dict()))
usual = properties(scan.shape, ('nm', 'nm', 'rad', 'rad'), (0.1, 0.2, 0.001, 0.001))
def hdf5(name, a, p):
  with h5py.File(f + name, 'w') as file: file.create_dataset('data', data=a).attrs['properties'] = json.dumps(p)
def ndata(name, a, p, method=zipfile.ZIP_STORED):
  npy = io.BytesIO(); np.save(npy, a)
  with zipfile.ZipFile(f + name, 'w') as archive:
    archive.writestr('data.npy', npy.getvalue(), method)
    if p is not None: archive.writestr('metadata.json', p if isinstance(p, str) else json.dumps(p), zipfile.ZIP_DEFLATED)
hdf5('scan.h5', scan, usual); ndata('scan.ndata', scan, usual)
ndata('old.ndata', scan, dict(data_sources=[usual])); ndata('bare.ndata', scan, None)
ndata('packed.ndata', scan, usual, zipfile.ZIP_DEFLATED); ndata('json.ndata', scan, '{"a":')
ndata('line.ndata', scan.reshape(6, 4, 5), properties((6, 4, 5), ('um', 'mrad', 'mrad'), (0.001, 2, 2)))
ndata('time.ndata', scan.reshape(6, 4, 5), properties((6, 4, 5), ('nm', 'mrad', 'mrad'), (1, 2, 2), sequence=True))
hdf5('spectra.h5', scan.reshape(6, 4, 5), properties((6, 4, 5), ('nm', 'nm', 'eV'), (1, 1, 1), datum=1))
with zipfile.ZipFile(f + 'other.ndata', 'w') as archive: archive.writestr('x.txt', 'x')
)python";

class NionFiles : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    python(nion_writer, folder_->path().string());
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::unique_ptr<Source> open(const std::string& name) { return open_source(folder_->file(name), {}); }
  static std::string error(ErrorKind kind, const std::string& name) {
    return error_of(kind, [&] { (void)open(name); });
  }
  static void expect_elements(Source& source) {
    const auto elements = frames_of(source, 4);
    ASSERT_EQ(elements.size(), 120u);
    for (std::size_t i = 0; i < elements.size(); ++i) EXPECT_EQ(elements[i], i);
  }
  static TemporaryFolder* folder_;
};
TemporaryFolder* NionFiles::folder_ = nullptr;

TEST_F(NionFiles, HaveTheCalibrationOfTheirDimensions) {
  for (const char* name : {"scan.h5", "scan.ndata", "old.ndata"}) {
    SCOPED_TRACE(name);
    const auto source = open(name);
    const Acquisition& scan = source->acquisition();
    EXPECT_THAT(scan.format, HasSubstr("Nion Swift"));
    EXPECT_EQ(scan.scan.rows, 2);
    EXPECT_EQ(scan.scan.cols, 3);
    EXPECT_EQ(scan.calibration.scan_step_row_nm->value, 0.1);
    EXPECT_EQ(scan.calibration.scan_step_col_nm->value, 0.2);
    EXPECT_DOUBLE_EQ(scan.calibration.detector_step_mrad->value, 1);
    EXPECT_EQ(scan.calibration.high_tension_v->value, 60e3);
    expect_elements(*source);
  }
}

TEST_F(NionFiles, AnArchiveWithoutMetadataHasNoCalibration) {
  const auto source = open("bare.ndata");
  EXPECT_FALSE(source->acquisition().calibration.detector_step_mrad.has_value());
  expect_elements(*source);
}

TEST_F(NionFiles, OneCollectionAxisIsALineASequenceIsNot) {
  const auto source = open("line.ndata");
  EXPECT_EQ(source->acquisition().scan.rows, 1);
  EXPECT_EQ(source->acquisition().scan.cols, 6);
  EXPECT_DOUBLE_EQ(source->acquisition().calibration.scan_step_col_nm->value, 1);
  expect_elements(*source);
  EXPECT_THAT(error(ErrorKind::bad_input, "time.ndata"), HasSubstr("6 frames: nothing says the shape of the scan"));
}

TEST_F(NionFiles, WhatIsNoScanIsAnError) {
  EXPECT_THAT(error(ErrorKind::not_supported, "packed.ndata"), HasSubstr("data.npy is compressed in the archive"));
  EXPECT_THAT(error(ErrorKind::not_supported, "spectra.h5"),
              HasSubstr("data of 1 datum dimensions; expected patterns"));
  EXPECT_THAT(error(ErrorKind::bad_file, "json.ndata"), HasSubstr("json.ndata, metadata.json"));
  EXPECT_THAT(error(ErrorKind::bad_file, "other.ndata"), HasSubstr("an archive without data.npy"));
}

}  // namespace
}  // namespace sonde::stem
