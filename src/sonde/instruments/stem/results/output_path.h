// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/instruments/stem/load/load_options.h"
#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// Throws Error(bad_input) when `path` is a file that the scan was read from, or lies in a folder that it was read from
/// (Zarr), or the calibration or mask that it was loaded with: results never replace measurements.
void require_not_input(const std::string& path, const Acquisition& acquisition, const LoadOptions& options);

/// What results of a scan are named after: the last part of its path without the ending of its format.
[[nodiscard]] std::string scan_label(const std::string& path);

/// Names without ending for the images of several scans and detectors in one folder: [scan][detector]. Letters, digits,
/// "-" and "." of the detector, "_" for all else, behind the label of the scan; only the label where there is one
/// detector. Scans of one label have their folder before it, and what is still equal is numbered: no two are the same.
[[nodiscard]] std::vector<std::vector<std::string>> image_names(const std::vector<std::string>& scans,
                                                                const std::vector<std::string>& detectors);

}  // namespace sonde::stem
