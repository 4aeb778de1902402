// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/geometry/series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sonde/engine/base/error.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

// The sum written out. Angles are multiples of 2 pi / n, taken on the circle: only rounding, a few ulp of 20.
constexpr double rounding = 1e-13;

TEST(Series, ValuesAndDerivativesAreThoseOfTheSum) {
  const Series series{{{0, 0}, {1, 0}, {2, -3}, {5, 7}}, {2, 0.3, -0.1, 0.05}, {0, 0.2, 0.4, -0.3}};
  const AngleGrid grid{7, 5, 4};  // modes beyond the grid too
  const SeriesOnGrid made = on_grid(series, grid);
  for (Index i = 0; i < grid.n_theta; ++i)
    for (Index j = 0; j < grid.n_zeta; ++j) {
      double value = 0, by_theta = 0, by_zeta = 0;
      for (std::size_t k = 0; k < series.modes.size(); ++k) {
        const int m = series.modes[k].m, n = 4 * series.modes[k].n;
        const double angle = m * grid.theta(i) + n * grid.zeta(j);
        value += series.cosine[k] * std::cos(angle) + series.sine[k] * std::sin(angle);
        const double slope = series.sine[k] * std::cos(angle) - series.cosine[k] * std::sin(angle);
        by_theta += m * slope;
        by_zeta += n * slope;
      }
      const auto at = static_cast<std::size_t>(grid.index(i, j));
      EXPECT_NEAR(made.value[at], value, rounding);
      EXPECT_NEAR(made.by_theta[at], by_theta, rounding);
      EXPECT_NEAR(made.by_zeta[at], by_zeta, 10 * rounding);
    }
}

TEST(Series, TellsItsModes) {
  const Series series{{{0, 0}, {3, -4}}, {1, 2}, {0, 0}};
  EXPECT_TRUE(series.symmetric());
  EXPECT_EQ(series.cosine_of({3, -4}), 2);
  EXPECT_EQ(series.cosine_of({3, 4}), 0);
  EXPECT_EQ(series.largest(), (Mode{3, 4}));
  EXPECT_FALSE((Series{{{1, 0}}, {0}, {0.1}}).symmetric());
  error_of(ErrorKind::internal, [] { (void)on_grid(Series{{{1, 0}}, {}}, {3, 3, 1}); });
}

TEST(AngleGrid, EvenCountsAreRefusedWithTheNextOddOne) {
  EXPECT_NO_THROW(require_odd({1, 25, 5}));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { require_odd({25, 24, 5}); }), HasSubstr("25"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { require_odd({0, 25, 5}); }), HasSubstr("n_theta = 0"));
}

}  // namespace
}  // namespace sonde::neoclassical
