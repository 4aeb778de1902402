// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/simulate/source.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "sonde/instruments/ptycho/optics/probe.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;

complex128 product(const Array& modes, Index a, Index b) {
  const auto p = modes.view<complex128, 3>();
  complex128 sum = 0;
  for (Index i = 0; i < p[a].count(); ++i) sum += std::conj(p[a].data[i]) * p[b].data[i];
  return sum;
}

TEST(WithOccupancies, SharesThePowerAmongOrthogonalModes) {
  Array probe = gaussian_probe(pixel_sampling(32, 32), 7);
  scale_to_counts(probe, 500);
  const std::vector<double> shares = {7, 2, 1};
  const Array modes = with_occupancies(probe, shares);
  const double expected[] = {350, 100, 50};
  for (Index a = 0; a < 3; ++a)
    for (Index b = 0; b < 3; ++b) EXPECT_LT(std::abs(product(modes, a, b) - (a == b ? expected[a] : 0)), 1e-10);
}

TEST(WithOccupancies, RefusesSharesOfNothing) {
  const Array probe = gaussian_probe(pixel_sampling(16, 16), 5);
  error_of(ErrorKind::bad_input, [&] { (void)with_occupancies(probe, std::vector<double>{1, -0.1}); });
  error_of(ErrorKind::bad_input, [&] { (void)with_occupancies(probe, std::vector<double>{0, 0}); });
}

TEST(WithSourceSize, BlursTheIntensity) {
  // A Gaussian spot under a Gaussian source is a Gaussian whose widths add in squares: 12^2 + 5^2 = 13^2.
  const Sampling sampling = electron_sampling(64, 64, 200, 1.5);
  const double pixel = sampling.pixel_row();
  const Array modes = with_source_size(gaussian_probe(sampling, 12 * pixel), sampling, 5 * pixel);
  EXPECT_EQ(modes.shape()[0], 9);
  EXPECT_NEAR(power(modes), 1, 1e-12);
  const Array blurred = gaussian_probe(sampling, 13 * pixel);
  const auto p = modes.view<complex128, 3>();
  const auto q = blurred.view<complex128, 3>();
  double most = 0, difference = 0;
  for (Index i = 0; i < q.count(); ++i) {
    double sum = 0;
    for (Index mode = 0; mode < 9; ++mode) sum += std::norm(p[mode].data[i]);
    most = std::max(most, std::norm(q.data[i]));
    difference = std::max(difference, std::abs(sum - std::norm(q.data[i])));
  }
  // The rule leaves out terms of sixth order: (5 / 12)^6 = 0.005 times a factor below one.
  EXPECT_LT(difference, 0.002 * most);
}

TEST(WithSourceSize, OfZeroIsTheProbe) {
  const Sampling sampling = pixel_sampling(16, 16);
  EXPECT_EQ(with_source_size(gaussian_probe(sampling, 5), sampling, 0).shape(), (Shape{1, 16, 16}));
  error_of(ErrorKind::bad_input, [&] { (void)with_source_size(gaussian_probe(sampling, 5), sampling, -1); });
}

}  // namespace
}  // namespace sonde::ptycho
