// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/simulate/specimen.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "sonde/instruments/ptycho/optics/fourier.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;

constexpr Grid grid{90, 110, 0.25, 0.2};

double mean_of(const Array& map) {
  double sum = 0;
  for (Index i = 0; i < map.count(); ++i) sum += static_cast<const double*>(map.data())[i];
  return sum / static_cast<double>(map.count());
}

TEST(AtomPhase, IsTheSumOfGaussians) {
  // One in the middle, one on the border, one outside.
  const std::vector<Site> sites = {{11.03, 9.97, 0.6}, {0.1, 21.9, 0.4}, {-0.7, 5, 0.3}};
  const Array phase = atom_phase(sites, 0.45, grid);
  for (Index row = 0; row < grid.rows; ++row)
    for (Index col = 0; col < grid.cols; ++col) {
      double expected = 0;
      for (const Site& site : sites) {
        const double y = static_cast<double>(row) * 0.25 - site.row, x = static_cast<double>(col) * 0.2 - site.col;
        expected += site.peak * std::exp(-(y * y + x * x) / (2 * 0.45 * 0.45));
      }
      ASSERT_NEAR((phase.view<double, 2>()(row, col)), expected, 1e-15) << row << " " << col;
    }
}

TEST(AtomPhase, NeedsAWidth) {
  error_of(ErrorKind::bad_input, [] { (void)atom_phase({}, 0, grid); });
}

Lattice perfect(LatticeKind kind) { return {.kind = kind, .spacing = 3, .turn = 0.3, .displacement = 0}; }

/// Distances from a site in the middle to all others, ascending.
std::vector<double> distances(const std::vector<Site>& sites) {
  const Site& middle = *std::min_element(sites.begin(), sites.end(), [](const Site& a, const Site& b) {
    return std::hypot(a.row - 11.25, a.col - 11) < std::hypot(b.row - 11.25, b.col - 11);
  });
  std::vector<double> all;
  for (const Site& site : sites) all.push_back(std::hypot(site.row - middle.row, site.col - middle.col));
  std::sort(all.begin(), all.end());
  return all;
}

TEST(LatticeSites, SquareOnesHaveFourNeighbours) {
  const std::vector<double> all = distances(lattice_sites(perfect(LatticeKind::square), grid, 1));
  for (std::size_t i = 1; i <= 4; ++i) EXPECT_NEAR(all[i], 3, 1e-12);
  for (std::size_t i = 5; i <= 8; ++i) EXPECT_NEAR(all[i], 3 * std::numbers::sqrt2, 1e-12);
}

TEST(LatticeSites, HexagonalOnesHaveSixNeighbours) {
  const std::vector<double> all = distances(lattice_sites(perfect(LatticeKind::hexagonal), grid, 1));
  for (std::size_t i = 1; i <= 6; ++i) EXPECT_NEAR(all[i], 3, 1e-12);
  EXPECT_NEAR(all[7], 3 * std::numbers::sqrt3, 1e-12);
}

TEST(LatticeSites, CoverTheGridAndItsBorderEvenly) {
  // 22.5 x 22 A and 6 A around it, one site per 9 A^2; whole rows more or less at the border.
  const std::vector<Site> sites = lattice_sites(perfect(LatticeKind::square), grid, 1);
  EXPECT_NEAR(static_cast<double>(sites.size()), 34.5 * 34 / 9, 0.05 * 130);
  const std::vector<Site> dense = lattice_sites(perfect(LatticeKind::hexagonal), grid, 1);
  EXPECT_NEAR(static_cast<double>(dense.size()), 34.5 * 34 / (9 * 0.8660254), 0.05 * 150);
}

TEST(LatticeSites, AlternateBetweenTwoPeaks) {
  const std::vector<Site> sites = lattice_sites(perfect(LatticeKind::square), grid, 1);
  const auto heavy = std::count_if(sites.begin(), sites.end(), [](const Site& site) { return site.peak == 0.75; });
  EXPECT_NEAR(static_cast<double>(heavy), static_cast<double>(sites.size()) / 2, 3);
}

