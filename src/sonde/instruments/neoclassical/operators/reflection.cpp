// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/operators/reflection.h"

#include <algorithm>

namespace sonde::neoclassical {
namespace {

/// f(-p) = sign f(p).
void make_exact(const AngleGrid& grid, double sign, std::vector<double>& f) {
  if (f.empty()) return;
  for (Index p = 0; p < grid.count(); ++p) {
    const Index q = grid.image(p);
    if (q < p) continue;
    double& here = f[static_cast<std::size_t>(p)];
    double& there = f[static_cast<std::size_t>(q)];
    here = (here + sign * there) / 2;
    there = sign * here;
  }
}

/// A(-p, -q) = -A(p, q): even functions become odd ones and the other way round. What was antisymmetric stays so.
void make_exact(const AngleGrid& grid, SparseRows& a) {
  const std::vector<double> before = a.value;
  for (Index row = 0; row < a.rows(); ++row)
    for (auto at = static_cast<std::size_t>(a.first[static_cast<std::size_t>(row)]);
         at < static_cast<std::size_t>(a.first[static_cast<std::size_t>(row) + 1]); ++at) {
      const auto other = static_cast<std::size_t>(grid.image(row));
      const auto begin = a.column.begin() + a.first[other], end = a.column.begin() + a.first[other + 1];
      const auto reflected =
          static_cast<std::size_t>(std::lower_bound(begin, end, grid.image(a.column[at])) - a.column.begin());
      a.value[at] = (before[at] - before[reflected]) / 2;
    }
}

}  // namespace

void make_parities_exact(DriftKinetic& equation) {
  const AngleGrid& grid = equation.grid;
  constexpr double even = 1, odd = -1;
  make_exact(grid, equation.streaming);
  make_exact(grid, equation.drift);
  for (auto* f : {&equation.mirror, &equation.drift_of_null}) make_exact(grid, odd, *f);
  for (auto* f : {&equation.null_vector, &equation.to_legendre}) make_exact(grid, even, *f);
  for (std::size_t i = 0; i < equation.undamped.size(); ++i)
    make_exact(grid, i < equation.undamped.size() / 2 ? even : odd, equation.undamped[i]);
  for (auto* drive : {&equation.radial, &equation.parallel, &equation.radial_weights, &equation.parallel_weights})
    for (std::size_t k = 0; k < 3; ++k) make_exact(grid, k == 1 ? even : odd, (*drive)[k]);
}

}  // namespace sonde::neoclassical
