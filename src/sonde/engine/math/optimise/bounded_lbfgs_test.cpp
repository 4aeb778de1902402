// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/optimise/bounded_lbfgs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "sonde/engine/io/checkpoint.h"
#include "sonde/engine/math/optimise/test_functions.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

using testing::Numbers;

constexpr double none = std::numeric_limits<double>::infinity();

struct Known {
  std::string name;
  Objective<double> function;
  Numbers start, lower, upper, minimum;
  double value;
};

/// W. Hock and K. Schittkowski, Test Examples for Nonlinear Programming Codes (1981), by their numbers; and functions
/// without bounds.
const std::vector<Known>& known() {
  const double a = std::sqrt(598.0 / 1200), b = 400 * a * a * a;
  static const std::vector<Known> all{
      {"rosenbrock", testing::extended_rosenbrock<double>, {-1.2, 1}, {}, {}, {1, 1}, 0},
      {"wood", testing::wood, {-3, -1, -3, -1}, {}, {}, {1, 1, 1, 1}, 0},
      {"beale", testing::beale, {1, 1}, {}, {}, {3, 0.5}, 0},
      {"HS 1", testing::extended_rosenbrock<double>, {-2, 1}, {-none, -1.5}, {none, none}, {1, 1}, 0},
      // From (-2, 1) it may lead to a local minimum, as they say.
      {"HS 2",
       testing::extended_rosenbrock<double>,
       {2, 3},
       {-none, 1.5},
       {none, none},
       {2 * a * std::cos(std::acos(1 / b) / 3), 1.5},
       0.0504261879},
      {"HS 4",
       [](std::span<const double> x, std::span<double> g) {
         g[0] = (x[0] + 1) * (x[0] + 1);
         g[1] = 1;
         return std::pow(x[0] + 1, 3) / 3 + x[1];
       },
       {1.125, 0.125},
       {1, 0},
       {none, none},
       {1, 0},
       8.0 / 3},
      {"HS 5",
       [](std::span<const double> x, std::span<double> g) {
         const double c = std::cos(x[0] + x[1]), d = 2 * (x[0] - x[1]);
         g[0] = c + d - 1.5;
         g[1] = c - d + 2.5;
         return std::sin(x[0] + x[1]) + d * d / 4 - 1.5 * x[0] + 2.5 * x[1] + 1;
       },
       {0, 0},
       {-1.5, -3},
       {4, 3},
       {-std::numbers::pi / 3 + 0.5, -std::numbers::pi / 3 - 0.5},
       -std::numbers::sqrt3 / 2 - std::numbers::pi / 3},
      {"HS 38", testing::wood, {-3, -1, -3, -1}, Numbers(4, -10), Numbers(4, 10), {1, 1, 1, 1}, 0},
      {"HS 45",
       [](std::span<const double> x, std::span<double> g) {
         double product = 1;
         for (const double each : x) product *= each;
         for (std::size_t i = 0; i < 5; ++i) g[i] = -product / (120 * x[i]);
         return 2 - product / 120;
       },
       {0.5, 1, 1.5, 2, 2.5},
       Numbers(5, 0),
       {1, 2, 3, 4, 5},
       {1, 2, 3, 4, 5},
       1},
      {"HS 110",
       [](std::span<const double> x, std::span<double> g) {
         double sum = 0, product = 1;
         for (const double each : x) {
           sum += std::pow(std::log(each - 2), 2) + std::pow(std::log(10 - each), 2);
           product *= each;
         }
         const double power = std::pow(product, 0.2);
         for (std::size_t i = 0; i < x.size(); ++i)
           g[i] = 2 * std::log(x[i] - 2) / (x[i] - 2) - 2 * std::log(10 - x[i]) / (10 - x[i]) - 0.2 * power / x[i];
         return sum - power;
       },
       Numbers(10, 9), Numbers(10, 2.001), Numbers(10, 9.999),
       Numbers(10, 9.350265833),  // where all derivatives vanish; they print 9.35025655 with the same value
       -45.77846971}};
  return all;
}

TEST(BoundedLbfgs, FindsThePublishedMinima) {
  for (const Known& one : known()) {
    SCOPED_TRACE(one.name);
    BoundedLbfgs<double> run(one.function, one.start, {one.lower, one.upper}, {.tolerance = 1e-7});
    EXPECT_EQ(run.run(300), Descent::converged);
    EXPECT_NEAR(run.state().value, one.value, 1e-8 * std::max(1.0, std::abs(one.value)));  // their digits
    for (std::size_t i = 0; i < one.start.size(); ++i) EXPECT_NEAR(run.state().x[i], one.minimum[i], 1e-6);
    for (std::size_t i = 0; i < one.lower.size(); ++i) {
      EXPECT_GE(run.state().x[i], one.lower[i]);
      EXPECT_LE(run.state().x[i], one.upper[i]);
    }
  }
}

