// SPDX-License-Identifier: Apache-2.0
// Numbers of other programs: tables of MONKES (`collocation`), and of an independent prototype (`skew`).
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "sonde/instruments/neoclassical/operators/test_surfaces.h"
#include "sonde/instruments/neoclassical/solve/plan.h"
#include "tests/support/data.h"

namespace sonde::neoclassical {
namespace {

/// nu_hat, er_hat, n_theta, n_zeta, n_xi, D11, D31, D13, D33, D33_spitzer.
std::vector<std::vector<double>> table(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  std::vector<std::vector<double>> rows;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::vector<double> row;
    for (std::string word; std::getline(words, word, ',');) row.push_back(std::stod(word));
    rows.push_back(row);
  }
  return rows;
}

void expect_table(const std::filesystem::path& path, const Surface& surface) {
  const auto rows = table(path);
  ASSERT_FALSE(rows.empty());
  const auto count = [](double value) { return static_cast<Index>(value); };
  const Plan plan =
      Plan::prepare(surface, {count(rows[0][2]), count(rows[0][3]), count(rows[0][4]), Discretisation::collocation});
  Plan::Workspace workspace = plan.workspace();
  for (const auto& row : rows) {
    SCOPED_TRACE(row[0]);
    ASSERT_EQ(row.size(), 10U);
    const Coefficients made = plan.solve({row[0], row[1] / surface.psi_scale}, workspace);
    EXPECT_NEAR(made.D11, row[5], 1e-9 * std::abs(row[5]));
    EXPECT_NEAR(made.D31, row[6], 1e-8 * std::abs(row[6]));
    EXPECT_NEAR(made.D13, row[7], 1e-8 * std::abs(row[7]));
    EXPECT_NEAR(made.D33, row[8], 1e-9 * std::abs(row[8]));
    EXPECT_NEAR(made.D33_spitzer, row[9], 1e-11 * row[9]);
  }
}

TEST(Reference, CollocationIsMonkesOnW7X) {
  SONDE_NEED_DATA(data);
  expect_table(data / "neoclassical/reference_w7x6_17x25x16.csv", testing::w7x());
}

TEST(Reference, CollocationIsMonkesOnTheAnalyticSurface) {
  SONDE_NEED_DATA(data);
  expect_table(data / "neoclassical/reference_analytic_surface_17x25x32.csv", testing::analytic());
}

struct Value {
  Surface surface;
  GridSpec grid;
  double nu_hat, er_hat;
  double D11, D31, D33;
};

TEST(Reference, SkewIsThePrototype) {
  const GridSpec w7x{17, 25, 16}, fine{17, 25, 32}, coarse{9, 9, 8};
  for (const Value& value :
       {Value{testing::w7x(), w7x, 1e-3, 0, 2.977336234e-3, -2.010614433e-2, 440.28639197},
        {testing::w7x(), w7x, 1e-3, 1e-3, 2.933770056e-3, -2.1187588939e-2, 440.85563618},
        {testing::analytic(), fine, 1e-3, 0, 3.7268234285e-3, -2.2237235201e-1, 420.86583356},
        {testing::analytic(), coarse, 1e-2, 1e-3, 2.8779048679e-3, -1.0783719197e-1, 47.052752430}}) {
    const Coefficients made =
        Plan::prepare(value.surface, value.grid).solve({value.nu_hat, value.er_hat / value.surface.psi_scale});
    const double tolerance = 1e-8;
    EXPECT_NEAR(made.D11, value.D11, tolerance * value.D11);
    EXPECT_NEAR(made.D31, value.D31, tolerance * std::abs(value.D31));
    EXPECT_NEAR(made.D33, value.D33, tolerance * value.D33);
    EXPECT_NEAR(made.D13, -made.D31, 1e-9 * std::abs(made.D31));
  }
}

}  // namespace
}  // namespace sonde::neoclassical
