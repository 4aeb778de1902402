// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/geometry/resolution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/geometry/sampled_surface.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

/// Amplitudes 0.06, 0.03 and 0.01 beside B00: 60, 30 and 10 % of the variation.
Surface three_modes() {
  Surface surface;
  surface.source = "three";
  surface.b = {{{0, 0}, {1, 0}, {2, -1}, {0, 4}}, {1, 0.06, -0.03, 0.01}};
  surface.field = BoozerField{.b_theta = 0, .b_zeta = 1, .jacobian_b2 = 1, .flux = 1};
  return surface;
}

TEST(Resolution, IsTheShareOfTheModesThatAGridHas) {
  const Surface surface = three_modes();
  EXPECT_DOUBLE_EQ(unresolved_share(surface, 1, 1), 1);
  EXPECT_NEAR(unresolved_share(surface, 3, 1), 0.4, 1e-15);
  EXPECT_NEAR(unresolved_share(surface, 5, 3), 0.1, 1e-15);
  EXPECT_EQ(unresolved_share(surface, 5, 9), 0);
  Surface uniform = surface;
  uniform.b = {{{0, 0}}, {1}};
  EXPECT_EQ(unresolved_share(uniform, 1, 1), 0);
}

TEST(Resolution, IsTakenNoteOfBelowTheFloorOnly) {
  const Surface surface = three_modes();
  EXPECT_EQ(resolution_note(surface, 5, 9), std::nullopt);
  // m up to 2 and n up to 4: 2.25 x 5 and 2.25 x 9 points, odd.
  EXPECT_THAT(resolution_note(surface, 5, 7).value(),
              AllOf(HasSubstr("hold 10 % of how |B| varies"), HasSubstr("13 x 21 resolve them")));
  Surface axisymmetric = surface;
  axisymmetric.b = {{{0, 0}, {1, 0}}, {1, 0.1}};
  EXPECT_EQ(resolution_note(axisymmetric, 3, 1), std::nullopt);
}

TEST(Resolution, ThatMissesMoreThanAQuarterIsRefused) {
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)sample(three_modes(), 1, 1); }),
              HasSubstr("three: n_theta = 1, n_zeta = 1: modes beyond m = 0, n = 0 hold 100 %"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)sample(three_modes(), 3, 1); }), HasSubstr("hold 40 %"));
  EXPECT_NO_THROW((void)sample(three_modes(), 5, 3));
}

}  // namespace
}  // namespace sonde::neoclassical