/// A quadratic function whose minimum within bounds is made to be `x`: a third of the numbers at the lower bound with a
/// gradient above zero, a third at the upper one with a gradient below, the rest between with none.
struct KnownPoint {
  testing::Quadratic function;
  Numbers x, lower, upper, gradient;

  explicit KnownPoint(std::size_t n) : function(n, 5), x(n), lower(n), upper(n), gradient(n) {
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = 0.3 * std::sin(1.0 + static_cast<double>(i));
      lower[i] = i % 3 == 0 ? x[i] : x[i] - 1 - 0.1 * static_cast<double>(i % 7);
      upper[i] = i % 3 == 1 ? x[i] : x[i] + 1 + 0.1 * static_cast<double>(i % 5);
      const double multiplier = 0.2 + 0.05 * static_cast<double>(i % 11);
      gradient[i] = i % 3 == 0 ? multiplier : i % 3 == 1 ? -multiplier : 0;
    }
    function.b = function.times(x);
    for (std::size_t i = 0; i < n; ++i) function.b[i] -= gradient[i];
  }
};

TEST(BoundedLbfgs, FindsAPointWhoseMultipliersAreKnown) {
  for (const std::size_t n : {3, 30, 90}) {
    SCOPED_TRACE(n);
    const KnownPoint known(n);
    BoundedLbfgs<double> run(known.function, Numbers(n, 0.0), {known.lower, known.upper}, {.tolerance = 1e-8});
    EXPECT_EQ(run.run(500), Descent::converged);
    for (std::size_t i = 0; i < n; ++i) {
      // The smallest eigenvalue is 1, so that numbers are as exact as the gradient; multipliers change by up to 2 n.
      EXPECT_NEAR(run.state().x[i], known.x[i], 1e-7);
      EXPECT_NEAR(run.state().gradient[i], known.gradient[i], 1e-7 * 2 * static_cast<double>(n));
      if (i % 3 != 2) {
        EXPECT_EQ(run.state().x[i], known.x[i]) << "bounds are met exactly";
      }
    }
  }
}

TEST(BoundedLbfgs, HoldsNumbersWhoseBoundsAreEqual) {
  BoundedLbfgs<double> run(testing::extended_rosenbrock<double>, {0.3, 0.9}, {{-none, 0.25}, {none, 0.25}},
                           {.tolerance = 1e-9});
  EXPECT_EQ(run.run(100), Descent::converged);
  EXPECT_EQ(run.state().x[1], 0.25);
  // d/dx of 100 (1/4 - x^2)^2 + (1 - x)^2 is zero: 400 x^3 - 98 x - 2 = 0.
  const double x = run.state().x[0];
  EXPECT_NEAR(400 * x * x * x - 98 * x - 2, 0, 1e-8);
}

/// Half the sum of c (x - 1)^2 with c from 1 to 1e6.
struct Uneven {
  static double curvature(std::size_t i, std::size_t n) {
    return std::pow(1e6, static_cast<double>(i) / static_cast<double>(n - 1));
  }
  double operator()(std::span<const double> x, std::span<double> gradient) const {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      gradient[i] = curvature(i, x.size()) * (x[i] - 1);
      sum += gradient[i] * (x[i] - 1) / 2;
    }
    return sum;
  }
};

TEST(BoundedLbfgs, NeedsTwoIterationsWhereThePreconditionerIsTheInverseHessian) {
  const std::size_t n = 40;
  Numbers diagonal;
  for (std::size_t i = 0; i < n; ++i) diagonal.push_back(7 / Uneven::curvature(i, n));  // up to a factor
  BoundedLbfgs<double> run(Uneven(), Numbers(n, 0.0), {}, {.tolerance = 1e-6}, diagonal);
  // One step along the direction that is right, of a length that is not; the pair of it gives the factor.
  EXPECT_EQ(run.run(2), Descent::converged);
  BoundedLbfgs<double> plain(Uneven(), Numbers(n, 0.0), {}, {.tolerance = 1e-6});
  EXPECT_EQ(plain.run(10), Descent::goes_on);
}

TEST(BoundedLbfgs, FindsTheSamePointWithAPreconditioner) {
  const KnownPoint point(30);
  Numbers diagonal;
  for (std::size_t i = 0; i < 30; ++i) diagonal.push_back(0.1 + static_cast<double>(i * 7 % 30));
  BoundedLbfgs<double> run(point.function, Numbers(30, 0.0), {point.lower, point.upper}, {.tolerance = 1e-8}, diagonal);
  EXPECT_EQ(run.run(500), Descent::converged);
  for (std::size_t i = 0; i < 30; ++i) EXPECT_NEAR(run.state().x[i], point.x[i], 1e-7);  // the smallest eigenvalue is 1
}

