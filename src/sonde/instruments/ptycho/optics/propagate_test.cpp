// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/optics/propagate.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "sonde/instruments/ptycho/optics/fourier.h"
#include "sonde/instruments/ptycho/optics/probe.h"
#include "sonde/instruments/ptycho/optics/test_waves.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using std::numbers::pi;

/// Free space applied to one centred wave.
Array propagated(const Array& wave, const Sampling& sampling, const Propagation& propagation) {
  Array psi = wave.clone();
  const Array h = propagator(sampling, propagation);
  fourier(psi);
  for (Index i = 0; i < h.count(); ++i)
    static_cast<complex128*>(psi.data())[i] *= static_cast<const complex128*>(h.data())[i];
  inverse_fourier(psi);
  return psi;
}

Array probe_with_c10(const Sampling& sampling, double c10) {
  ApertureOptics optics;
  optics.semiangle = 0.020;
  optics.aberrations.set("C10", c10);
  optics.aberrations.set("C30", 1e5);
  return aperture_probe(sampling, optics);
}

TEST(Propagator, FreeSpaceAddsToC10) {
  // The aperture ends at 20 mrad, the band limit at 40 mrad.
  const Sampling sampling = electron_sampling(64, 64, 200, 1.875);
  for (const bool limited : {true, false}) {
    const Array moved = propagated(probe_with_c10(sampling, -150), sampling, {.distance = 83, .band_limit = limited});
    EXPECT_LT(largest_difference(moved, probe_with_c10(sampling, -67)), 1e-13) << limited;
    EXPECT_GT(largest_difference(moved, probe_with_c10(sampling, -150)), 1e-3) << limited;
  }
}

TEST(Propagator, IsTheFormulaAtEveryFrequency) {
  const Sampling sampling = electron_sampling(12, 10, 80, 4);
  const Propagation space{.distance = 25, .tilt_row = 0.01, .tilt_col = -0.02, .band_limit = false};
  const Array multiplier = propagator(sampling, space);
  const auto h = multiplier.view<complex128, 2>();
  const double dk = 0.004 / sampling.wavelength;
  for (int v = -6; v < 6; ++v)
    for (int u = -5; u < 5; ++u) {
      const double ky = v * dk, kx = u * dk;
      const complex128 expected = std::polar(1.0, -pi * sampling.wavelength * 25 * (kx * kx + ky * ky)) *
                                  std::polar(1.0, -2 * pi * 25 * (kx * std::tan(-0.02) + ky * std::tan(0.01)));
      EXPECT_LT(std::abs(h((v + 12) % 12, (u + 10) % 10) - expected), 1e-13) << v << " " << u;
    }
}

TEST(Propagator, TwoDistancesAreTheirSum) {
  const Sampling sampling = electron_sampling(16, 16, 200, 3);
  const Array wave = random_waves({1, 16, 16});
  const Array once = propagated(wave, sampling, {.distance = 30, .tilt_col = 0.005});
  const Array twice = propagated(propagated(wave, sampling, {.distance = 10, .tilt_col = 0.005}), sampling,
                                 {.distance = 20, .tilt_col = 0.005});
  EXPECT_LT(largest_difference(once, twice), 1e-13);
}

TEST(SlicePropagators, AreThoseOfEachDistanceWithTheTiltOfAll) {
  const Sampling sampling = electron_sampling(8, 6, 200, 3);
  const std::vector<double> distances{20, 55};
  const Array all = slice_propagators(sampling, distances, {.tilt_row = 0.01, .tilt_col = -0.02});
  ASSERT_EQ(all.shape(), (Shape{2, 8, 6}));
  for (Index s = 0; s < 2; ++s) {
    const Array one =
        propagator(sampling, {.distance = distances[static_cast<std::size_t>(s)], .tilt_row = 0.01, .tilt_col = -0.02});
    for (Index i = 0; i < 48; ++i)
      EXPECT_EQ((all.view<complex128, 3>()[s].data[i]), (one.view<complex128, 2>().data[i])) << s << " " << i;
  }
  EXPECT_TRUE(slice_propagators(sampling, {}).empty());
}

TEST(Propagator, WithoutALimitKeepsThePower) {
  const Sampling sampling = electron_sampling(16, 12, 200, 3);
  const Array wave = random_waves({1, 16, 12});
  const Array moved = propagated(wave, sampling, {.distance = 40, .band_limit = false});
  EXPECT_NEAR(sum_of_squares(moved) / sum_of_squares(wave), 1, 1e-13);
}

TEST(Propagator, LimitsTheBandToACircle) {
  // Nyquist is index 6; index 4 lies on two thirds of it and passes.
  const Sampling sampling = electron_sampling(12, 24, 200, 3);
  const Array multiplier = propagator(sampling, {.distance = 10});
  const auto h = multiplier.view<complex128, 2>();
  for (int v = -6; v < 6; ++v)
    for (int u = -12; u < 12; ++u)
      EXPECT_NEAR(std::abs(h((v + 12) % 12, (u + 24) % 24)), v * v + u * u <= 16 ? 1 : 0, 1e-14) << v << " " << u;
  EXPECT_NEAR(band_limit(sampling), 4 * sampling.dk_row, 1e-12);
}

TEST(Propagator, ATiltMovesTheWaveTowardsItsSign) {
  const Sampling sampling = electron_sampling(64, 64, 200, 1.875);
  const Array wave = gaussian_probe(sampling, 6 * sampling.pixel_row());
  // 50 A at the tilts of two and minus one pixels.
  const Propagation space{.distance = 50,
                          .tilt_row = std::atan(2 * sampling.pixel_row() / 50),
                          .tilt_col = std::atan(-sampling.pixel_col() / 50),
                          .band_limit = false};
  const Array moved = propagated(wave, sampling, space);
  const auto psi = moved.view<complex128, 3>();
  double sum = 0, row_sum = 0, col_sum = 0;
  for (Index row = 0; row < 64; ++row)
    for (Index col = 0; col < 64; ++col) {
      sum += std::norm(psi(0, row, col));
      row_sum += std::norm(psi(0, row, col)) * static_cast<double>(row);
      col_sum += std::norm(psi(0, row, col)) * static_cast<double>(col);
    }
  // What wraps around the border of the window.
  EXPECT_NEAR(row_sum / sum, 34, 1e-6);
  EXPECT_NEAR(col_sum / sum, 31, 1e-6);
}

TEST(Propagator, RefusesWhatHasNoMeaning) {
  error_of(ErrorKind::not_supported, [] { (void)propagator(pixel_sampling(8, 8), {.distance = 10}); });
  const Sampling sampling = electron_sampling(8, 8, 200, 3);
  error_of(ErrorKind::bad_input, [&] { (void)propagator(sampling, {.distance = 10, .tilt_row = 1.6}); });
  error_of(ErrorKind::bad_input,
           [&] { (void)propagator(sampling, {.distance = std::numeric_limits<double>::quiet_NaN()}); });
}

}  // namespace
}  // namespace sonde::ptycho
