// SPDX-License-Identifier: Apache-2.0
// The lattice of a scan from the map of its disks.
#include "sonde/instruments/stem/lattice/basis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sonde/engine/math/random.h"

namespace sonde::stem {
namespace {

/// Whether two pairs span the same lattice: each vector has whole coordinates in the other, and the areas agree.
void expect_same_lattice(const Basis& found, const Basis& expected, double tolerance) {
  for (const auto& [x, y] : {std::pair{expected.g1_x, expected.g1_y}, std::pair{expected.g2_x, expected.g2_y}}) {
    const Coordinates at = coordinates(found, x, y);
    EXPECT_NEAR(at.h, std::round(at.h), tolerance);
    EXPECT_NEAR(at.k, std::round(at.k), tolerance);
  }
  EXPECT_NEAR(std::abs(found.area() / expected.area()), 1, 2 * tolerance);
}

/// Disks up to an order with the intensity of their distance, at places that scatter by `noise` px.
std::vector<LatticePeak> disks_of(const Basis& basis, Index order, double noise, Index patterns = 40) {
  Random random(7);
  std::vector<LatticePeak> disks;
  for (Index pattern = 0; pattern < patterns; ++pattern)
    for (Index h = -order; h <= order; ++h)
      for (Index k = -order; k <= order; ++k) {
        const double x = static_cast<double>(h) * basis.g1_x + static_cast<double>(k) * basis.g2_x;
        const double y = static_cast<double>(h) * basis.g1_y + static_cast<double>(k) * basis.g2_y;
        const double intensity = random.uniform() * std::exp(-(x * x + y * y) / (2 * 60 * 60));
        disks.push_back({x + noise * random.normal(), y + noise * random.normal(), intensity});
      }
  return disks;
}

TEST(Basis, ReducedVectorsAreTheShortestAndRightHanded) {
  const Basis square{20, 1, -1, 20};
  const Basis same{square.g1_x * 3 + square.g2_x * 2, square.g1_y * 3 + square.g2_y * 2, square.g1_x + square.g2_x,
                   square.g1_y + square.g2_y};  // determinant 1
  const Basis found = reduced(same);
  EXPECT_NEAR(std::hypot(found.g1_x, found.g1_y), std::hypot(20, 1), 1e-12);
  EXPECT_NEAR(std::hypot(found.g2_x, found.g2_y), std::hypot(20, 1), 1e-12);
  EXPECT_GT(found.area(), 0);
  EXPECT_GT(found.g1_x, 0);
  expect_same_lattice(found, square, 1e-12);
}

TEST(Basis, AHexagonalLatticeStaysReduced) {
  const Basis hexagonal{18, 0, 9, 18 * std::sqrt(0.75)};
  const Basis found =
      reduced({hexagonal.g1_x + hexagonal.g2_x, hexagonal.g1_y + hexagonal.g2_y, -hexagonal.g2_x, -hexagonal.g2_y});
  EXPECT_NEAR(std::hypot(found.g1_x, found.g1_y), 18, 1e-12);
  EXPECT_NEAR(std::hypot(found.g2_x, found.g2_y), 18, 1e-12);
  expect_same_lattice(found, hexagonal, 1e-12);
}

class BasisOfLattice : public ::testing::TestWithParam<Basis> {};

TEST_P(BasisOfLattice, IsFoundInTheMapOfItsDisks) {
  const auto found = find_basis(disks_of(GetParam(), 2, 0.4), {.blur = 1.5, .spacing = 6, .tolerance = 2});
  ASSERT_TRUE(found);
  expect_same_lattice(found->basis, GetParam(), 0.01);
  EXPECT_EQ(found->maxima, 24);
  EXPECT_GT(found->indexed, 0.99);
}

INSTANTIATE_TEST_SUITE_P(Lattices, BasisOfLattice,
                         ::testing::Values(Basis{22, 3, -2, 24}, Basis{18, 0, 9, 15.6}, Basis{14, 14, -20, 18},
                                           Basis{15, 2, 7, 33}));

TEST(Basis, AFaintLatticeBetweenTheDisksDoesNotWin) {
  const Basis lattice{24, 2, -3, 26};
  std::vector<LatticePeak> disks = disks_of(lattice, 2, 0.3);
  for (int i = 0; i < 40; ++i) disks.push_back({12.0, 1.0, 0.1});  // at half of g1, as double diffraction
  const auto found = find_basis(disks, {.blur = 1.5, .spacing = 6, .tolerance = 2});
  ASSERT_TRUE(found);
  expect_same_lattice(found->basis, lattice, 0.01);
}

TEST(Basis, OneLineIsNoLattice) {
  std::vector<LatticePeak> disks;
  for (int i = -3; i <= 3; ++i)
    for (int n = 0; n < 5; ++n) disks.push_back({15.0 * i + 0.1 * n, 4.0 * i, 1});
  EXPECT_FALSE(find_basis(disks, {}));
  EXPECT_EQ(map_maxima(disks, {}).size(), 6u);
}

TEST(Basis, NoDisksAreNoLattice) {
  EXPECT_FALSE(find_basis({}, {}));
  EXPECT_FALSE(find_basis(std::vector<LatticePeak>{{0.1, 0.2, 5}}, {}));
}

}  // namespace
}  // namespace sonde::stem
