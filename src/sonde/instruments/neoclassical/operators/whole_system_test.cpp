// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/operators/whole_system.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sonde/instruments/neoclassical/operators/test_surfaces.h"

namespace sonde::neoclassical {
namespace {

class WholeSystemOf : public ::testing::TestWithParam<Discretisation> {};

TEST_P(WholeSystemOf, IsTheRowsOfTheEquationOneAfterTheOther) {
  const DriftKinetic equation = drift_kinetic(sample(testing::vmec_like(), 5, 9), GetParam());
  const std::size_t n = 45;
  for (const Index n_xi : {2, 11})
    for (const Case& at : {Case{0.02, 0}, Case{0.02, -0.3}}) {
      SCOPED_TRACE(std::to_string(n_xi) + " " + std::to_string(at.epsi_hat));
      const auto levels = static_cast<std::size_t>(n_xi + 1);
      std::vector<double> x(n * levels), y(n * levels), expected(n * levels);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i * i));
      const auto part = [&](std::vector<double>& all, Index k) {
        return std::span(all).subspan(static_cast<std::size_t>(k) * n, n);
      };
      for (Index k = 0; k <= n_xi; ++k) {
        equation.add_diagonal(k, at, 1, part(x, k), part(expected, k));
        if (k > 0) equation.add_lower(k, 1, part(x, k - 1), part(expected, k));
        if (k < n_xi) equation.add_upper(k, 1, part(x, k + 1), part(expected, k));
      }
      WholeSystem system(equation);
      system.prepare(n_xi);
      system.apply(at, x, y);
      // Sums of some 40 terms in another order.
      for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 1e-13 * equation.largest_row * 10) << i;
    }
}

INSTANTIATE_TEST_SUITE_P(, WholeSystemOf, ::testing::Values(Discretisation::skew, Discretisation::collocation),
                         [](const auto& each) { return name(each.param); });

}  // namespace
}  // namespace sonde::neoclassical
