// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "sonde/instruments/neoclassical/bench/prepare.h"
#include "sonde/instruments/neoclassical/bench/workload.h"
#include "sonde/instruments/neoclassical/scan/scan.h"

namespace sonde::neoclassical {
namespace {

/// A prepared surface, its cases, and the last answers to them.
struct Scan {
  Plan plan;
  std::vector<Case> cases;
  Budget budget = Budget::automatic(Device::cpu());
  std::vector<Coefficients> found;

  Scan(const GridSpec& grid, std::vector<Case> which)
      : plan(Plan::prepare(bench_surface(), grid)), cases(std::move(which)), found(cases.size()) {}

  /// From the same cases one by one on this thread, over those that have an answer.
  [[nodiscard]] double difference() const {
    Plan::Workspace workspace = plan.workspace();
    double largest = 0;
    for (std::size_t i = 0; i < cases.size(); ++i)
      if (std::isfinite(found[i].D11))  // at 3e-7 some points may not converge
        largest = std::max(largest, largest_difference(found[i], plan.solve(cases[i], workspace)));
    return largest;
  }
};

Operation scan_of(std::string name, const std::shared_ptr<Scan>& scan) {
  return {.name = std::move(name),
          .run =
              [=] {
                const std::vector<Point> points = neoclassical::scan(scan->plan, scan->cases, scan->budget);
                for (std::size_t i = 0; i < points.size(); ++i) scan->found[i] = points[i].coefficients;
              },
          .flops = least_flops(scan->plan, scan->cases),
          .difference = [=] { return scan->difference(); }};
}

PreparedCase one_scan(const GridSpec& grid, std::vector<Case> cases) {
  PreparedCase prepared;
  prepared.input = fmt::format("{} points on {}x{}x{}", cases.size(), grid.n_theta, grid.n_zeta, grid.n_xi);
  prepared.operations.push_back(scan_of("scan", std::make_shared<Scan>(grid, std::move(cases))));
  return prepared;
}

}  // namespace

PreparedCase prepare_scan(const BenchPoint& point, const GridSpec& grid) {
  return one_scan(grid, published_cases(whole_size(point.size, "points")));
}

PreparedCase prepare_database_rows(const BenchPoint& point) {
  return one_scan({25, 25, 60}, database_rows(whole_size(point.size, "collisionalities")));
}

PreparedCase prepare_reuse(const BenchPoint& point) {
  const GridSpec grid{9, 11, 6};
  const auto scan = std::make_shared<Scan>(grid, published_cases(whole_size(point.size, "points")));
  PreparedCase prepared;
  prepared.input = fmt::format("{} points on 9x11x6", scan->cases.size());
  prepared.operations.push_back(scan_of("one plan", scan));
  const auto again = std::make_shared<Scan>(grid, scan->cases);
  prepared.operations.push_back({.name = "a plan for every point",
                                 .run =
                                     [=] {
                                       for (std::size_t i = 0; i < again->cases.size(); ++i)
                                         again->found[i] = Plan::prepare(bench_surface(), grid).solve(again->cases[i]);
                                     },
                                 .flops = prepared.operations.front().flops,
                                 .difference = [=] { return again->difference(); }});
  return prepared;
}

}  // namespace sonde::neoclassical
