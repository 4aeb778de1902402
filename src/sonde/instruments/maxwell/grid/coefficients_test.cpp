// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/grid/coefficients.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sonde/instruments/maxwell/grid/constants.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

constexpr double time_step = 1e-11;

struct Uniform {
  Grid grid{GridSpec{.cells = {4, 1, 4}, .spacing = {0.01, 1, 0.01}}};
  ComponentMedium medium;
  Uniform(double eps_r, double sigma)
      : medium(locate({std::vector<double>(16, eps_r), std::vector<double>(16, sigma)}, grid)) {}
  [[nodiscard]] std::size_t inside() const { return static_cast<std::size_t>(grid.index(2, 0, 2)); }
};

TEST(StepCoefficients, OfTheExponentialFormDecayExactly) {
  const Uniform at(4, 2);
  const Coefficients made = coefficients(at.medium, at.grid, time_step, LossForm::exponential);
  const double decay = std::exp(-2 * time_step / (4 * eps0));
  EXPECT_DOUBLE_EQ(made.ca[1][at.inside()], decay);
  // 1 - exp loses a digit that expm1 keeps.
  EXPECT_NEAR(made.cb[1][at.inside()], (1 - decay) / 2, 1e-15);
}

TEST(StepCoefficients, OfBothFormsAgreeWithoutLossAndToSecondOrderWithIt) {
  for (const double sigma : {0.0, 0.001}) {
    const Uniform at(4, sigma);
    const Coefficients a = coefficients(at.medium, at.grid, time_step, LossForm::semi_implicit);
    const Coefficients b = coefficients(at.medium, at.grid, time_step, LossForm::exponential);
    const double x = sigma * time_step / (4 * eps0);
    EXPECT_NEAR(a.ca[1][at.inside()], b.ca[1][at.inside()], x * x * x + 1e-15);
    EXPECT_NEAR(a.cb[1][at.inside()] / b.cb[1][at.inside()], 1, x * x + 1e-14);
  }
}

TEST(StepCoefficients, AreZeroOnWallsAndInConductors) {
  Uniform at(4, 0);
  at.medium.sigma[1][at.inside()] = std::numeric_limits<double>::infinity();
  for (const LossForm loss : {LossForm::semi_implicit, LossForm::exponential}) {
    const Coefficients made = coefficients(at.medium, at.grid, time_step, loss);
    EXPECT_EQ(made.ca[1][at.inside()], 0);
    EXPECT_EQ(made.cb[1][at.inside()], 0);
    EXPECT_EQ(made.cb[1][static_cast<std::size_t>(at.grid.index(0, 0, 2))], 0);
    EXPECT_GT(made.cb[1][static_cast<std::size_t>(at.grid.index(1, 0, 2))], 0);
  }
}

TEST(StepCoefficients, OfAPoleKeepTheStaticPermittivity) {
  // A constant field is a steady state when P = eps0 deps E: nothing moves and no current flows.
  Uniform at(4, 0);
  at.medium.poles.resize(1);
  at.medium.poles[0].deps[1].assign(16, 70);
  at.medium.poles[0].tau[1].assign(16, 3 * time_step);
  const Coefficients made = coefficients(at.medium, at.grid, time_step, LossForm::semi_implicit);
  const std::size_t i = at.inside();
  const double field = 2, polarisation = eps0 * 70 * field;
  EXPECT_NEAR(made.ca[1][i] * field + made.poles[0].cP[1][i] * polarisation, field, 1e-14);
  EXPECT_NEAR(made.poles[0].aP[1][i] * polarisation + made.poles[0].bP[1][i] * 2 * field, polarisation,
              1e-14 * polarisation);
}

TEST(StepCoefficients, RefuseAStepThatIsNone) {
  const Uniform at(4, 0);
  EXPECT_EQ(sonde::testing::error_of(ErrorKind::bad_input,
                                     [&] { (void)coefficients(at.medium, at.grid, 0, LossForm::semi_implicit); }),
            "error: dt = 0 s: expected above 0");
}

}  // namespace
}  // namespace sonde::maxwell
