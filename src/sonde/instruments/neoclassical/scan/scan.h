// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/device/device.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/memory/memory_plan.h"
#include "sonde/instruments/neoclassical/scan/convergence.h"

namespace sonde::neoclassical {

/// How a point of a scan ended. The numbers are those of `status` in files.
enum class PointStatus { ok = 0, not_converged = 1, failed = 2, resonant = 3 };

/// One point. Its coefficients are NaN unless it is ok.
struct Point {
  Coefficients coefficients;
  PointStatus status = PointStatus::ok;
  std::string message{};  ///< why it is not ok
  double error = 0;       ///< estimate of solve_adapted(), 0 without
  double seconds = 0;     ///< of a processor for this point; its share of the batch where a GPU solved it
  bool in_batch = false;  ///< solved by ScanOptions::batches
};

/// Receives every point when it is done, with its place among the cases; called by one worker at a time. What it throws
/// ends the scan.
using PointSink = std::function<void(Index which, const Point& point)>;

/// A GPU that solves many points at a time (neoclassical/batch), and what may be held there. The CPU plays its kernels
/// with one thread: for tests.
struct BatchDevice {
  Device device;
  Budget budget;
};

struct ScanOptions {
  std::optional<Index> batch_size{};      ///< points in memory at a time, at most; absent: what the budget holds
  std::optional<LegendreSearch> adapt{};  ///< Legendre modes for each point instead of those of the plan
  PointSink finished{};
  /// Absent: the threads of the CPU solve the points.
  std::optional<BatchDevice> batches{};
};

/// Why these cases cannot be solved in batches; empty where they can.
[[nodiscard]] std::string why_not_in_batches(const Plan& plan, std::span<const Case> cases,
                                             const ScanOptions& options = {});

/// How many points are worked on at a time: one per thread, or all that the GPU holds; fewer where the budget or
/// `batch_size` ask for it. Throws Error(budget) when not even one fits.
[[nodiscard]] Choice<Index> choose_scan_batch(const Plan& plan, std::span<const Case> cases, const Budget& budget,
                                              const ScanOptions& options = {});

/// What a scan of these cases holds with that many points at a time: on the host, or on the GPU of `batches`.
[[nodiscard]] MemoryPlan plan_scan_memory(const Plan& plan, std::span<const Case> cases, Index at_a_time,
                                          const ScanOptions& options = {});

/// Every case of one surface, in the order given. Each point is computed by one thread only from its case, so that the
/// numbers do not depend on threads, batches or order. A point that fails says so in its status; Error(bad_input) for
/// cases or options that make no sense comes before any work. Reserves the workspaces in `budget`; ends between points
/// when asked to stop.
/// With `batches` a GPU solves them, all of one path together, and only the points that it finds no answer to are the
/// threads', which `in_batch` says; Error(not_supported) for cases that no GPU solves. Numbers are then those of the
/// CPU but for rounding; it ends between batches.
[[nodiscard]] std::vector<Point> scan(const Plan& plan, std::span<const Case> cases, Budget budget,
                                      const ScanOptions& options = {});

/// All pairs, nu_hat by nu_hat: [nu_hat][epsi_hat].
[[nodiscard]] std::vector<Case> grid_of_cases(std::span<const double> nu_hat, std::span<const double> epsi_hat);

}  // namespace sonde::neoclassical
