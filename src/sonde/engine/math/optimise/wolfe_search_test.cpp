// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/optimise/wolfe_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

namespace sonde {
namespace {

/// A function of one number and its derivative.
struct Line {
  std::string name;
  std::function<double(double)> value, slope;
  double decrease, curvature;
};

/// The functions of J. J. Moré and D. J. Thuente, ACM Trans. Math. Softw. 20 (1994) 286, section 5, with the conditions
/// of their tables: 1 is not convex far out (beta = 2), 2 nearly flat at the beginning (beta = 0.004), 4 to 6 are made
/// of two hyperbolas with slopes that the conditions just allow.
double psi(double beta) { return std::sqrt(1 + beta * beta) - beta; }
double hyperbolas(double t, double b1, double b2) {
  return psi(b1) * std::hypot(1 - t, b2) + psi(b2) * std::hypot(t, b1);
}
double hyperbolas_slope(double t, double b1, double b2) {
  return psi(b1) * (t - 1) / std::hypot(1 - t, b2) + psi(b2) * t / std::hypot(t, b1);
}
Line more_thuente(int number) {
  switch (number) {
    case 1:
      return {"1", [](double t) { return -t / (t * t + 2); },
              [](double t) { return (t * t - 2) / ((t * t + 2) * (t * t + 2)); }, 1e-3, 0.1};
    case 2:
      return {"2", [](double t) { return std::pow(t + 0.004, 5) - 2 * std::pow(t + 0.004, 4); },
              [](double t) { return 5 * std::pow(t + 0.004, 4) - 8 * std::pow(t + 0.004, 3); }, 0.1, 0.11};
    case 4:
      return {"4", [](double t) { return hyperbolas(t, 1e-3, 1e-3); },
              [](double t) { return hyperbolas_slope(t, 1e-3, 1e-3); }, 1e-3, 2e-3};
    case 5:
      return {"5", [](double t) { return hyperbolas(t, 1e-2, 1e-3); },
              [](double t) { return hyperbolas_slope(t, 1e-2, 1e-3); }, 1e-3, 2e-3};
    default:
      return {"6", [](double t) { return hyperbolas(t, 1e-3, 1e-2); },
              [](double t) { return hyperbolas_slope(t, 1e-3, 1e-2); }, 1e-3, 2e-3};
  }
}

TEST(StrongWolfe, HoldsOnFunctionsOfTheLiteratureFromAnyFirstStep) {
  for (const int number : {1, 2, 4, 5, 6})
    for (const double first : {1e-3, 1e-1, 1e1, 1e3}) {
      const Line line = more_thuente(number);
      SCOPED_TRACE(line.name + " from " + std::to_string(first));
      const double value0 = line.value(0), slope0 = line.slope(0);
      double looked = 0;
      const WolfeResult result =
          strong_wolfe({0, value0, slope0}, first, {.decrease = line.decrease, .curvature = line.curvature, .most = 60},
                       [&](double t) {
                         looked = t;
                         return LinePoint{t, line.value(t), line.slope(t)};
                       });
      ASSERT_TRUE(result.found);
      EXPECT_EQ(result.at.step, looked) << "the last evaluation is that of the result";
      EXPECT_LE(line.value(looked), value0 + line.decrease * looked * slope0);
      EXPECT_LE(std::abs(line.slope(looked)), line.curvature * std::abs(slope0));
      // Their search needs up to 16 evaluations from 1e-3 or 1e3.
      EXPECT_LE(result.evaluations, 32);
    }
}

TEST(StrongWolfe, FindsTheMinimumOfAParabolaWithTheSecondEvaluation) {
  const auto parabola = [](double t) { return LinePoint{t, t * t - 6 * t, 2 * t - 6}; };
  const WolfeResult result = strong_wolfe(parabola(0), 20, {.curvature = 1e-3}, parabola);
  EXPECT_TRUE(result.found);
  EXPECT_NEAR(result.at.step, 3, 1e-12);
  EXPECT_EQ(result.evaluations, 2);
}

TEST(StrongWolfe, StepsThatAreNotFiniteAreTooLarge) {
  const auto barrier = [](double t) { return LinePoint{t, -2 * t - std::log(1 - t), -2 + 1 / (1 - t)}; };  // t < 1
  const WolfeResult result = strong_wolfe(barrier(0), 8, {}, barrier);
  EXPECT_TRUE(result.found);
  EXPECT_NEAR(result.at.step, 0.5, 0.05);
}

TEST(StrongWolfe, WhereNoStepIsLowerTheOriginIsLookedAtLast) {
  double looked = -1;
  const WolfeResult result =
      strong_wolfe({0, 1, -1}, 1, {.most = 10}, [&](double t) {  // a slope that promises too much
        looked = t;
        return LinePoint{t, t == 0 ? 1.0 : 1 + t, -1};
      });
  EXPECT_FALSE(result.found);
  EXPECT_EQ(result.at.step, 0);
  EXPECT_EQ(looked, 0);
}

}  // namespace
}  // namespace sonde
