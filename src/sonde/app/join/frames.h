// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "sonde/engine/run/run.h"

namespace sonde::join {

/// How a run opens frames that another instrument reads; empty when the build has none that reads frames.
[[nodiscard]] std::function<Frames(const FramesRequest& request, Run& run)> frames_opener();

}  // namespace sonde::join
