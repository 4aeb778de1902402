// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "sonde/instruments/neoclassical/bench/prepare.h"
#include "sonde/instruments/neoclassical/bench/workload.h"

namespace sonde::neoclassical {
namespace {

constexpr double collisionality = 1e-3;

/// One case along one path, again and again in one workspace.
struct Solve {
  Plan plan;
  Case at;
  Plan::Workspace workspace;
  Coefficients found;

  Solve(const GridSpec& grid, double epsi_hat, const SolverOptions& options)
      : plan(Plan::prepare(bench_surface(), grid, options)),
        at{collisionality, epsi_hat},
        workspace(plan.workspace()) {}

  void run() { found = plan.solve(at, workspace); }
};

Operation solve_of(const GridSpec& grid, double epsi_hat, const SolverOptions& options, std::string label = "") {
  const auto solve = std::make_shared<Solve>(grid, epsi_hat, options);
  const Path taken = solve->plan.path(epsi_hat).value;
  const bool single = options.precision == Precision::f32_refine;
  return {.name = fmt::format("{}{}, {}{}", label, epsi_hat == 0 ? "E = 0" : "E != 0", name(taken),
                              single ? ", f32-refine" : ""),
          .run = [=] { solve->run(); },
          .flops = least_flops(taken, grid),
          .difference =
              [=] {
                Solve dense(grid, epsi_hat, {.path = Path::dense});
                dense.run();
                return largest_difference(solve->found, dense.found);
              }};
}

/// A weak field along the path that is chosen, with its factors and vectors made each time.
Operation weak_field(const GridSpec& grid, double epsi_hat, std::string label) {
  const auto solve = std::make_shared<Solve>(grid, epsi_hat, SolverOptions{});
  return {.name = fmt::format("{}weak E, by itself", label),
          .run =
              [=] {
                solve->workspace = solve->plan.workspace();
                solve->run();
              },
          .difference =
              [=] {
                Solve dense(grid, epsi_hat, {.path = Path::dense});
                dense.run();
                return largest_difference(solve->found, dense.found);
              }};
}

}  // namespace

std::vector<Operation> paths_of_one_point(const GridSpec& grid) {
  return {solve_of(grid, 0, {.path = Path::spd}), solve_of(grid, 1e-3, {.path = Path::quasidefinite}),
          solve_of(grid, 1e-3, {.path = Path::dense})};
}

PreparedCase prepare_point(const BenchPoint& point) {
  const GridSpec grid = parse_grid(point.size);
  PreparedCase prepared;
  prepared.input = fmt::format("{}, one thread", point.size);
  const std::string label = point.size + ", ";
  for (const Precision precision : {Precision::f64, Precision::f32_refine}) {
    prepared.operations.push_back(solve_of(grid, 0, {.precision = precision}, label));
    // By its own elimination: a second time in the same workspace `krylov` would find all that it needs.
    prepared.operations.push_back(solve_of(grid, 1e-3, {.path = Path::quasidefinite, .precision = precision}, label));
  }
  prepared.operations.push_back(weak_field(grid, 1e-4, label));
  return prepared;
}

PreparedCase prepare_peers(const BenchPoint& point) {
  PreparedCase prepared = prepare_point(point);
  const AnalyticSurface surface = bench_harmonics();
  std::string harmonics;  // n m B_mn, as DKES files have them
  for (std::size_t i = 0; i < surface.b.modes.size(); ++i)
    harmonics +=
        fmt::format("{}{} {} {}", i == 0 ? "" : ";", surface.b.modes[i].n, surface.b.modes[i].m, surface.b.cosine[i]);
  for (const double epsi_hat : {0.0, 1e-3})
    prepared.peers.push_back(
        python_peer(fmt::format("MONKES, {}", epsi_hat == 0 ? "E = 0" : "E != 0"), "monkes.py",
                    {"--program=" + point.program, "--grid=" + point.size, fmt::format("--nu={}", collisionality),
                     fmt::format("--er={}", epsi_hat * surface.psi_p), fmt::format("--periods={}", surface.periods),
                     fmt::format("--chip={}", -surface.iota * surface.psi_p), fmt::format("--psip={}", surface.psi_p),
                     fmt::format("--btheta={}", surface.b_theta), fmt::format("--bzeta={}", surface.b_zeta),
                     "--harmonics=" + harmonics}));
  return prepared;
}

}  // namespace sonde::neoclassical
