// SPDX-License-Identifier: Apache-2.0
// Constraints that look at one pixel at a time, against their formulas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "sonde/instruments/ptycho/constrain/test_constrain.h"
#include "sonde/instruments/ptycho/model/test_scene.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using testing::apply;
using testing::built;
using testing::elements;
using ::testing::HasSubstr;
using testing::Scene;
using testing::table;

struct ObjectConstraints : ::testing::Test {
  Scene complex = built({.slices = 2});
  Scene potential = built({.slices = 2, .type = ObjectType::potential});
  ConstraintContext context{.sampling = pixel_sampling(6, 8), .mean_counts = 1};
};

TEST_F(ObjectConstraints, TikhonovPullsATransmissionTowardsOne) {
  const auto before = elements<complex128>(complex.state.object);
  apply("tikhonov", table({{"weight", Value(0.25)}}), context, complex.state);
  const auto after = elements<complex128>(complex.state.object);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_LT(std::abs(after[i] - (1.0 + (before[i] - 1.0) / 1.25)), 1e-15);
}

TEST_F(ObjectConstraints, TikhonovPullsAPhaseTowardsZero) {
  const auto before = elements<double>(potential.state.phase);
  apply("tikhonov", table({{"weight", Value(0.25)}}), context, potential.state);
  const auto after = elements<double>(potential.state.phase);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i] / 1.25, 1e-15);
}

TEST_F(ObjectConstraints, SliceEqualGivesEverySliceTheMean) {
  const auto before = elements<complex128>(complex.state.object);
  apply("slice_equal", Value::object(), context, complex.state);
  const auto after = elements<complex128>(complex.state.object);
  const std::size_t pixels = before.size() / 2;
  for (std::size_t i = 0; i < pixels; ++i) {
    EXPECT_LT(std::abs(after[i] - (before[i] + before[pixels + i]) / 2.0), 1e-15);
    EXPECT_EQ(after[i], after[pixels + i]);
  }
}

TEST_F(ObjectConstraints, SupportIsVacuumOutsideOfAMask) {
  context.object_support = Array::zeros(Device::cpu(), {13, 14}, DType::u8);
  context.object_support.view<std::uint8_t, 2>()(3, 4) = 1;
  const auto before = elements<complex128>(complex.state.object);
  apply("support", Value::object(), context, complex.state);
  const auto after = elements<complex128>(complex.state.object);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(after[i], i % (13 * 14) == 3 * 14 + 4 ? before[i] : complex128(1));
}

TEST_F(ObjectConstraints, SupportReachesAMarginAroundThePositions) {
  potential.state.positions = {{4, 5}, {6, 9}};
  const auto before = elements<double>(potential.state.phase);
  apply("support", table({{"margin", Value(2.0)}}), context, potential.state);
  const auto after = elements<double>(potential.state.phase);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::size_t row = i / 14 % 13, col = i % 14;
    const bool inside = row >= 2 && row <= 8 && col >= 3 && col <= 11;
    EXPECT_EQ(after[i], inside ? before[i] : 0) << row << ", " << col;
  }
}

TEST_F(ObjectConstraints, SupportOfAnotherSizeIsRefused) {
  context.object_support = Array::zeros(Device::cpu(), {13, 15}, DType::u8);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { apply("support", Value::object(), context, complex.state); }),
              HasSubstr("a support of (13, 15) for an object of 13 x 14 pixels"));
  context.object_support = Array::zeros(Device::cpu(), {13, 14}, DType::u8);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { apply("support", Value::object(), context, complex.state); }),
              HasSubstr("empty"));
}

TEST_F(ObjectConstraints, BoundsLimitAmplitudeAndPhaseOfATransmission) {
  const auto before = elements<complex128>(complex.state.object);
  apply("bounds", table({{"amplitude_max", Value(1.0)}, {"phase_min", Value(-0.1)}, {"phase_max", Value(0.2)}}),
        context, complex.state);
  const auto after = elements<complex128>(complex.state.object);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double phase = std::max(-0.1, std::min(0.2, std::arg(before[i])));
    EXPECT_LT(std::abs(after[i] - std::min(std::abs(before[i]), 1.0) * complex128(std::cos(phase), std::sin(phase))),
              1e-15 * 4);
  }
}

TEST_F(ObjectConstraints, PositivityComesAfterTheShrinkage) {
  const auto before = elements<double>(potential.state.phase);
  apply("bounds", table({{"positivity", Value(true)}, {"shrink", Value(0.3)}, {"phase_max", Value(1.0)}}), context,
        potential.state);
  const auto after = elements<double>(potential.state.phase);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], std::min(std::max(before[i] - 0.3, 0.0), 1.0));
}

TEST_F(ObjectConstraints, BoundsThatMeanNothingForTheObjectAreRefused) {
  const auto refused = [&](std::initializer_list<std::pair<const char*, Value>> settings, Scene& scene) {
    return error_of(ErrorKind::bad_input, [&] { apply("bounds", table(settings), context, scene.state); });
  };
  EXPECT_THAT(refused({{"positivity", Value(true)}}, complex), HasSubstr("are for potentials"));
  EXPECT_THAT(refused({{"amplitude_max", Value(1.0)}}, potential), HasSubstr("amplitude_max limits nothing"));
  EXPECT_THAT(refused({{"phase_min", Value(1.0)}, {"phase_max", Value(0.0)}}, potential),
              HasSubstr("no phase is between the bounds"));
  EXPECT_THAT(refused({}, complex), HasSubstr("no bound is given"));
}

}  // namespace
}  // namespace sonde::ptycho
