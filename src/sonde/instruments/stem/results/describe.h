// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/device.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// What the file says of scan, detector, element type, files, calibration and masks, as data.
[[nodiscard]] Value acquisition_value(const Acquisition& acquisition);

/// What a load would find and take: {"acquisition": ..., "float32_bytes_by_det_bin": ..., "estimate": ...}.
[[nodiscard]] Value preview_value(const LoadPreview& preview);

/// Every value the file holds, path by path.
[[nodiscard]] Value metadata_value(const Acquisition& acquisition);

/// Everything that is wrong with one scan goes to `problems`: links, shapes, filters, frame counts, places of chunks,
/// and with `decode` every frame. The entry says {"path", "frames", "status": "ok" or "failed"}. Throws only
/// interrupts.
[[nodiscard]] Value validate(const std::string& path, const LoadOptions& options, bool decode, const Budget& budget,
                             Device device, Problems& problems);

}  // namespace sonde::stem
