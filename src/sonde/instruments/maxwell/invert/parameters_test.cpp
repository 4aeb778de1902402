// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "sonde/instruments/maxwell/invert/test_invert.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

const CellGrid unknowns{{5, 1, 7}, {0.1, 1, 0.1}};
constexpr std::size_t unknown_cells = 35;

Model random_start() {
  return {.eps_r = testing::random_numbers(unknown_cells, 1, 3, 8),
          .sigma = testing::random_numbers(unknown_cells, 2, 1e-3, 0.02)};
}

Mask random_mask() {
  Mask mask = testing::random_numbers(unknown_cells, 3, 0, 1);
  mask[4] = 0;
  mask[9] = 1;
  return mask;
}

ParameterSettings both(SigmaScale scale = SigmaScale::linear) {
  return {.sigma = true, .eps_r_bounds = {2, 10}, .sigma_bounds = {1e-4, 0.1}, .beta = 0.7, .sigma_scale = scale};
}

struct UnknownsCase {
  std::string name;
  ParameterSettings settings;
};

class EachParameters : public ::testing::TestWithParam<UnknownsCase> {};

/// A function of the model, and what it is of the numbers.
TEST_P(EachParameters, GradientIsThatByTheNumbers) {
  const Parameters parameters(unknowns, GetParam().settings, random_start(), random_mask());
  const auto by_eps = testing::random_numbers(unknown_cells, 4), by_sigma = testing::random_numbers(unknown_cells, 5);
  const auto value = [&](const std::vector<double>& numbers) {
    const Model model = parameters.model(parameters.fields(numbers));
    double sum = 0;
    for (std::size_t i = 0; i < unknown_cells; ++i)
      sum += by_eps[i] * model.eps_r[i] * model.eps_r[i] + 1e4 * by_sigma[i] * model.sigma[i] * model.sigma[i];
    return sum;
  };
  const auto numbers = parameters.start();
  const auto fields = parameters.fields(numbers);
  const Model model = parameters.model(fields);
  ModelChange change{std::vector<double>(unknown_cells), std::vector<double>(unknown_cells), {}};
  for (std::size_t i = 0; i < unknown_cells; ++i) {
    change.eps_r[i] = 2 * by_eps[i] * model.eps_r[i];
    change.sigma[i] = 2e4 * by_sigma[i] * model.sigma[i];
  }
  testing::expect_derivative(value, numbers, parameters.by_numbers(parameters.by_fields(fields, change)));
}

TEST_P(EachParameters, ChangesAreTheTransposeOfGradients) {
  const Parameters parameters(unknowns, GetParam().settings, random_start(), random_mask());
  const auto fields = parameters.fields(parameters.start());
  const auto direction = testing::random_numbers(static_cast<std::size_t>(parameters.count()), 6);
  const ModelChange by{testing::random_numbers(unknown_cells, 7), testing::random_numbers(unknown_cells, 8), {}};
  const ModelChange there = parameters.model_change(fields, parameters.field_change(direction));
  // Sums of 70 products, rounded each.
  EXPECT_NEAR(testing::product(there.eps_r, by.eps_r) + testing::product(there.sigma, by.sigma),
              testing::product(direction, parameters.by_numbers(parameters.by_fields(fields, by))), 1e-14);
}

TEST_P(EachParameters, CellsThatAreHeldKeepTheirBits) {
  const Model start = random_start();
  const Parameters parameters(unknowns, GetParam().settings, start, random_mask());
  auto numbers = parameters.start();
  for (double& each : numbers) each *= 1.1;
  const Model model = parameters.model(parameters.fields(numbers));
  EXPECT_EQ(model.eps_r[4], start.eps_r[4]);
  EXPECT_EQ(model.sigma[4], start.sigma[4]);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, EachParameters,
    ::testing::Values(
        UnknownsCase{"EpsR", {.eps_r_bounds = {2, 10}}}, UnknownsCase{"Both", both()},
        UnknownsCase{"Logarithm", both(SigmaScale::logarithmic)},
        UnknownsCase{"Sigma", {.eps_r = false, .sigma = true}},
        UnknownsCase{"Coarse", {.sigma = true, .eps_r_bounds = {2, 10}, .every = {2, 1, 3}, .spline = Spline::cubic}}),
    [](const auto& each) { return each.param.name; });

TEST(Parameters, StartIsTheModelItself) {
  const Model start = random_start();
  const Parameters parameters(unknowns, both(), start, {});
  const Model model = parameters.model(parameters.fields(parameters.start()));
  EXPECT_EQ(model.eps_r, start.eps_r);
  for (std::size_t i = 0; i < unknown_cells; ++i) EXPECT_NEAR(model.sigma[i], start.sigma[i], 1e-16);
}

TEST(Parameters, BoundsOfNumbersAreBoundsOfTheModel) {
  ParameterSettings settings = both(SigmaScale::logarithmic);
  settings.every = {3, 1, 3};
  const Parameters parameters(unknowns, settings, random_start(), {});
  for (const auto& numbers : {parameters.bounds().lower, parameters.bounds().upper}) {
    const Model model = parameters.model(parameters.fields(numbers));
    for (const double each : model.eps_r) EXPECT_TRUE(each >= 2 && each <= 10) << each;
    for (const double each : model.sigma) EXPECT_TRUE(each >= 1e-4 && each <= 0.1) << each;
  }
}

