// SPDX-License-Identifier: Apache-2.0
// Signals as HyperSpy lays them out: .hspy by h5py, .zspy (Zarr version 2) file by file.
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
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* hyperspy_writer = R"python(
import sys, os, json, zlib, numpy as np, h5py
f = sys.argv[1] + '/'
scan = np.arange(120, dtype='<u2').reshape(2, 3, 4, 5)
def axes(shape, nav, scales, units):
  return [dict(_type='UniformDataAxis', name='axis%d' % i, scale=s, offset=0.0, size=n, units=u, navigate=i < nav)
          for i, (n, s, u) in enumerate(zip(shape, scales, units))]
usual = axes(scan.shape, 2, (0.5, 0.25, 0.02, 0.02), ('nm', 'nm', '$A^{-1}$', '1/\u00c5'))
def hspy(name, a, axes, **create):
  with h5py.File(f + name, 'w') as file:
    file.attrs['file_format'] = 'HyperSpy'; file.attrs['file_format_version'] = '3.3'
    g = file.create_group('Experiments/my scan')
    g.create_dataset('data', data=a, **create)
    for i, axis in enumerate(axes):
      at = g.create_group('axis-%d' % i).attrs
      for key, value in axis.items():
        if value is not None: at[key] = value
    g.create_group('metadata/Acquisition_instrument/TEM').attrs.update(beam_energy=200.0, camera_length=115.0)
def zspy(name, a, axes, compressor=None):
  def attributes(folder, values):
    os.makedirs(folder, exist_ok=True)
    json.dump({'zarr_format': 2}, open(folder + '/.zgroup', 'w')); json.dump(values, open(folder + '/.zattrs', 'w'))
  root = f + name
  attributes(root, {'file_format': 'ZSpy'}); attributes(root + '/Experiments', {})
  g = root + '/Experiments/my scan'
  attributes(g, {'package': 'hyperspy'})
  for i, axis in enumerate(axes): attributes(g + '/axis-%d' % i, axis)
  attributes(g + '/metadata/Acquisition_instrument/TEM', dict(beam_energy=200.0, camera_length=115.0))
  os.makedirs(g + '/data')
  json.dump(dict(zarr_format=2, shape=a.shape, chunks=(1,) + a.shape[1:], dtype=a.dtype.str, order='C', fill_value=0,
                 filters=None, compressor=compressor), open(g + '/data/.zarray', 'w'))
  for i, part in enumerate(a):
    bytes = part.tobytes()
    open(g + '/data/%d' % i + '.0' * (a.ndim - 1), 'wb').write(zlib.compress(bytes) if compressor else bytes)
hspy('scan.hspy', scan, usual, chunks=(1, 3, 4, 5), compression='gzip')
hspy('plain.hspy', scan, usual)
hspy('undefined.hspy', scan, axes(scan.shape, 2, (1, 1, 1, 1), ('<undefined>', None, 'px', None)))
hspy('line.hspy', scan.reshape(6, 4, 5), axes((6, 4, 5), 1, (2.0, 1, 1), ('nm', 'mrad', 'mrad')))
hspy('movie.hspy', scan.reshape(6, 4, 5), axes((6, 4, 5), 1, (2.0, 1, 1), ('s', 'mrad', 'mrad')))
hspy('spectra.hspy', scan.reshape(6, 4, 5), axes((6, 4, 5), 2, (1, 1, 1), ('nm', 'nm', 'eV')))
zspy('scan.zspy', scan, usual)
zspy('zlib.zspy', scan, usual, dict(id='zlib', level=1))
zspy('spectra.zspy', scan, axes(scan.shape, 3, (1, 1, 1, 1), ('nm', 'nm', 's', 'eV')))
)python";

class HyperspyFiles : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    python(hyperspy_writer, folder_->path().string());
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::unique_ptr<Source> open(const std::string& name) { return open_source(folder_->file(name), {}); }
  static std::string error(ErrorKind kind, const std::string& name) {
    return error_of(kind, [&] { (void)open(name); });
  }
  static TemporaryFolder* folder_;
};
TemporaryFolder* HyperspyFiles::folder_ = nullptr;

class EveryHyperspy : public HyperspyFiles, public ::testing::WithParamInterface<const char*> {};

TEST_P(EveryHyperspy, HasTheCalibrationOfItsAxes) {
  const auto source = open(GetParam());
  const Acquisition& scan = source->acquisition();
  EXPECT_THAT(scan.format, HasSubstr("HyperSpy"));
  EXPECT_EQ(scan.scan.rows, 2);
  EXPECT_EQ(scan.scan.cols, 3);
  EXPECT_EQ(scan.rows, 4);
  EXPECT_EQ(scan.calibration.scan_step_row_nm->value, 0.5);
  EXPECT_EQ(scan.calibration.scan_step_col_nm->value, 0.25);
  EXPECT_DOUBLE_EQ(scan.calibration.detector_step_inv_a->value, 0.02);
  EXPECT_EQ(scan.calibration.high_tension_v->value, 200e3);
  EXPECT_DOUBLE_EQ(scan.calibration.camera_length_m->value, 0.115);
  EXPECT_NEAR(scan.calibration.detector_step_mrad->value, 20 * 0.0250793, 1e-5);  // published wavelength, six digits
  const auto elements = frames_of(*source, 4);
  ASSERT_EQ(elements.size(), 120u);
  for (std::size_t i = 0; i < elements.size(); ++i) EXPECT_EQ(elements[i], i);
}

INSTANTIATE_TEST_SUITE_P(, EveryHyperspy, ::testing::Values("scan.hspy", "plain.hspy", "scan.zspy", "zlib.zspy"),
                         [](const auto& each) {
                           std::string name = each.param;
                           name[name.find('.')] = '_';
                           return name;
                         });

TEST_F(HyperspyFiles, UndefinedUnitsAreNoCalibrationAndNoNote) {
  const auto source = open("undefined.hspy");
  EXPECT_FALSE(source->acquisition().calibration.scan_step_row_nm.has_value());
  EXPECT_FALSE(source->acquisition().calibration.detector_step_inv_a.has_value());
  EXPECT_TRUE(source->acquisition().notes.empty());
}

TEST_F(HyperspyFiles, OneNavigationAxisIsALineWhenItsUnitIsALength) {
  const auto source = open("line.hspy");
  EXPECT_EQ(source->acquisition().scan.rows, 1);
  EXPECT_EQ(source->acquisition().scan.cols, 6);
  EXPECT_EQ(source->acquisition().calibration.scan_step_col_nm->value, 2);
  EXPECT_EQ(source->acquisition().calibration.detector_step_mrad->value, 1);
  EXPECT_THAT(error(ErrorKind::bad_input, "movie.hspy"), HasSubstr("6 frames: nothing says the shape of the scan"));
}

TEST_F(HyperspyFiles, SpectraAreNoPatterns) {
  EXPECT_THAT(error(ErrorKind::not_supported, "spectra.hspy"),
              AllOf(HasSubstr("a HyperSpy signal of 1 dimensions behind 2 navigation axes; expected patterns of two"),
                    HasSubstr("transpose")));
  EXPECT_THAT(error(ErrorKind::not_supported, "spectra.zspy"), HasSubstr("behind 3 navigation axes"));
}

}  // namespace
}  // namespace sonde::stem
