// SPDX-License-Identifier: Apache-2.0
// Private to the room: a small survey whose signals have a band, and its gradient.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/maxwell/invert/wave_operator.h"
#include "sonde/instruments/maxwell/read/experiment.h"

namespace sonde::maxwell {

/// Three shots with four receivers over 60 x 60 cells of uneven lossy ground, float32; Ricker wavelets of
/// ground_frequency.
inline constexpr double ground_frequency = 200e6;
[[nodiscard]] Experiment uneven_ground();

[[nodiscard]] std::vector<ShotSignals> signals_of(const Experiment& experiment);
/// 1/2 |record|^2: the residual has the band of the record.
[[nodiscard]] RecordMisfit energy_of_record(Index shot, const Gather& computed);

}  // namespace sonde::maxwell
