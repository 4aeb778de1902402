// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/scan/scan_in_batches.h"

#include <algorithm>
#include <limits>
#include <map>
#include <variant>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/instruments/neoclassical/batch/batch_solver.h"

namespace sonde::neoclassical {
namespace {

std::map<Path, std::vector<Index>> by_path(const Plan& plan, std::span<const Case> cases) {
  std::map<Path, std::vector<Index>> made;
  for (std::size_t i = 0; i < cases.size(); ++i)
    made[plan.path(cases[i].epsi_hat).value].push_back(static_cast<Index>(i));
  return made;
}

std::size_t bytes_of(const Plan& plan, Path path, Index cases, Device device) {
  return BatchSolver::fixed_bytes(plan, path, device) +
         static_cast<std::size_t>(cases) * BatchSolver::bytes_per_case(plan, path);
}

}  // namespace

std::string why_not_in_batches(const Plan& plan, std::span<const Case> cases, const ScanOptions& options) {
  if (options.adapt) return "Legendre modes for each point (adapt_n_xi) are searched only on the CPU";
  for (const Case& at : cases)
    if (std::string why = why_not_batched(plan, at.epsi_hat); !why.empty()) return why;
  return "";
}

ScanBytes device_bytes(const Plan& plan, std::span<const Case> cases, Device device) {
  ScanBytes bytes;
  for (const auto& [path, which] : by_path(plan, cases)) {
    bytes.fixed = std::max(bytes.fixed, BatchSolver::fixed_bytes(plan, path, device));
    bytes.each = std::max(bytes.each, BatchSolver::bytes_per_case(plan, path));
  }
  return bytes;
}

Choice<Index> choose_device_batch(const Plan& plan, std::span<const Case> cases, const ScanOptions& options) {
  const auto& [device, budget] = *options.batches;
  const ScanBytes bytes = device_bytes(plan, cases, device);
  Index most = 0;
  for (const auto& [path, which] : by_path(plan, cases)) most = std::max(most, static_cast<Index>(which.size()));
  return choose_batch(budget, most, bytes.each, bytes.fixed, std::min(most, options.batch_size.value_or(most)));
}

std::vector<Index> scan_in_batches(const Plan& plan, std::span<const Case> cases, const ScanOptions& options,
                                   const std::function<void(Index which, const Point& point)>& done) {
  if (const std::string why = why_not_in_batches(plan, cases, options); !why.empty())
    throw Error(ErrorKind::not_supported, why).hint("use the CPU");
  const Index at_a_time = choose_device_batch(plan, cases, options).value;
  const Device device = options.batches->device;
  Budget budget = options.batches->budget;
  std::vector<Index> left;
  for (const auto& [path, which] : by_path(plan, cases)) {
    const auto count = static_cast<Index>(which.size());
    const Index batches = (count + at_a_time - 1) / at_a_time, size = (count + batches - 1) / batches;
    const Reservation reserved =
        budget.reserve(bytes_of(plan, path, size, device), "points of a scan", "lower " + setting("scan_batch_size"));
    BatchSolver solver(plan, path, size, device);
    for (Index first = 0; first < count; first += size) {
      check_interrupt();
      const auto these = std::span(which).subspan(static_cast<std::size_t>(first),
                                                  static_cast<std::size_t>(std::min(size, count - first)));
      std::vector<Case> batch;
      for (const Index i : these) batch.push_back(cases[static_cast<std::size_t>(i)]);
      const Stopwatch watch;
      const std::vector<BatchSolver::Answer> answers = solver.solve(batch);
      Point point;
      point.in_batch = true;
      point.seconds = watch.seconds() / static_cast<double>(batch.size());
      for (std::size_t i = 0; i < answers.size(); ++i)
        if (const auto* const made = std::get_if<Coefficients>(&answers[i])) {
          point.coefficients = *made;
          done(these[i], point);
        } else {
          left.push_back(these[i]);
        }
    }
  }
  std::sort(left.begin(), left.end());
  return left;
}

}  // namespace sonde::neoclassical
