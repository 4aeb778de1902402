// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sonde/engine/figure/chart.h"
#include "sonde/instruments/maxwell/results/frame_file.h"

namespace sonde::maxwell {

/// What is drawn of a file of snapshots.
struct SnapshotChoice {
  std::optional<Component> component{};  ///< unset: the component of E with the largest mean square
  std::optional<Index> frame{};          ///< from 0; unset: up to six beside each other, evenly over the run
};
/// Frames as pictures with one scale, red below zero and blue above; in three dimensions the plane through the middle
/// of the axis with the fewest samples (of equal ones y). The scale ends where 99.5 % of the samples are below it: the
/// node of a source is far above all others. Throws Error(bad_input) for a frame or component that the file does not
/// have.
[[nodiscard]] Chart snapshot_chart(const FrameReader& frames, const SnapshotChoice& choice);

}  // namespace sonde::maxwell