TEST(BoundedLbfgs, WithoutMemoryIsSteepestDescent) {
  const Objective<double> function = [](std::span<const double> x, std::span<double> g) {
    g[0] = x[0];
    g[1] = 4 * x[1];
    return (x[0] * x[0] + 4 * x[1] * x[1]) / 2;
  };
  BoundedLbfgs<double> descent(function, {1, 1}, {}, {.memory = 0, .tolerance = 1e-6});
  EXPECT_EQ(descent.run(200), Descent::converged);
  EXPECT_TRUE(descent.state().pairs.empty());
}

TEST(BoundedLbfgs, APreconditionerThatIsNotPositiveIsAnError) {
  const auto error = [](const Numbers& diagonal) {
    return testing::error_of(ErrorKind::bad_input, [&] {
      BoundedLbfgs<double>(testing::extended_rosenbrock<double>, {0, 0}, {}, {}, diagonal);
    });
  };
  EXPECT_THAT(error({1, 0}), ::testing::HasSubstr("number 1: the preconditioner is 0; expected a finite one above 0"));
  EXPECT_THAT(error({1}), ::testing::HasSubstr("a preconditioner of 1 for 2 numbers"));
}

TEST(BoundedLbfgs, AgreesInSinglePrecision) {
  BoundedLbfgs<float> run(testing::extended_rosenbrock<float>, {-1.2f, 1}, {}, {.tolerance = 1e-4});
  EXPECT_EQ(run.run(300), Descent::converged);
  for (const float each : run.state().x) EXPECT_NEAR(each, 1, 1e-3);  // 1e-4 over 0.4, with room for rounding of 400 x
}

/// Through a file, as an instrument keeps it.
BoundedLbfgs<double>::State through_a_file(const BoundedLbfgs<double>::State& state, const std::string& path) {
  const CheckpointKind kind{.name = "test", .schema = 1};
  const auto array = [](const Numbers& numbers) {
    return Array::from(numbers, Shape{static_cast<Index>(numbers.size())});
  };
  {
    CheckpointWriter file(path, kind, state.iterations, "");
    file.array("x", array(state.x));
    file.array("gradient", array(state.gradient));
    for (std::size_t i = 0; i < state.pairs.size(); ++i) {
      file.array("step" + std::to_string(i), array(state.pairs[i].step));
      file.array("change" + std::to_string(i), array(state.pairs[i].change));
    }
    file.array("numbers", array({state.value, static_cast<double>(state.iterations),
                                 static_cast<double>(state.evaluations), static_cast<double>(state.pairs.size())}));
    file.finish();
  }
  const CheckpointReader file(path, kind);
  const auto numbers = [&](const std::string& name) {
    const Array read = file.array(name);
    const auto* first = static_cast<const double*>(read.data());
    return Numbers(first, first + read.count());
  };
  BoundedLbfgs<double>::State again;
  again.x = numbers("x");
  again.gradient = numbers("gradient");
  const Numbers scalars = numbers("numbers");
  again.value = scalars[0];
  again.iterations = static_cast<Index>(scalars[1]);
  again.evaluations = static_cast<Index>(scalars[2]);
  for (Index i = 0; i < static_cast<Index>(scalars[3]); ++i)
    again.pairs.push_back({numbers("step" + std::to_string(i)), numbers("change" + std::to_string(i))});
  return again;
}

TEST(BoundedLbfgs, GoesOnFromACheckpointWithTheSameBits) {
  const testing::TemporaryFolder folder;
  const KnownPoint point(30);
  const Bounds<double> bounds{point.lower, point.upper};
  for (const Index stop : {0, 1, 4, 12}) {
    SCOPED_TRACE(stop);
    BoundedLbfgs<double> whole(point.function, Numbers(30), bounds), first(point.function, Numbers(30), bounds);
    (void)first.run(stop);
    BoundedLbfgs<double> second(point.function,
                                through_a_file(first.state(), folder.file(std::to_string(stop) + ".h5")), bounds);
    for (Index i = stop; i < 20; ++i) (void)second.iterate();
    for (Index i = 0; i < 20; ++i) (void)whole.iterate();
    EXPECT_EQ(second.state().x, whole.state().x);
    EXPECT_EQ(second.state().gradient, whole.state().gradient);
    EXPECT_EQ(second.state().evaluations, whole.state().evaluations);
  }
}

TEST(BoundedLbfgs, ImpossibleBoundsAreErrors) {
  const auto error = [](Bounds<double> bounds) {
    return testing::error_of(ErrorKind::bad_input, [&] {
      BoundedLbfgs<double>(testing::extended_rosenbrock<double>, {0, 0}, std::move(bounds));
    });
  };
  EXPECT_THAT(error({{0, 2}, {1, 1}}), ::testing::HasSubstr("number 1: the lower bound 2 is above the upper one, 1"));
  EXPECT_THAT(error({{0}, {1, 1}}), ::testing::HasSubstr("1 lower and 2 upper bounds for 2 numbers"));
}

}  // namespace
}  // namespace sonde
