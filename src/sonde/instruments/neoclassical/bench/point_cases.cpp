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

  Solve(const GridSpec& grid, double epsi_hat, std::optional<Path> path)
      : plan(Plan::prepare(bench_surface(), grid, {.path = path})),
        at{collisionality, epsi_hat},
        workspace(plan.workspace()) {}

  void run() { found = plan.solve(at, workspace); }
};

Operation solve_of(const GridSpec& grid, double epsi_hat, std::optional<Path> path, std::string label = "") {
  const auto solve = std::make_shared<Solve>(grid, epsi_hat, path);
  const Path taken = solve->plan.path(epsi_hat).value;
  return {.name = fmt::format("{}{}, {}", label, epsi_hat == 0 ? "E = 0" : "E != 0", name(taken)),
          .run = [=] { solve->run(); },
          .flops = least_flops(taken, grid),
          .difference =
              [=] {
                Solve dense(grid, epsi_hat, Path::dense);
                dense.run();
                return largest_difference(solve->found, dense.found);
              }};
}

}  // namespace

PreparedCase prepare_point(const BenchPoint& point) {
  const GridSpec grid = parse_grid(point.size);
  PreparedCase prepared;
  prepared.input = fmt::format("{}, one thread", point.size);
  for (const double epsi_hat : {0.0, 1e-3})
    prepared.operations.push_back(solve_of(grid, epsi_hat, std::nullopt, point.size + ", "));
  return prepared;
}

PreparedCase prepare_crossover(const BenchPoint& point) {
  const Index angles = whole_size(point.size, "points of each angle");
  const GridSpec grid{angles, angles, 16};
  PreparedCase prepared;
  prepared.input = fmt::format("{}x{}x16, one thread", angles, angles);
  prepared.operations.push_back(solve_of(grid, 0, Path::spd));
  prepared.operations.push_back(solve_of(grid, 1e-3, Path::quasidefinite));
  prepared.operations.push_back(solve_of(grid, 1e-3, Path::dense));
  return prepared;
}

}  // namespace sonde::neoclassical
