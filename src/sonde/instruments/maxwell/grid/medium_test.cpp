// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/grid/medium.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

Grid small_grid(Mode mode = Mode::em3d) {
  GridSpec spec;
  spec.mode = mode;
  spec.cells = mode == Mode::em3d ? Triple{3, 4, 5} : Triple{3, 1, 5};
  spec.pml = {{{2, 1}, {mode == Mode::em3d ? 1 : 0, 0}, {0, 3}}};
  return Grid(spec);
}

std::vector<double> random_list(std::size_t count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::vector<double> made(count);
  for (double& value : made) value = std::uniform_real_distribution<double>(-1, 1)(engine);
  return made;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) sum += a[i] * b[i];
  return sum;
}

TEST(Located, CellsGiveAnEdgeTheMeanOfFour) {
  const Grid grid(GridSpec{.mode = Mode::em3d, .cells = {2, 2, 2}});
  Model model{{1, 2, 3, 4, 5, 6, 7, 8}, std::vector<double>(8), {}, MaterialLocation::cell};
  const ComponentMedium medium = locate(model, grid);
  // Ex along the line between the cells (z, y) = (0..1, 0..1) of column x = 0: elements 1, 3, 5, 7.
  EXPECT_DOUBLE_EQ(medium.eps_r[0][static_cast<std::size_t>(grid.index(1, 1, 0))], 4);
  // At the edge of the model the cell outside is a copy of the one inside.
  EXPECT_DOUBLE_EQ(medium.eps_r[0][static_cast<std::size_t>(grid.index(0, 1, 0))], 2);
}

TEST(Located, CellsGiveAFaceTheMeanOfTwo) {
  const Grid grid(GridSpec{.mode = Mode::em3d, .cells = {2, 2, 2}});
  Model model{std::vector<double>(8, 1.0), std::vector<double>(8), {1, 2, 3, 4, 5, 6, 7, 8}, MaterialLocation::cell};
  EXPECT_DOUBLE_EQ(locate(model, grid).mu_r[0][static_cast<std::size_t>(grid.index(0, 1, 1))], 3.5);
}

TEST(Located, NodesAreCopiedOutwardsIntoTheLayers) {
  const Grid grid = small_grid(Mode::tm2d);
  Model model{std::vector<double>(15, 1.0), std::vector<double>(15)};
  model.eps_r[0] = 7;   // first row, first column
  model.eps_r[14] = 9;  // the last of both
  const ComponentMedium medium = locate(model, grid);
  EXPECT_DOUBLE_EQ(medium.eps_r[1][static_cast<std::size_t>(grid.index(0, 0, 0))], 7);
  EXPECT_DOUBLE_EQ(medium.eps_r[1][static_cast<std::size_t>(grid.index(5, 0, 7))], 9);
  EXPECT_TRUE(medium.eps_r[0].empty());
}

class GatheredChange : public ::testing::TestWithParam<std::tuple<Mode, MaterialLocation, PaddingGradient>> {};

TEST_P(GatheredChange, IsTheTransposeOfLocating) {
  const auto [mode, location, padding] = GetParam();
  const Grid grid = small_grid(mode);
  const auto cells = static_cast<std::size_t>(grid.cells(Axis::z) * grid.cells(Axis::y) * grid.cells(Axis::x));
  const ModelChange m{random_list(cells, 1), random_list(cells, 2), random_list(cells, 3)};
  ComponentChange g;
  for (const Component c : grid.components()) {
    const auto count = static_cast<std::size_t>(grid.count());
    if (is_electric(c)) {
      g.eps_r[place(c)] = random_list(count, 4);
      g.sigma[place(c)] = random_list(count, 5);
    } else {
      g.mu_r[place(c)] = random_list(count, 6);
    }
  }
  const ComponentChange there = locate_change(m, location, padding, grid);
  const ModelChange back = gather_change(g, location, padding, grid);
  double left = 0;
  for (std::size_t c = 0; c < 3; ++c)
    left += dot(there.eps_r[c], g.eps_r[c]) + dot(there.sigma[c], g.sigma[c]) + dot(there.mu_r[c], g.mu_r[c]);
  // Rounding of a thousand products of the order of one.
  EXPECT_NEAR(left, dot(m.eps_r, back.eps_r) + dot(m.sigma, back.sigma) + dot(m.mu_r, back.mu_r), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Cases, GatheredChange,
                         ::testing::Combine(::testing::Values(Mode::tm2d, Mode::em3d),
                                            ::testing::Values(MaterialLocation::node, MaterialLocation::cell),
                                            ::testing::Values(PaddingGradient::exact, PaddingGradient::frozen)));

TEST(ModelWithoutMeaning, IsRefusedWithElementAndPlace) {
  const Grid grid = small_grid();
  Model model{std::vector<double>(60, 4.0), std::vector<double>(60)};
  const auto message = [&] {
    return sonde::testing::error_of(ErrorKind::bad_input, [&] { require_model(model, grid); });
  };
  model.eps_r[26] = -2;
  EXPECT_EQ(message(), "error: eps_r = -2 at [1, 1, 1] (z, y, x): expected above 0, finite");
  model.eps_r[26] = 4;
  model.sigma[59] = -1;
  EXPECT_EQ(message(), "error: sigma = -1 at [2, 3, 4] (z, y, x): expected at least 0");
  model.sigma[59] = std::numeric_limits<double>::infinity();  // a perfect conductor
  EXPECT_NO_THROW(require_model(model, grid));
  model.mu_r = {1, 2};
  EXPECT_EQ(message(), "error: mu_r: 2 elements, the model has 60");
}

TEST(GridWithoutMeaning, IsRefused) {
  const auto message = [](const GridSpec& spec) {
    return sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)Grid(spec); });
  };
  EXPECT_EQ(message({.cells = {5, 1, 3}, .order = 4}),
            "error: 3 cells along x with its layers: order 4 needs at least 4");
  EXPECT_EQ(message({.cells = {5, 2, 5}}), "error: a model in two dimensions has one cell and no layer along y");
  EXPECT_EQ(message({.cells = {5, 1, 5}, .spacing = {0, 1, 1}}),
            "error: spacing along z = 0 m: expected a positive number");
}

}  // namespace
}  // namespace sonde::maxwell
