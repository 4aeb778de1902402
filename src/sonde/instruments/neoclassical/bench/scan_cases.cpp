// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/neoclassical/batch/smoke_solve.h"
#include "sonde/instruments/neoclassical/bench/prepare.h"
#include "sonde/instruments/neoclassical/bench/process_scans.h"
#include "sonde/instruments/neoclassical/bench/workload.h"
#include "sonde/instruments/neoclassical/scan/scan.h"

namespace sonde::neoclassical {
namespace {

/// A prepared surface, its cases, and the last answers to them.
struct Scan {
  Plan plan;
  std::vector<Case> cases;
  Budget budget = Budget::automatic(Device::cpu());
  ScanOptions options{};
  std::vector<Coefficients> found;

  Scan(const GridSpec& grid, std::vector<Case> which, Precision precision = Precision::f64)
      : plan(Plan::prepare(bench_surface(), grid, {.precision = precision})),
        cases(std::move(which)),
        found(cases.size()) {}

  /// From the same cases solved by themselves in double precision, over those that have an answer.
  [[nodiscard]] double difference(std::span<const Coefficients> of) const {
    const Plan reference = Plan::prepare(bench_surface(), plan.grid());
    PerWorker<Plan::Workspace> workspaces([&] { return reference.workspace(); });
    std::vector<double> differences(cases.size());
    parallel_for(std::ssize(cases), 1, [&](Index first, Index last, Worker& worker) {
      for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i)
        if (std::isfinite(of[i].D11))  // at 3e-7 some points may not converge
          differences[i] = largest_difference(of[i], reference.solve(cases[i], workspaces[worker]));
    });
    return differences.empty() ? 0 : *std::ranges::max_element(differences);
  }
};

Operation scan_of(std::string name, const std::shared_ptr<Scan>& scan) {
  return {.name = std::move(name),
          .run =
              [=] {
                const std::vector<Point> points =
                    neoclassical::scan(scan->plan, scan->cases, scan->budget, scan->options);
                for (std::size_t i = 0; i < points.size(); ++i) scan->found[i] = points[i].coefficients;
              },
          .difference = [=] { return scan->difference(scan->found); }};
}

/// The rows of published_cases() that `count` points fill, or a part of the first; nothing for other numbers.
std::optional<std::pair<std::vector<double>, std::vector<double>>> axes_of(Index count) {
  std::vector<double> nu = published_collisionalities(), fields = published_fields();
  const auto row = static_cast<Index>(fields.size());
  if (count < row) {
    fields.resize(static_cast<std::size_t>(count));
    count = row;
  }
  if (count % row != 0 || count / row > static_cast<Index>(nu.size())) return std::nullopt;
  nu.resize(static_cast<std::size_t>(count / row));
  return std::pair(std::move(nu), std::move(fields));
}

/// Throws Error(device) for one that does not solve as the CPU does.
BatchDevice sound_gpu(Device device) {
  if (const SmokeSolve check = smoke_solve(device); !check.failure.empty())
    throw Error(ErrorKind::device, check.failure);
  return {device, Budget::automatic(device)};
}

PreparedCase in_both_precisions(const GridSpec& grid, const std::vector<Case>& cases) {
  PreparedCase prepared;
  prepared.input = fmt::format("{} points on {}x{}x{}", cases.size(), grid.n_theta, grid.n_zeta, grid.n_xi);
  prepared.operations.push_back(scan_of("scan", std::make_shared<Scan>(grid, cases)));
  prepared.operations.push_back(
      scan_of("scan, f32-refine", std::make_shared<Scan>(grid, cases, Precision::f32_refine)));
  return prepared;
}

}  // namespace

Operation path_operation(const GridSpec& grid, Index points, ComputePath compute_path, Device device) {
  const Precision precision = compute_path == ComputePath::cpu_f32_refine ? Precision::f32_refine : Precision::f64;
  const auto scan = std::make_shared<Scan>(grid, published_cases(points), precision);
  if (compute_path == ComputePath::gpu) scan->options.batches = sound_gpu(device);
  return scan_of(path_operation_name(points, compute_path), scan);
}

std::string path_operation_name(Index points, ComputePath compute_path) {
  return fmt::format("{} points, {}", points, name(compute_path));
}

PreparedCase prepare_scan(const BenchPoint& point, const GridSpec& grid) {
  const Index count = whole_size(point.size, "points");
  PreparedCase prepared;
  prepared.input = fmt::format("{} points on {}x{}x{}", count, grid.n_theta, grid.n_zeta, grid.n_xi);
  const auto scan = std::make_shared<Scan>(grid, published_cases(count));
  if (!point.device.is_cpu()) {
    scan->options.batches = sound_gpu(point.device);
    prepared.operations.push_back(scan_of("batches", scan));
    return prepared;
  }
  prepared.operations.push_back(scan_of("threads", scan));
  if (auto axes = axes_of(count))
    for (Operation& compute_path :
         process_scans(grid, std::move(axes->first), std::move(axes->second), point.workers,
                       [scan](std::span<const Coefficients> found) { return scan->difference(found); }))
      prepared.operations.push_back(std::move(compute_path));
  return prepared;
}

PreparedCase prepare_precision(const BenchPoint& point) {
  return in_both_precisions({17, 25, 16}, published_cases(whole_size(point.size, "points")));
}

PreparedCase prepare_database_rows(const BenchPoint& point) {
  return in_both_precisions({25, 25, 60}, database_rows(whole_size(point.size, "collisionalities")));
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
                                 .difference = [=] { return again->difference(again->found); }});
  return prepared;
}

}  // namespace sonde::neoclassical
