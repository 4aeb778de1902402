// SPDX-License-Identifier: Apache-2.0
// For tests: small experiments.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/instruments/maxwell/read/native_model.h"

namespace sonde::maxwell::testing {

inline constexpr std::size_t plenty_bytes = std::size_t{1} << 28U;

/// 5 x 8 cells, two shots, two receivers.
inline ExperimentDraft small_draft() {
  ExperimentDraft draft;
  draft.title = "a strip";
  draft.shape = {5, 8};
  draft.spacing = {0.1, 0.2};
  draft.eps_r = NumberArray{{}, {4.0}};
  draft.sigma = NumberArray{{}, {0.001}};
  draft.pml = {3};
  draft.steps = 6;
  draft.sources = NumberArray{{2, 2}, {1, 2, 1, 5}, true};
  draft.receivers = NumberArray{{2, 2}, {3, 1, 3, 6}, true};
  draft.wavelet = Wavelet{.name = "ricker", .frequency = 50e6};
  return draft;
}

inline Experiment small_experiment() { return experiment_of(small_draft(), plenty_bytes); }

/// The same in a cube of 4 cells with Ex sources and Hz receivers, one shot, and two poles.
inline Experiment small_cube() {
  ExperimentDraft draft = small_draft();
  draft.shape = {4, 5, 6};
  draft.spacing = {0.1};
  draft.pml = {0, 1, 2, 3, 4, 5};
  draft.mu_r = NumberArray{{}, {2.0}};
  draft.deps = NumberArray{{2, 4, 5, 6}, std::vector<double>(240, 1.5)};
  draft.tau = NumberArray{{2, 4, 5, 6}, std::vector<double>(240, 1e-9)};
  draft.sources = NumberArray{{1, 2, 3}, {1, 1, 1, 2, 2, 2}, true};
  draft.receivers = NumberArray{{1, 3, 3}, {1, 1, 1.25, 2, 2, 2, 3, 3.5, 3}};
  draft.source_component = {"Ex", "Hz"};
  draft.receiver_component = {"Ey", "Ez", "Hx"};
  return experiment_of(draft, plenty_bytes);
}

}  // namespace sonde::maxwell::testing
