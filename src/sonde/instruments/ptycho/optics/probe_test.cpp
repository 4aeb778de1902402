// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/optics/probe.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "sonde/instruments/ptycho/optics/fourier.h"
#include "sonde/instruments/ptycho/optics/test_waves.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using std::numbers::pi;
using ::testing::HasSubstr;

constexpr double rounding = 1e-12;

ApertureOptics lens(double semiangle) {
  ApertureOptics optics;
  optics.semiangle = semiangle;
  return optics;
}

TEST(ApertureProbe, IsZeroAtTheAiryRadius) {
  // 200 keV, 20 mrad: the first zero at 0.61 lambda / alpha = 0.765 A; sixty detector pixels across the radius.
  const Sampling sampling = electron_sampling(1024, 1024, 200, 1.0 / 3);
  const Array probe = aperture_probe(sampling, lens(0.020));
  const auto p = probe.view<complex128, 3>();
  Index zero = 512;
  while (p(0, 512, zero + 1).real() > 0) ++zero;
  const double inside = p(0, 512, zero).real(), outside = p(0, 512, zero + 1).real();
  const double radius = (static_cast<double>(zero - 512) + inside / (inside - outside)) * sampling.pixel_col();
  EXPECT_NEAR(radius, 0.765, 0.005 * 0.765);  // the aperture's area in pixels and the linear crossing
  EXPECT_NEAR(radius, 0.61 * sampling.wavelength / 0.020, 0.005 * 0.765);
}

TEST(ApertureProbe, IsTheSumOverTheAperture) {
  // Sizes that differ, one of them odd, and aberrations without symmetry.
  const Sampling sampling = electron_sampling(12, 9, 80, 6);
  ApertureOptics optics = lens(0.020);
  optics.aberrations.set("defocus", 120);
  optics.aberrations.set("C12", 40);
  optics.aberrations.set("phi12", 0.4);
  optics.aberrations.set("C21", 2500);
  optics.aberrations.set("phi21", -1.1);
  const Array probe = aperture_probe(sampling, optics);

  const double lambda = sampling.wavelength, step = 0.006;
  std::vector<complex128> expected;
  double total = 0;
  for (Index row = 0; row < 12; ++row)
    for (Index col = 0; col < 9; ++col) {
      complex128 sum = 0;
      for (int v = -6; v < 6; ++v)
        for (int u = -4; u <= 4; ++u) {
          const double alpha = step * std::hypot(v, u), phi = std::atan2(v, u);
          const double edge = std::min(1.0, std::max(0.0, (0.020 - alpha) / step + 0.5));
          const double chi = 2 * pi / lambda *
                             (alpha * alpha / 2 * (-120 + 40 * std::cos(2 * (phi - 0.4))) +
                              alpha * alpha * alpha / 3 * 2500 * std::cos(phi + 1.1));
          sum +=
              edge *
              std::polar(
                  1.0, -chi + 2 * pi * (v * static_cast<double>(row - 6) / 12 + u * static_cast<double>(col - 4) / 9));
        }
      expected.push_back(sum);
      total += std::norm(sum);
    }
  const auto p = probe.view<complex128, 3>();
  for (Index i = 0; i < p.count(); ++i)
    EXPECT_LT(std::abs(p.data[i] - expected[static_cast<std::size_t>(i)] / std::sqrt(total)), rounding) << i;
}

TEST(ApertureProbe, HasPowerOne) {
  EXPECT_NEAR(power(aperture_probe(electron_sampling(64, 64, 200, 1.875), lens(0.020))), 1, rounding);
}

TEST(Aperture, TheEdgeFallsOverOnePixel) {
  const Array a = aperture(electron_sampling(64, 64, 200, 2), 0.0205, ApertureEdge::pixel);
  const auto values = a.view<double, 2>();
  // Pixels at 18, 20, 22, 24 mrad: (20.5 - alpha) / 2 + 1/2.
  EXPECT_NEAR(values(0, 9), 1, rounding);
  EXPECT_NEAR(values(0, 10), 0.75, rounding);
  EXPECT_NEAR(values(54, 0), 0.75, rounding);  // -10
  EXPECT_NEAR(values(11, 0), 0, rounding);
  EXPECT_EQ(values(0, 0), 1);
  EXPECT_EQ(values(32, 32), 0);
}

TEST(Aperture, AHardEdgeHasNoValuesBetween) {
  const Array a = aperture(electron_sampling(64, 64, 200, 2), 0.0205, ApertureEdge::hard);
  const auto values = a.view<double, 2>();
  double area = 0;
  for (Index i = 0; i < values.count(); ++i) {
    EXPECT_TRUE(values.data[i] == 0 || values.data[i] == 1);
    area += values.data[i];
  }
  EXPECT_EQ(values(0, 10), 1);
  EXPECT_EQ(values(0, 11), 0);
  EXPECT_NEAR(area, pi * 10.25 * 10.25, 0.05 * area);  // lattice points in a circle of this radius
}

TEST(Aperture, MustFitOnTheDetector) {
  const Sampling sampling = electron_sampling(64, 32, 200, 1);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)aperture_probe(sampling, lens(0.020)); }),
              HasSubstr("a semiangle of 20 mrad on a detector that reaches to 16 mrad"));
  error_of(ErrorKind::bad_input, [&] { (void)aperture(sampling, 0, ApertureEdge::hard); });
}

