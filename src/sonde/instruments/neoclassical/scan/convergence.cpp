// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/scan/convergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/engine/report/progress.h"

namespace sonde::neoclassical {
namespace {

Index& count_of(GridSpec& grid, Refined refined) {
  return refined == Refined::n_xi ? grid.n_xi : refined == Refined::n_theta ? grid.n_theta : grid.n_zeta;
}

/// 4 / 3 as many; counts of angles stay odd.
Index finer(Index count, Refined refined) {
  const Index next = count + std::max<Index>(2, count / 3);
  return refined == Refined::n_xi || next % 2 == 1 ? next : next + 1;
}

}  // namespace

double relative_difference(const Coefficients& of, const Coefficients& from) {
  const double mixed = std::sqrt(std::max(0.0, of.D11 * of.D33));
  const auto against = [](double a, double b, double scale) { return a == b ? 0 : std::abs(a - b) / scale; };
  const double across = std::max(std::abs(of.D31), mixed / 100);
  return std::max({against(of.D11, from.D11, std::abs(of.D11)), against(of.D33, from.D33, std::abs(of.D33)),
                   against(of.D31, from.D31, across), against(of.D13, from.D13, across)});
}

Index first_legendre(double nu_hat) {
  return std::min<Index>(120, 12 + static_cast<Index>(1.2 / std::cbrt(std::max(nu_hat, 1e-300))));
}

Adapted solve_adapted(const Plan& plan, const Case& at, const LegendreSearch& search, Plan::Workspace& workspace) {
  if (!(search.tolerance > 0))
    throw Error(ErrorKind::bad_input, fmt::format("tolerance = {}: expected a number above zero", search.tolerance));
  Index n_xi = search.first > 0 ? search.first : first_legendre(at.nu_hat);
  if (n_xi < 2 || n_xi >= search.most)
    throw Error(ErrorKind::bad_input,
                fmt::format("Legendre modes from {} to {}: expected 2 <= first < most", n_xi, search.most));
  Adapted made;
  Coefficients coarser = plan.solve(at, n_xi, workspace);
  while (!made.converged && n_xi < search.most) {
    n_xi = std::min(search.most, n_xi + std::max<Index>(2, n_xi / 2));
    made.coefficients = plan.solve(at, n_xi, workspace);
    made.error = relative_difference(made.coefficients, coarser);
    made.converged = made.error <= search.tolerance;
    coarser = made.coefficients;
  }
  return made;
}

const char* name(Refined refined) {
  return refined == Refined::n_xi ? "n_xi" : refined == Refined::n_theta ? "n_theta" : "n_zeta";
}

Study convergence_study(const Surface& surface, const GridSpec& grid, const Case& at, const StudyOptions& options,
                        const SolverOptions& solver) {
  if (!(options.tolerance > 0) || options.most_steps < 1 || options.refine.empty())
    throw Error(ErrorKind::bad_input, "a convergence study needs a tolerance above zero, a direction and a step");
  Study made;
  ProgressMeter progress("refining", 0, "grids");  // how many it takes is what is asked
  made.start = Plan::prepare(surface, grid, solver).solve(at);
  made.grid = grid;
  progress.advance();
  Coefficients current = made.start;
  for (const Refined refined : options.refine) {
    double change = 0;
    for (int step = 0; step < options.most_steps; ++step) {
      StudyRow row{made.grid, refined, {}, 0};
      Index& count = count_of(row.grid, refined);
      count = finer(count, refined);
      row.coefficients = Plan::prepare(surface, row.grid, solver).solve(at);
      progress.advance();
      change = row.change = relative_difference(row.coefficients, current);
      made.rows.push_back(row);
      if (change <= options.tolerance / 3) break;  // the coarser one will do
      made.grid = row.grid;
      current = row.coefficients;
    }
    made.error += change;
  }
  made.converged = made.error <= options.tolerance;
  return made;
}

}  // namespace sonde::neoclassical
