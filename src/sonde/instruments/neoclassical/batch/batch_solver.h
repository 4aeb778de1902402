// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/device.h"
#include "sonde/instruments/neoclassical/solve/plan.h"

namespace sonde::neoclassical {

/// Why a GPU does not solve cases with this E_hat along the path of the plan: only `spd` and `quasidefinite` in double
/// precision are written for it. Empty where it does.
[[nodiscard]] std::string why_not_batched(const Plan& plan, double epsi_hat);

/// Many cases of one surface at a time, along one path: Plan::solve() in float64, without the digits beyond double and
/// the other path that follow there where this does not suffice. Residuals are checked against the tolerance of the
/// plan; the numbers differ from those of Plan::solve() only by rounding. A case's numbers depend on the case, the
/// device and the number of cases solved together. Memory is taken at construction; only coefficients come back to the
/// host. On the CPU the kernels are played by one thread: for tests. One thread uses it.
class BatchSolver {
 public:
  /// Up to `most` cases at a time. The plan must outlive this. Throws Error(budget) and Error(device).
  BatchSolver(const Plan& plan, Path path, Index most, Device device);
  BatchSolver(const BatchSolver&) = delete;
  BatchSolver& operator=(const BatchSolver&) = delete;
  ~BatchSolver();

  /// What each case takes on the device, and what is taken once.
  [[nodiscard]] static std::size_t bytes_per_case(const Plan& plan, Path path);
  [[nodiscard]] static std::size_t fixed_bytes(const Plan& plan, Path path, Device device);

  /// Its coefficients, or an Error(not_converged).
  using Answer = std::variant<Coefficients, Error>;
  /// One answer for each case, at most `most` of them. Throws Error(device) where the device fails.
  [[nodiscard]] std::vector<Answer> solve(std::span<const Case> cases);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sonde::neoclassical
