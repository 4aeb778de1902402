// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/simulate/forward.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/optics/probe.h"
#include "sonde/instruments/ptycho/optics/start_modes.h"
#include "sonde/instruments/ptycho/optics/test_waves.h"
#include "sonde/instruments/ptycho/simulate/specimen.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using std::numbers::pi;

constexpr Index ny = 6, nx = 5;

double largest(const Array& a, const Array& b) {
  EXPECT_EQ(a.shape(), b.shape());
  double most = 0;
  for (Index i = 0; i < a.count(); ++i)
    most = std::max(most, std::abs(static_cast<const double*>(a.data())[i] - static_cast<const double*>(b.data())[i]));
  return most;
}

double sum_of(const Array& a) {
  double sum = 0;
  for (Index i = 0; i < a.count(); ++i) sum += static_cast<const double*>(a.data())[i];
  return sum;
}

Array random_object(Index slices, Index rows, Index cols) {
  Array phase(Device::cpu(), {slices, rows, cols}, DType::f64);
  const Array numbers = random_waves({slices, rows, cols}, 5);
  for (Index i = 0; i < phase.count(); ++i)
    static_cast<double*>(phase.data())[i] = static_cast<const complex128*>(numbers.data())[i].real();
  return transmission(phase);
}

/// Sums over pixels for every frequency, exp(sign 2 pi i (ky y + kx x)), divided by the root of their number.
std::vector<complex128> direct_sum(const std::vector<complex128>& psi, int sign) {
  std::vector<complex128> result;
  for (Index v = 0; v < ny; ++v)
    for (Index u = 0; u < nx; ++u) {
      complex128 sum = 0;
      for (Index y = 0; y < ny; ++y)
        for (Index x = 0; x < nx; ++x)
          sum += psi[static_cast<std::size_t>(y * nx + x)] *
                 std::polar(1.0, sign * 2 * pi * (static_cast<double>(v * y) / ny + static_cast<double>(u * x) / nx));
      result.push_back(sum / std::sqrt(static_cast<double>(ny * nx)));
    }
  return result;
}

TEST(FarField, IsTheChainOfItsDefinition) {
  // Two slices, two modes, a shift of the probe, everything by direct sums.
  const Array object = random_object(2, 11, 12), probe = random_waves({2, ny, nx});
  const Sampling sampling = electron_sampling(ny, nx, 80, 5);
  const std::vector<double> spacing = {35};
  const Array propagators = slice_propagators(sampling, spacing, {.tilt_row = 0.01});
  const Placement at{3, 4, 0.3, -0.45};
  const Array result = far_field_intensity(object, probe, propagators, at);

  const auto o = object.view<complex128, 3>();
  const auto p = probe.view<complex128, 3>();
  const auto h = propagators.view<complex128, 3>();
  std::vector<double> expected(static_cast<std::size_t>(ny * nx));
  for (Index mode = 0; mode < 2; ++mode) {
    std::vector<complex128> psi(p[mode].data, p[mode].data + ny * nx);
    psi = direct_sum(psi, -1);
    for (int v = -3; v < 3; ++v)
      for (int u = -2; u <= 2; ++u)
        psi[static_cast<std::size_t>((v + ny) % ny * nx + (u + nx) % nx)] *=
            std::polar(1.0, -2 * pi * (v * 0.3 / ny - u * 0.45 / nx));
    psi = direct_sum(psi, 1);
    for (Index slice = 0; slice < 2; ++slice) {
      for (Index y = 0; y < ny; ++y)
        for (Index x = 0; x < nx; ++x) psi[static_cast<std::size_t>(y * nx + x)] *= o(slice, 3 + y, 4 + x);
      psi = direct_sum(psi, -1);
      if (slice == 1) break;
      for (Index i = 0; i < ny * nx; ++i) psi[static_cast<std::size_t>(i)] *= h[0].data[i];
      psi = direct_sum(psi, 1);
    }
    for (std::size_t i = 0; i < psi.size(); ++i) expected[i] += std::norm(psi[i]);
  }
  for (Index i = 0; i < ny * nx; ++i)
    EXPECT_NEAR(static_cast<const double*>(result.data())[i], expected[static_cast<std::size_t>(i)], 1e-12) << i;
}

TEST(FarField, AWeakPhaseGratingHasTwoFirstOrders) {
  // exp(i eps cos(2 pi q x)) under a plane wave: first orders J_1(eps)^2 = (eps/2)^2 (1 - eps^2/4 + ...).
  constexpr Index n = 32;
  constexpr double eps = 0.01;
  Array phase(Device::cpu(), {1, n, n}, DType::f64);
  for (Index row = 0; row < n; ++row)
    for (Index col = 0; col < n; ++col)
      phase.view<double, 3>()(0, row, col) = eps * std::cos(2 * pi * 3 * static_cast<double>(col) / n);
  Array plane(Device::cpu(), {1, n, n}, DType::c128);
  for (Index i = 0; i < plane.count(); ++i) static_cast<complex128*>(plane.data())[i] = 1.0 / n;
  const Array result = far_field_intensity(transmission(phase), plane, {}, {0, 0, 0, 0});
  const auto intensity = result.view<double, 2>();
  EXPECT_NEAR(intensity(0, 3) / (eps * eps / 4), 1, 1e-4);
  EXPECT_NEAR(intensity(0, n - 3) / (eps * eps / 4), 1, 1e-4);
  EXPECT_NEAR(intensity(0, 0), 1, eps * eps);
  EXPECT_LT(intensity(3, 0), 1e-20);
}

