// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/operators/parity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/operators/test_surfaces.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using Field = std::vector<double>;

Field some_function(Index count, double phase) {
  Field made;
  for (Index i = 0; i < count; ++i) made.push_back(std::sin(phase + 1.7 * static_cast<double>(i * i)));
  return made;
}

double norm_squared(const Field& x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return sum;
}

TEST(ParityBasis, IsOrthonormalAndComplete) {
  for (const AngleGrid grid : {AngleGrid{7, 5, 3}, AngleGrid{1, 5, 3}, AngleGrid{7, 1, 3}, AngleGrid{1, 1, 3}}) {
    const ParityBasis basis(grid);
    ASSERT_EQ(basis.points(), grid.count());
    const Field f = some_function(grid.count(), 0.3);
    Field even(static_cast<std::size_t>(basis.even())), odd(static_cast<std::size_t>(basis.odd())), back(f.size());
    basis.split(f, even, odd);
    EXPECT_NEAR(norm_squared(even) + norm_squared(odd), norm_squared(f), 1e-13);
    basis.join(even, odd, back);
    for (std::size_t i = 0; i < f.size(); ++i) EXPECT_NEAR(back[i], f[i], 1e-15);
    // The image of (theta_i, zeta_j) is (-theta_i, -zeta_j).
    Field mirrored(f.size());
    for (Index i = 0; i < grid.n_theta; ++i)
      for (Index j = 0; j < grid.n_zeta; ++j)
        mirrored[static_cast<std::size_t>(grid.index(i, j))] =
            f[static_cast<std::size_t>(grid.index((grid.n_theta - i) % grid.n_theta, (grid.n_zeta - j) % grid.n_zeta))];
    Field even_again(even.size()), odd_again(odd.size());
    basis.split(mirrored, even_again, odd_again);
    for (std::size_t i = 0; i < even.size(); ++i) EXPECT_NEAR(even_again[i], even[i], 1e-15);
    for (std::size_t i = 0; i < odd.size(); ++i) EXPECT_NEAR(odd_again[i], -odd[i], 1e-15);
  }
}

TEST(Parities, OfASymmetricSurfaceAreExact) {
  const DriftKinetic equation = drift_kinetic(sample(testing::w7x(), 9, 11), Discretisation::skew);
  const AngleGrid& grid = equation.grid;
  const auto at = [](const Field& f, Index p) { return f[static_cast<std::size_t>(p)]; };
  const auto points = static_cast<std::size_t>(grid.count());
  for (Index p = 0; p < grid.count(); ++p) {
    const Index q = grid.image(p);
    EXPECT_EQ(at(equation.mirror, q), -at(equation.mirror, p));
    EXPECT_EQ(at(equation.null_vector, q), at(equation.null_vector, p));
    EXPECT_EQ(at(equation.radial[0], q), -at(equation.radial[0], p));
    EXPECT_EQ(at(equation.parallel[1], q), at(equation.parallel[1], p));
  }
  for (const SparseRows* a : {&equation.streaming, &equation.drift})
    for (Index p = 0; p < grid.count(); ++p) {
      Field unit(points), unit_there(points), column(points), column_there(points);
      unit[static_cast<std::size_t>(p)] = unit_there[static_cast<std::size_t>(grid.image(p))] = 1;
      a->add_product(1, unit, column);
      a->add_product(1, unit_there, column_there);
      for (Index q = 0; q < grid.count(); ++q) EXPECT_EQ(at(column_there, grid.image(q)), -at(column, q));
    }
}

/// y = block x, [rows][columns].
Field product(const Field& block, std::size_t rows, const Field& x) {
  Field y(rows);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += block[i * x.size() + j] * x[j];
  return y;
}

TEST(ParityBlocks, AreTheOperatorBetweenEvenAndOddFunctions) {
  // The operator on the grid, applied to an even and to an odd function, against the blocks; a surface whose drift does
  // change v, so that the projection counts.
  const DriftKinetic equation = drift_kinetic(sample(testing::vmec_like(), 7, 5), Discretisation::skew);
  const ParityBasis basis(equation.grid);
  const ParityBlocks blocks = parity_blocks(equation, basis);
  const auto even = static_cast<std::size_t>(basis.even()), odd = static_cast<std::size_t>(basis.odd());
  const Field e = some_function(basis.even(), 0.1), o = some_function(basis.odd(), 0.7);
  Field on_grid(static_cast<std::size_t>(basis.points())), even_part(even), odd_part(odd);
  const Case at{0, 0.7};
  const double tolerance = 1e-13;  // sums of a dozen products, entries up to ten
  const auto applied = [&](const Field& from_even, const Field& from_odd, auto&& add) {
    basis.join(from_even, from_odd, on_grid);
    Field y(on_grid.size());
    add(on_grid, y);
    basis.split(y, even_part, odd_part);
  };
  const auto lower = [&](const Field& x, Field& y) { equation.add_lower(3, 1, x, y); };
  const auto drift = [&](const Field& x, Field& y) { equation.add_diagonal(0, at, 1, x, y); };
  const auto [scale, shift] = equation.lower(3);

  applied(Field(even), o, lower);
  Field expected = product(blocks.streaming_even_odd, even, o);
  for (std::size_t i = 0; i < even; ++i)
    EXPECT_NEAR(even_part[i], scale * (expected[i] + (i == 0 ? 0 : shift * blocks.mirror[i - 1] * o[i - 1])),
                tolerance);
  EXPECT_NEAR(norm_squared(odd_part), 0, tolerance);
  applied(e, Field(odd), lower);
  expected = product(blocks.streaming_odd_even, odd, e);
  for (std::size_t i = 0; i < odd; ++i)
    EXPECT_NEAR(odd_part[i], scale * (expected[i] + shift * blocks.mirror[i] * e[i + 1]), tolerance);

  applied(Field(even), o, drift);
  expected = product(blocks.drift_even_odd, even, o);
  for (std::size_t i = 0; i < even; ++i) EXPECT_NEAR(even_part[i], 0.7 * expected[i], tolerance);
  applied(e, Field(odd), drift);
  expected = product(blocks.drift_odd_even, odd, e);
  for (std::size_t i = 0; i < odd; ++i) EXPECT_NEAR(odd_part[i], 0.7 * expected[i], tolerance);
}

TEST(ParityBlocks, AreRefusedWithoutSymmetry) {
  const DriftKinetic equation = drift_kinetic(sample(testing::analytic(), 5, 5), Discretisation::collocation);
  sonde::testing::error_of(ErrorKind::internal, [&] { (void)parity_blocks(equation, ParityBasis(equation.grid)); });
}

}  // namespace
}  // namespace sonde::neoclassical
