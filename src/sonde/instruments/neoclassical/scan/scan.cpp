// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/scan/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <tuple>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/base/thread_clock.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/neoclassical/scan/scan_in_batches.h"

namespace sonde::neoclassical {
namespace {

void require_cases(const Plan& plan, std::span<const Case> cases, const ScanOptions& options) {
  for (const Case& at : cases) {
    if (!(at.nu_hat > 0) || !std::isfinite(at.nu_hat) || !std::isfinite(at.epsi_hat))
      throw Error(ErrorKind::bad_input,
                  fmt::format("nu_hat = {}, epsi_hat = {}: expected finite numbers, the first above zero", at.nu_hat,
                              at.epsi_hat));
    (void)plan.path(at.epsi_hat);
  }
  if (options.batch_size && *options.batch_size < 1)
    throw Error(ErrorKind::bad_input, fmt::format("scan_batch_size = {}: expected 1 or more", *options.batch_size));
}

/// What one point at a time may hold: a workspace keeps the memory of each path it has gone.
std::size_t bytes_per_worker(const Plan& plan, std::span<const Case> cases, const ScanOptions& options) {
  const Index n_xi = options.adapt ? options.adapt->most : plan.grid().n_xi;
  std::size_t bytes = 0;
  bool counted[3] = {};
  for (const Case& at : cases) {
    const Path path = plan.path(at.epsi_hat).value;
    if (std::exchange(counted[static_cast<std::size_t>(path)], true)) continue;
    bytes += plan.workspace_bytes(path, n_xi) + plan.fallback_bytes(path);
  }
  return bytes;
}

void set_nan(Coefficients& coefficients) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Coefficients& c = coefficients;
  c.D11 = c.D31 = c.D13 = c.D33 = c.D33_spitzer = c.residual = c.onsager_residual = nan;
}

Point solve_point(const Plan& plan, const Case& at, const ScanOptions& options, Plan::Workspace& workspace) {
  Point point;
  const ThreadClock watch;
  point.coefficients.path = plan.path(at.epsi_hat).value;
  point.coefficients.n_xi = plan.grid().n_xi;
  try {
    if (options.adapt) {
      const Adapted adapted = solve_adapted(plan, at, *options.adapt, workspace);
      point.coefficients = adapted.coefficients;
      point.error = adapted.error;
      if (!adapted.converged) {
        point.status = PointStatus::not_converged;
        point.message =
            fmt::format("{} Legendre modes leave an error of {:.1e}", adapted.coefficients.n_xi, adapted.error);
        set_nan(point.coefficients);
      }
    } else {
      point.coefficients = plan.solve(at, workspace);
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_converged) throw;
    point.status = error.message().starts_with("resonant") ? PointStatus::resonant : PointStatus::not_converged;
    point.message = error.message();
    set_nan(point.coefficients);
  }
  point.seconds = watch.seconds();
  return point;
}

Choice<Index> choose_workers(const Plan& plan, std::span<const Case> cases, const Budget& budget,
                             const ScanOptions& options) {
  const Index most = std::min<Index>(thread_count(), options.batch_size.value_or(thread_count()));
  return choose_batch(budget, static_cast<Index>(cases.size()), bytes_per_worker(plan, cases, options), 0, most);
}

/// By the threads of the CPU; `done` is called by one of them at a time.
void scan_by_threads(const Plan& plan, std::span<const Case> cases, Budget budget, const ScanOptions& options,
                     const PointSink& done) {
  const Index workers = choose_workers(plan, cases, budget, options).value;
  const std::size_t bytes = bytes_per_worker(plan, cases, options) * static_cast<std::size_t>(workers);
  const Reservation reserved = budget.reserve(
      bytes, "points of a scan", "lower " + setting("scan_batch_size") + ", or take solver.krylov_reuse = false");

  const auto count = static_cast<Index>(cases.size());
  std::mutex taking, reporting;
  // Each worker takes the next points when it is free, since they cost up to thirty times one another: of one
  // collisionality, whose weak fields share a workspace, and fewer towards the end.
  Index next = 0;
  const auto take = [&] {
    const std::lock_guard lock(taking);
    const Index first = next, most = std::max<Index>(1, (count - first) / (2 * workers));
    const auto nu_hat = [&](Index i) { return cases[static_cast<std::size_t>(i)].nu_hat; };
    while (next < count && next - first < most && nu_hat(next) == nu_hat(first)) ++next;
    return std::pair(first, next);
  };
  parallel_for(workers, 1, [&](Index, Index, Worker&) {
    Plan::Workspace workspace = plan.workspace();
    for (auto [first, last] = take(); first < last; std::tie(first, last) = take())
      for (Index i = first; i < last; ++i) {
        check_interrupt();
        const Point point = solve_point(plan, cases[static_cast<std::size_t>(i)], options, workspace);
        const std::lock_guard lock(reporting);
        done(i, point);
      }
  });
}

}  // namespace

Choice<Index> choose_scan_batch(const Plan& plan, std::span<const Case> cases, const Budget& budget,
                                const ScanOptions& options) {
  require_cases(plan, cases, options);
  return options.batches ? choose_device_batch(plan, cases, options) : choose_workers(plan, cases, budget, options);
}

MemoryPlan plan_scan_memory(const Plan& plan, std::span<const Case> cases, Index at_a_time,
                            const ScanOptions& options) {
  const auto [fixed, each] = options.batches ? device_bytes(plan, cases, options.batches->device)
                                             : ScanBytes{plan.bytes(), bytes_per_worker(plan, cases, options)};
  MemoryPlan memory;
  memory.lasting_bytes += memory.add("operators", fixed, "of one radius");
  memory.lasting_bytes +=
      memory.add("points", static_cast<std::size_t>(at_a_time) * each,
                 fmt::format("{} at a time, {} each", at_a_time, format_bytes(static_cast<double>(each))));
  memory.peak_bytes = memory.lasting_bytes;
  return memory;
}

std::vector<Point> scan(const Plan& plan, std::span<const Case> cases, Budget budget, const ScanOptions& options) {
  require_cases(plan, cases, options);
  std::vector<Point> points(cases.size());
  if (cases.empty()) return points;
  const PointSink done = [&](Index which, const Point& point) {
    points[static_cast<std::size_t>(which)] = point;
    if (options.finished) options.finished(which, point);
  };
  if (!options.batches) {
    scan_by_threads(plan, cases, budget, options, done);
    return points;
  }
  const std::vector<Index> left = scan_in_batches(plan, cases, options, done);
  if (left.empty()) return points;
  std::vector<Case> these;
  for (const Index i : left) these.push_back(cases[static_cast<std::size_t>(i)]);
  scan_by_threads(plan, these, budget, options,
                  [&](Index i, const Point& point) { done(left[static_cast<std::size_t>(i)], point); });
  return points;
}

std::vector<Case> grid_of_cases(std::span<const double> nu_hat, std::span<const double> epsi_hat) {
  std::vector<Case> cases;
  for (const double nu : nu_hat)
    for (const double field : epsi_hat) cases.push_back({nu, field});
  return cases;
}

}  // namespace sonde::neoclassical