TEST(FarField, KeepsThePowerOfAPhaseObject) {
  const Array probe = random_waves({3, ny, nx});
  const Array result = far_field_intensity(random_object(1, 9, 9), probe, {}, {2, 1, 0.2, 0.1});
  EXPECT_NEAR(sum_of(result) / power(probe), 1, 1e-13);
}

TEST(FarField, OfAnObjectMovedWithThePositionsIsTheSame) {
  const Array object = random_object(1, 9, 9), probe = random_waves({1, ny, nx});
  Array moved = Array::zeros(Device::cpu(), {1, 14, 14}, DType::c128);
  for (Index row = 0; row < 9; ++row)
    for (Index col = 0; col < 9; ++col)
      moved.view<complex128, 3>()(0, row + 4, col + 5) = object.view<complex128, 3>()(0, row, col);
  EXPECT_EQ(largest(far_field_intensity(object, probe, {}, {2, 1, 0.2, 0.1}),
                    far_field_intensity(moved, probe, {}, {6, 6, 0.2, 0.1})),
            0);
}

TEST(FarField, ThinSlicesAreOneSlice) {
  // O^(1/3) three times with nothing between and no band limit.
  const Array numbers = random_waves({1, 9, 9}, 3);
  Array whole(Device::cpu(), {1, 9, 9}, DType::c128), thin(Device::cpu(), {3, 9, 9}, DType::c128);
  for (Index i = 0; i < 81; ++i) {
    const complex128 value = static_cast<const complex128*>(numbers.data())[i];
    static_cast<complex128*>(whole.data())[i] = value;
    for (Index slice = 0; slice < 3; ++slice)
      static_cast<complex128*>(thin.data())[81 * slice + i] =
          std::polar(std::cbrt(std::abs(value)), std::arg(value) / 3);
  }
  const std::vector<double> spacings = {0, 0};
  const Array propagators = slice_propagators(electron_sampling(ny, nx, 200, 5), spacings, {.band_limit = false});
  const Array probe = random_waves({1, ny, nx});
  EXPECT_LT(largest(far_field_intensity(thin, probe, propagators, {1, 2, 0, 0}),
                    far_field_intensity(whole, probe, {}, {1, 2, 0, 0})),
            1e-13);
}

TEST(FarField, AnEmptyModeChangesNothing) {
  const Array object = random_object(1, 9, 9), one = random_waves({1, ny, nx});
  Array two = Array::zeros(Device::cpu(), {2, ny, nx}, DType::c128);
  std::copy_n(static_cast<const complex128*>(one.data()), one.count(), two.view<complex128, 3>()[1].data);
  EXPECT_EQ(largest(far_field_intensity(object, one, {}, {1, 2, 0.1, 0}),
                    far_field_intensity(object, two, {}, {1, 2, 0.1, 0})),
            0);
}

TEST(FarField, OfManyIsThatOfEachWithAnyNumberOfThreads) {
  const Array object = random_object(1, 12, 12), probe = random_waves({1, ny, nx});
  const std::vector<Placement> placements = {{0, 0, 0, 0}, {6, 7, 0.25, 0}, {3, 1, -0.5, 0.4}};
  const int threads = thread_count();
  set_thread_count(1);
  const Array alone = far_field_intensities(object, probe, {}, placements);
  set_thread_count(threads);
  const Array all = far_field_intensities(object, probe, {}, placements);
  EXPECT_EQ(largest(all, alone), 0);
  const Array last = far_field_intensity(object, probe, {}, placements[2]);
  for (Index i = 0; i < last.count(); ++i)
    EXPECT_EQ((all.view<double, 3>()[2].data[i]), static_cast<const double*>(last.data())[i]);
}

TEST(FarField, RefusesWhatDoesNotBelongTogether) {
  const Array object = random_object(2, 9, 9), probe = random_waves({1, ny, nx});
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] {
                         (void)far_field_intensity(object, probe, {}, {0, 0, 0, 0});
                       }),
              ::testing::HasSubstr("between 2 slices"));
  const Array one = random_object(1, 9, 9);
  error_of(ErrorKind::bad_input, [&] { (void)far_field_intensity(one, probe, {}, {4, 0, 0, 0}); });
  error_of(ErrorKind::bad_input, [&] { (void)far_field_intensity(random_waves({9, 9}), probe, {}, {0, 0, 0, 0}); });
}

}  // namespace
}  // namespace sonde::ptycho
