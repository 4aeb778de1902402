// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/scan/probe_support.h"

#include <cmath>
#include <numbers>

#include "sonde/instruments/ptycho/optics/probe.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;

Array point_at(Index rows, Index cols, Index row, Index col) {
  Array probe = Array::zeros(Device::cpu(), {1, rows, cols}, DType::c128);
  probe.view<complex128, 3>()(0, row, col) = {0, 3};
  return probe;
}

TEST(ProbeSupport, OfAPointIsOnePixelOrReachesToIt) {
  EXPECT_EQ(probe_support(point_at(8, 9, 4, 4)), (Box{4, 4, 1, 1}));
  EXPECT_EQ(probe_support(point_at(8, 9, 6, 4)), (Box{2, 2, 5, 5}));
}

TEST(ProbeSupport, EndsWithTheWindow) {
  EXPECT_EQ(probe_support(point_at(8, 9, 0, 0)), (Box{0, 0, 8, 9}));
  EXPECT_EQ(probe_support(point_at(4, 9, 2, 8)), (Box{0, 0, 4, 9}));
}

TEST(ProbeSupport, OfAGaussianFollowsFromTheErrorFunction) {
  // Power inside +-h in one axis: erf(h / (sqrt(2) s)), s^2 = w^2 / (8 ln 2) = 18.03 px^2; in the square its square.
  const Array probe = gaussian_probe(pixel_sampling(96, 96), 10);
  const double s = 10 / std::sqrt(8 * std::numbers::ln2);
  Index half = 0;
  while (std::pow(std::erf((static_cast<double>(half) + 0.5) / (std::sqrt(2.0) * s)), 2) < 0.99) ++half;
  EXPECT_EQ(probe_support(probe), (Box{48 - half, 48 - half, 2 * half + 1, 2 * half + 1}));
  EXPECT_EQ(half, 12);
}

TEST(ProbeSupport, CountsAllModesAndScalesWithTheShare) {
  Array probe = Array::zeros(Device::cpu(), {2, 16, 16}, DType::c128);
  const auto p = probe.view<complex128, 3>();
  p(0, 8, 8) = 3;   // power 9
  p(1, 8, 11) = 1;  // power 1
  EXPECT_EQ(probe_support(probe, 0.9).rows, 1);
  EXPECT_EQ(probe_support(probe, 0.95).rows, 7);
  EXPECT_EQ(probe_support(probe, 1).rows, 7);
}

TEST(ProbeSupport, RefusesProbesWithoutPower) {
  const Array dark = Array::zeros(Device::cpu(), {1, 8, 8}, DType::c128);
  error_of(ErrorKind::bad_input, [&] { (void)probe_support(dark); });
  error_of(ErrorKind::bad_input, [&] { (void)probe_diameter(dark, pixel_sampling(8, 8)); });
  error_of(ErrorKind::bad_input, [&] { (void)probe_support(point_at(8, 8, 4, 4), 1.5); });
}

TEST(ProbeDiameter, OfAGaussianFollowsFromRayleigh) {
  // Outside of radius r lies exp(-r^2 / (2 s^2)) = 0.01 of the power: r = 3.0349 s.
  const Sampling sampling = electron_sampling(128, 128, 200, 1);
  const double width = 16 * sampling.pixel_row(), s = width / std::sqrt(8 * std::numbers::ln2);
  EXPECT_NEAR(probe_diameter(gaussian_probe(sampling, width), sampling), 2 * 3.0349 * s, 0.2 * sampling.pixel_row());
}

TEST(ProbeDiameter, IsAboutTheCentreOfMassInUnitsOfBothAxes) {
  Sampling sampling = pixel_sampling(16, 16);
  sampling.dk_row /= 2;  // rows of two, columns of one
  Array probe = point_at(16, 16, 2, 9);
  probe.view<complex128, 3>()(0, 12, 9) = {3, 0};
  EXPECT_NEAR(probe_diameter(probe, sampling), 20, 1e-12);
}

TEST(LinearOverlap, IsTheSharedPartOfTheDiameter) {
  EXPECT_DOUBLE_EQ(linear_overlap(3, 10), 0.7);
  EXPECT_DOUBLE_EQ(linear_overlap(12, 10), -0.2);
  EXPECT_EQ(linear_overlap(2, 0), 0);
}

}  // namespace
}  // namespace sonde::ptycho