TEST(LatticeSites, AreDisplacedAndMissingAsAsked) {
  const Grid large{400, 400, 0.5, 0.5};
  Lattice lattice{.spacing = 2, .displacement = 0, .vacancies = 0};
  const std::vector<Site> full = lattice_sites(lattice, large, 7);
  lattice.displacement = 0.1;
  const std::vector<Site> shaken = lattice_sites(lattice, large, 7);
  ASSERT_EQ(full.size(), shaken.size());
  double squares = 0;
  for (std::size_t i = 0; i < full.size(); ++i)
    squares += std::pow(shaken[i].row - full[i].row, 2) + std::pow(shaken[i].col - full[i].col, 2);
  const auto count = static_cast<double>(full.size());
  EXPECT_NEAR(std::sqrt(squares / (2 * count)), 0.1, 0.1 * 4 / std::sqrt(4 * count));  // four standard errors
  lattice.vacancies = 0.2;
  const double left = static_cast<double>(lattice_sites(lattice, large, 7).size()) / count;
  EXPECT_NEAR(left, 0.8, 4 * std::sqrt(0.2 * 0.8 / count));
}

TEST(LatticeSites, NeedASpacing) {
  error_of(ErrorKind::bad_input, [] { (void)lattice_sites({.spacing = 0}, grid, 1); });
}

TEST(BandLimitedNoise, HasRmsOneAndNothingAboveItsLimit) {
  const Array noise = band_limited_noise(grid, 0.5, 3);
  EXPECT_NEAR(mean_of(noise), 0, 1e-12);
  Array waves(Device::cpu(), {1, grid.rows, grid.cols}, DType::c128);
  double squares = 0;
  for (Index i = 0; i < noise.count(); ++i) {
    const double value = static_cast<const double*>(noise.data())[i];
    squares += value * value;
    static_cast<complex128*>(waves.data())[i] = value;
  }
  EXPECT_NEAR(squares / static_cast<double>(noise.count()), 1, 1e-12);
  fourier(waves);
  for (int v = -45; v < 45; ++v)
    for (int u = -55; u < 55; ++u) {
      const double k = std::hypot(v / 22.5, u / 22.0);  // the sides of the grid in A
      if (k > 0.5) {
        ASSERT_LT(std::abs(waves.view<complex128, 3>()(0, (v + 90) % 90, (u + 110) % 110)), 1e-11) << v << " " << u;
      }
    }
}

TEST(AddAmorphousPatch, StaysWithinItsRadius) {
  Array phase = Array::zeros(Device::cpu(), {grid.rows, grid.cols}, DType::f64);
  add_amorphous_patch(phase, grid, {11, 11}, 5, 0.05, 3);
  const Array noise = band_limited_noise(grid, 0.5, 3);
  const auto map = std::as_const(phase).view<double, 2>(), film = noise.view<double, 2>();
  EXPECT_NEAR(map(44, 55), 0.05 * film(44, 55), 1e-12);   // the middle
  EXPECT_NEAR(map(44, 80), 0.025 * film(44, 80), 1e-12);  // on the radius
  EXPECT_NEAR(map(44, 105), 0, 1e-12);                    // twice as far
}

TEST(AddStep, HasItsHeightAndDirection) {
  Array phase = Array::zeros(Device::cpu(), {grid.rows, grid.cols}, DType::f64);
  add_step(phase, grid, {11, 11}, std::numbers::pi / 2, 0.2, 0.4);
  const auto map = std::as_const(phase).view<double, 2>();
  EXPECT_NEAR(map(44, 20), 0.1, 1e-12);
  EXPECT_NEAR(map(80, 20), 0.2, 1e-12);  // larger rows are higher
  EXPECT_NEAR(map(5, 100), 0, 1e-12);
}

TEST(Transmission, IsAPurePhase) {
  const Array object = transmission(atom_phase(std::vector<Site>{{11, 11, 0.7}}, 0.5, grid));
  EXPECT_LT(std::abs((object.view<complex128, 2>()(44, 55)) - std::polar(1.0, 0.7)), 1e-15);
  EXPECT_EQ((object.view<complex128, 2>()(0, 0)), complex128(1));
}

}  // namespace
}  // namespace sonde::ptycho