TEST(Parameters, NumbersThatNoFreeCellTakesHaveNoGradient) {
  Mask mask(unknown_cells, 1.0);
  mask[11] = 0;
  const Parameters parameters(unknowns, {}, random_start(), mask);
  std::vector<double> by_fields(unknown_cells, 1.0);
  by_fields[11] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(parameters.by_numbers(by_fields)[11], 0);
  EXPECT_EQ(parameters.by_numbers(by_fields)[10], 1);
}

TEST(Parameters, AConductorThatIsHeldStaysOne) {
  Model start = random_start();
  start.sigma[20] = std::numeric_limits<double>::infinity();
  Mask mask(unknown_cells, 1.0);
  mask[20] = 0;
  const Parameters parameters(unknowns, both(), start, mask);
  EXPECT_EQ(parameters.model(parameters.fields(parameters.start())).sigma[20], start.sigma[20]);
}

/// (1 + 1/4) 4 / (h + 1/4 of the largest h of the class), with the illumination of sigma over that of eps_r by slope^2.
TEST(Parameters, PreconditionerMovesWeaklyLitNumbersMore) {
  const Parameters parameters(unknowns, both(), random_start(), {});
  std::vector<double> eps_r(unknown_cells, 4.0), sigma(unknown_cells, 1e5);
  eps_r[3] = 0;
  sigma[5] = 0;
  const auto diagonal = parameters.preconditioner(parameters.fields(parameters.start()), {eps_r, sigma, {}}, 0.25);
  ASSERT_EQ(diagonal.size(), 2 * unknown_cells);
  const double of_sigma = 1e5 * std::pow(5.56e-3 / 0.7, 2);
  EXPECT_DOUBLE_EQ(diagonal[0], 1);
  EXPECT_DOUBLE_EQ(diagonal[3], 5);
  EXPECT_DOUBLE_EQ(diagonal[unknown_cells], 4 / of_sigma);
  EXPECT_DOUBLE_EQ(diagonal[unknown_cells + 5], 5 * 4 / of_sigma);
}

/// A step down the preconditioned gradient.
TEST(Parameters, PreconditionerMovesTheModelTheSameForEveryBeta) {
  const ModelChange lit{
      testing::random_numbers(unknown_cells, 6, 1, 2), testing::random_numbers(unknown_cells, 7, 1, 2), {}};
  for (const SigmaScale scale : {SigmaScale::linear, SigmaScale::logarithmic}) {
    const auto change = [&](double beta) {
      ParameterSettings settings = both(scale);
      settings.beta = beta;
      const Parameters parameters(unknowns, settings, random_start(), {});
      const auto fields = parameters.fields(parameters.start());
      auto step = parameters.by_numbers(parameters.by_fields(fields, lit));
      const auto diagonal = parameters.preconditioner(fields, lit, 0.25);
      for (std::size_t i = 0; i < step.size(); ++i) step[i] *= diagonal[i];
      return parameters.model_change(fields, parameters.field_change(step));
    };
    const ModelChange wanted = change(1), found = change(30);
    // Rounding of a few products.
    for (std::size_t i = 0; i < unknown_cells; ++i) {
      EXPECT_NEAR(found.eps_r[i], wanted.eps_r[i], 1e-13 * std::abs(wanted.eps_r[i]));
      EXPECT_NEAR(found.sigma[i], wanted.sigma[i], 1e-13 * std::abs(wanted.sigma[i]));
    }
  }
}

std::string unknowns_error(const ParameterSettings& settings, const Model& start = random_start()) {
  return sonde::testing::error_of(ErrorKind::bad_input, [&] { Parameters(unknowns, settings, start, {}); });
}

TEST(Parameters, SettingsWithoutMeaningAreErrors) {
  EXPECT_THAT(unknowns_error({.eps_r = false}),
              ::testing::HasSubstr("parameters: none; expected eps_r, sigma or both"));
  EXPECT_THAT(unknowns_error({.eps_r_bounds = {9, 2}}),
              ::testing::HasSubstr("eps_r: bounds 9 to 2; expected above 0 and finite, lowest first"));
  EXPECT_THAT(unknowns_error({.sigma = true, .sigma_scale = SigmaScale::logarithmic}),
              ::testing::HasSubstr("sigma: bounds 0 to 1; expected above 0 and finite, lowest first"));
  EXPECT_THAT(unknowns_error({.sigma = true, .beta = 0}),
              ::testing::HasSubstr("beta = 0; expected a finite number above 0"));
  EXPECT_THAT(unknowns_error({.sigma = true, .sigma0 = -1}),
              ::testing::HasSubstr("sigma0 = -1; expected a finite number above 0"));
}

TEST(Parameters, AStartOutsideTheBoundsIsAnError) {
  Model start = random_start();
  start.eps_r[7] = 12;
  EXPECT_THAT(unknowns_error(both(), start),
              ::testing::HasSubstr("eps_r = 12 at element 7 of the start model; the bounds are 2 to 10"));
  start.eps_r.pop_back();
  EXPECT_THAT(unknowns_error(both(), start),
              ::testing::HasSubstr("start model: 34 elements of eps_r and 35 of sigma; expected 35"));
}

}  // namespace
}  // namespace sonde::maxwell
