// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/optics/start_modes.h"

#include <cmath>

#include "sonde/instruments/ptycho/optics/probe.h"
#include "sonde/instruments/ptycho/optics/test_waves.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;

complex128 overlap(const Array& modes, Index a, Index b) {
  const auto p = modes.view<complex128, 3>();
  complex128 sum = 0;
  for (Index i = 0; i < p[0].count(); ++i) sum += std::conj(p[a].data[i]) * p[b].data[i];
  return sum;
}

Array lopsided_probe() {
  ApertureOptics optics;
  optics.semiangle = 0.020;
  optics.aberrations.set("defocus", 150);
  optics.aberrations.set("C21", 4000);
  Array probe = aperture_probe(electron_sampling(32, 32, 200, 3.75), optics);
  scale_to_counts(probe, 1e4);
  return probe;
}

TEST(StartModes, AreOrthogonalWithTwoPercentEach) {
  const Array modes = start_modes(lopsided_probe(), 7);
  for (Index a = 0; a < 7; ++a)
    for (Index b = 0; b < 7; ++b) {
      const double expected = a != b ? 0 : (a == 0 ? 0.88e4 : 0.02e4);
      EXPECT_LT(std::abs(overlap(modes, a, b) - expected), 1e-8) << a << " " << b;  // of 1e4 counts
    }
}

TEST(StartModes, KeepTheFirstUpToItsScale) {
  const Array probe = lopsided_probe(), modes = start_modes(probe, 3);
  const auto before = probe.view<complex128, 3>();
  const auto p = modes.view<complex128, 3>();
  for (Index i = 0; i < before.count(); ++i)
    EXPECT_LT(std::abs(p.data[i] - std::sqrt(0.96) * before.data[i]), 1e-10) << i;
}

TEST(StartModes, OfARoundProbeAreItsProductsWithTheCoordinates) {
  // Symmetric, so that y P and x P need no correction.
  const Array probe = gaussian_probe(pixel_sampling(33, 33), 6), modes = start_modes(probe, 3);
  const auto p0 = probe.view<complex128, 3>();
  const auto p = modes.view<complex128, 3>();
  double norm = 0;
  for (Index row = 0; row < 33; ++row)
    for (Index col = 0; col < 33; ++col) norm += std::norm(p0(0, row, col) * static_cast<double>(row - 16));
  const double scale = std::sqrt(0.02 / norm);
  for (Index row = 0; row < 33; ++row)
    for (Index col = 0; col < 33; ++col) {
      EXPECT_LT(std::abs(p(1, row, col) - scale * static_cast<double>(row - 16) * p0(0, row, col)), 1e-12);
      EXPECT_LT(std::abs(p(2, row, col) - scale * static_cast<double>(col - 16) * p0(0, row, col)), 1e-12);
    }
}

TEST(StartModes, TheFourthIsSecondInRows) {
  // Of a Gaussian: the Hermite function of second order, with two sign changes along the rows and none along the
  // columns.
  const Array modes = start_modes(gaussian_probe(pixel_sampling(65, 65), 10), 4);
  const auto p = modes.view<complex128, 3>();
  // exp(-2 ln2 r^2 / w^2) has <y^2> = w^2 / (8 ln2), where the second Hermite polynomial is zero: 4.2466 px.
  EXPECT_GT(p(3, 32 + 5, 32).real() * p(3, 32 - 5, 32).real(), 0);
  EXPECT_LT(p(3, 32 + 5, 32).real() * p(3, 32, 32).real(), 0);
  EXPECT_LT(p(3, 32 + 5, 32).real() * p(3, 32 + 4, 32).real(), 0);
  EXPECT_GT(p(3, 32, 32 + 9).real() * p(3, 32, 32).real(), 0);
}

TEST(StartModes, OneIsTheProbeItself) {
  const Array probe = lopsided_probe();
  EXPECT_LT(largest_difference(start_modes(probe, 1), probe), 1e-11);
}

TEST(StartModes, RefuseWhatCannotBe) {
  const Array probe = lopsided_probe();
  error_of(ErrorKind::bad_input, [&] { (void)start_modes(probe, 0); });
  error_of(ErrorKind::bad_input, [&] { (void)start_modes(probe, 51); });
  error_of(ErrorKind::bad_input, [&] { (void)start_modes(random_waves({2, 8, 8}), 3); });
  Array point = Array::zeros(Device::cpu(), {1, 8, 8}, DType::c128);
  point.view<complex128, 3>()(0, 4, 4) = 1;
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)start_modes(point, 2); }),
              ::testing::HasSubstr("no 2 independent modes"));
}

}  // namespace
}  // namespace sonde::ptycho
