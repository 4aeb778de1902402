// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/constrain/phase_ramp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

constexpr Box view{5, 7, 21, 31};

/// A phase without a slope over the view, even about its middle, and a ramp of each slice.
double phase_at(Index slice, Index row, Index col) {
  const auto y = static_cast<double>(row - 15), x = static_cast<double>(col - 22);
  return 0.4 * std::cos(0.5 * y) * std::cos(0.3 * x) + (slice == 0 ? 0.9 * y - 1.3 * x : 0.02 * x);
}

template <class T>
Array object(bool wrapped) {
  Array result(Device::cpu(), {2, 40, 50}, dtype_of<T>);
  const auto o = result.view<T, 3>();
  for (Index s = 0; s < 2; ++s)
    for (Index row = 0; row < 40; ++row)
      for (Index col = 0; col < 50; ++col)
        if constexpr (std::is_floating_point_v<T>)
          o(s, row, col) = static_cast<T>(phase_at(s, row, col));
        else
          o(s, row, col) = T(std::polar(wrapped ? 1.0 : 0.5, phase_at(s, row, col)));
  return result;
}

void expect_ramps(const std::vector<PhaseRamp>& ramps, double tolerance) {
  ASSERT_EQ(ramps.size(), 2u);
  EXPECT_NEAR(ramps[0].per_row, 0.9, tolerance);
  EXPECT_NEAR(ramps[0].per_col, -1.3, tolerance);
  EXPECT_NEAR(ramps[1].per_row, 0, tolerance);
  EXPECT_NEAR(ramps[1].per_col, 0.02, tolerance);
}

TEST(PhaseRamp, OfAPotentialIsFound) { expect_ramps(phase_ramps(object<double>(false), view), 1e-13); }

// Six turns across the view, so that most phases are wrapped.
TEST(PhaseRamp, OfATransmissionIsFoundOverManyTurns) {
  expect_ramps(phase_ramps(object<complex128>(true), view), 1e-12);
}

TEST(PhaseRamp, InSinglePrecision) { expect_ramps(phase_ramps(object<complex64>(false), view), 1e-6); }

TEST(PhaseRamp, IsTakenOutOfAllOfTheObjectAboutTheMiddleOfTheView) {
  Array o = object<complex128>(true);
  expect_ramps(remove_phase_ramps(o, view), 1e-12);
  const auto values = o.view<complex128, 3>();
  for (Index row = 0; row < 40; ++row)
    for (Index col = 0; col < 50; ++col) {
      const auto y = static_cast<double>(row - 15), x = static_cast<double>(col - 22);
      // 1e-12 of a slope, 30 pixels away from the middle.
      EXPECT_LT(std::abs(values(0, row, col) - std::polar(1.0, 0.4 * std::cos(0.5 * y) * std::cos(0.3 * x))), 1e-10);
    }
}

TEST(PhaseRamp, IsTakenOutOfAPotential) {
  Array o = object<double>(false);
  (void)remove_phase_ramps(o, view);
  const auto values = o.view<double, 3>();
  EXPECT_NEAR(values(1, 39, 49), 0.4 * std::cos(12.0) * std::cos(8.1), 1e-12);
  EXPECT_NEAR(values(0, 15, 22), 0.4, 1e-15);
}

TEST(PhaseRamp, NeedsMoreThanALine) {
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::bad_input,
                                     [] {
                                       (void)phase_ramps(object<double>(false), {0, 0, 1, 5});
                                     }),
            "error: a ramp over 1 x 5 pixels");
}

}  // namespace
}  // namespace sonde::ptycho
