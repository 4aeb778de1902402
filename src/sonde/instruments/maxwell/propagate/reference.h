// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sonde/instruments/maxwell/propagate/problem.h"

// Propagation, its derivative and the transpose of that by plain loops in float64, one thread: what the fast paths are
// compared with. A step costs some 100 ns per cell.
namespace sonde::maxwell::reference {

/// [step][source or receiver].
using Samples = std::vector<std::vector<double>>;

/// Called after step n with the state before and after it.
using StepListener = std::function<void(Index n, const State& before, const State& after)>;

/// Advances `state` by as many steps as there are samples of the sources and returns the receivers' samples.
[[nodiscard]] Samples forward(const Problem& problem, const Acquisition& shot, const Samples& sources, State& state,
                              const StepListener& listener = {});

/// A direction in which everything that a record depends on is changed.
struct Direction {
  ComponentChange medium{};
  std::vector<DebyePole> poles{};  ///< changes of deps and tau; empty: none
  Samples sources{};               ///< empty: none
  std::optional<State> start{};
};

/// J v: the change of the record, by running background and perturbation together.
[[nodiscard]] Samples jvp(const Problem& problem, const Acquisition& shot, const Samples& sources, State state,
                          const Direction& direction);

/// J^T r.
struct Gradient {
  ComponentChange medium{};
  std::vector<DebyePole> poles{};
  Samples sources{};
  State start{};
};
/// The exact transpose of jvp(), by one sweep backwards over the stored fields.
[[nodiscard]] Gradient vjp(const Problem& problem, const Acquisition& shot, const Samples& sources, State state,
                           const Samples& residual);

}  // namespace sonde::maxwell::reference
