// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// The largest image of a DigitalMicrograph file (DM3, DM4) that is no thumbnail: a pattern, a stack of patterns or a
/// 4D-STEM scan, whose scan axes may be the fast ones (how DigitalMicrograph stores them) or the slow ones. Which axes
/// are those of the scan follows from their units, else from the tag "Data Order Swapped", else scan axes are fast.
/// Axes give scan steps and the detector's step, "Microscope Info" high tension and camera length.
[[nodiscard]] std::unique_ptr<Source> open_dm(const std::string& path, const ReadOptions& options);

}  // namespace sonde::stem
