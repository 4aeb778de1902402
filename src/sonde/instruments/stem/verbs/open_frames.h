// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/run/frames.h"
#include "sonde/engine/run/run.h"

namespace sonde::stem {

/// A 4D-STEM scan for another instrument, with its masks and bad pixels left out, its calibration taken along, and the
/// detector binned as asked. Nothing is decoded before the first frames are asked for, and never more than a few lines
/// of the scan are held. `run` must live as long as the frames: what was loaded is said and reported there. Throws what
/// preview_load() throws; the frames throw what load() throws.
[[nodiscard]] Frames open_frames(const FramesRequest& request, Run& run);

}  // namespace sonde::stem