TEST(Aperture, NeedsAWavelength) {
  error_of(ErrorKind::not_supported, [] { (void)aperture_probe(pixel_sampling(64, 64), lens(0.020)); });
}

TEST(GaussianProbe, HasHalfItsIntensityAtHalfTheWidth) {
  const Sampling sampling = electron_sampling(64, 64, 200, 1.875);
  const Array probe = gaussian_probe(sampling, 8 * sampling.pixel_row());
  const auto p = probe.view<complex128, 3>();
  EXPECT_NEAR(std::norm(p(0, 36, 32)) / std::norm(p(0, 32, 32)), 0.5, rounding);
  EXPECT_NEAR(std::norm(p(0, 32, 28)) / std::norm(p(0, 32, 32)), 0.5, rounding);
  EXPECT_NEAR(power(probe), 1, rounding);
}

TEST(GaussianProbe, MayBeInPixels) {
  const Array probe = gaussian_probe(pixel_sampling(32, 48), 6);
  const auto p = probe.view<complex128, 3>();
  EXPECT_NEAR(std::norm(p(0, 16, 27)) / std::norm(p(0, 16, 24)), 0.5, rounding);
  error_of(ErrorKind::bad_input, [] { (void)gaussian_probe(pixel_sampling(32, 32), 0); });
}

/// |A|^2 as counts.
std::vector<double> disk(const Sampling& sampling, double counts) {
  const Array a = aperture(sampling, 0.020, ApertureEdge::pixel);
  std::vector<double> intensity;
  for (Index i = 0; i < a.count(); ++i) {
    const double value = static_cast<const double*>(a.data())[i];
    intensity.push_back(counts * value * value);
  }
  return intensity;
}

TEST(MeasuredProbe, OfAnApertureIsTheApertureProbe) {
  const Sampling sampling = electron_sampling(32, 24, 200, 3);
  ApertureOptics optics = lens(0.020);
  optics.aberrations.set("defocus", 100);
  const std::vector<double> intensity = disk(sampling, 700);
  const Array measured = measured_probe(sampling, {intensity.data(), 32, 24}, optics.aberrations);
  EXPECT_LT(largest_difference(measured, aperture_probe(sampling, optics)), rounding);
}

TEST(MeasuredProbe, TheCutRemovesWhatLiesBelow) {
  const Sampling sampling = electron_sampling(32, 24, 200, 3);
  std::vector<double> clean = disk(sampling, 700), scattered = clean;
  for (double& value : clean)
    if (value < 100) value = 0;
  for (double& value : scattered)
    if (value < 100) value = 30;
  const Array expected = measured_probe(sampling, {clean.data(), 32, 24}, {});
  EXPECT_LT(largest_difference(measured_probe(sampling, {scattered.data(), 32, 24}, {}, 0.2), expected), rounding);
  EXPECT_GT(largest_difference(measured_probe(sampling, {scattered.data(), 32, 24}, {}), expected), 1e-3);
}

TEST(MeasuredProbe, NegativeCountsAreNone) {
  const Sampling sampling = pixel_sampling(8, 8);
  std::vector<double> zero(64, 0.0);
  zero[0] = zero[1] = 5;
  std::vector<double> negative = zero;
  negative[9] = -3;
  EXPECT_EQ(largest_difference(measured_probe(sampling, {negative.data(), 8, 8}, {}),
                               measured_probe(sampling, {zero.data(), 8, 8}, {})),
            0);
}

TEST(MeasuredProbe, RefusesWhatIsNoPattern) {
  const Sampling sampling = pixel_sampling(8, 8);
  std::vector<double> values(64, 0.0);
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] {
                         (void)measured_probe(sampling, {values.data(), 8, 8}, {});
                       }),
              HasSubstr("no counts"));
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] {
                         (void)measured_probe(sampling, {values.data(), 4, 8}, {});
                       }),
              HasSubstr("a vacuum pattern of 4 x 8 pixels for patterns of 8 x 8"));
  values[19] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] {
                         (void)measured_probe(sampling, {values.data(), 8, 8}, {});
                       }),
              HasSubstr("nan at [2, 3]"));
}

TEST(MeasuredProbe, AberrationsNeedAWavelength) {
  const std::vector<double> values(64, 1.0);
  Aberrations aberrations;
  aberrations.set("C10", 10);
  error_of(ErrorKind::not_supported, [&] {
    (void)measured_probe(pixel_sampling(8, 8), {values.data(), 8, 8}, aberrations);
  });
}

TEST(ScaleToCounts, GivesAllModesTogetherTheCounts) {
  Array probe = random_waves({3, 8, 8});
  const Array before = probe.clone();
  scale_to_counts(probe, 5000);
  EXPECT_NEAR(sum_of_squares(probe), 5000, 1e-9);
  const auto p = std::as_const(probe).view<complex128, 3>();
  const auto q = before.view<complex128, 3>();
  EXPECT_LT(std::abs(p(2, 3, 4) / q(2, 3, 4) - p(0, 1, 1) / q(0, 1, 1)), 1e-10);
}

TEST(ScaleToCounts, RefusesProbesAndCountsOfNothing) {
  Array dark = Array::zeros(Device::cpu(), {1, 4, 4}, DType::c128);
  error_of(ErrorKind::bad_input, [&] { scale_to_counts(dark, 10); });
  Array bright = random_waves({1, 4, 4});
  error_of(ErrorKind::bad_input, [&] { scale_to_counts(bright, 0); });
}

}  // namespace
}  // namespace sonde::ptycho
