// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/instruments/ptycho/results/result.h"

namespace sonde::ptycho {

enum class ExportFormat { cxi, ptyr, tiff, png, npy };

/// The files that export_result() is sure to write.
[[nodiscard]] std::vector<std::string> export_names(ExportFormat format, const std::string& output);

/// Writes a result for other programs and returns the files. `output` is the file for cxi and ptyr, and what file names
/// begin with for the others: OUTPUT_phase.tif, OUTPUT_amplitude.tif (the field of view, all slices together; of
/// several slices also OUTPUT_phase_slices.tif and OUTPUT_amplitude_slices.tif, one page for each), OUTPUT_object.npy,
/// OUTPUT_probe.npy, OUTPUT_positions.npy. Positions are places of the probe's index floor(n/2): from pixel [0, 0] of
/// the exported object (npy, cxi), or in the frame of the scan with the object's _origin beside it (ptyr). Pixels in
/// npy, m in cxi and ptyr. Throws Error(not_supported) for cxi and ptyr of results without a calibration.
std::vector<std::string> export_result(const Result& result, ExportFormat format, const std::string& output);

}  // namespace sonde::ptycho
