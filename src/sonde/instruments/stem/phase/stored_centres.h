// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/memory/budget.h"
#include "sonde/engine/panel/stored_result.h"
#include "sonde/instruments/stem/phase/centres.h"
#include "sonde/instruments/stem/phase/phase_options.h"
#include "sonde/instruments/stem/phase/phase_result.h"

namespace sonde::stem {

/// The centres of mass in a file of `sonde stem com` or `sonde stem phase`, and what was made of them.
struct StoredCentres {
  Centres centres;
  VectorField origin;         ///< px, that deflections were measured from
  PhaseScale scale;           ///< of the stored field
  PhaseOptions options;       ///< that the file was made with
  double rotation = 0;        ///< degrees, that the stored field was turned by
  bool transpose = false;     ///< and whether it was transposed
  Calibration calibration{};  ///< of stored pixels and positions, without origins of frames
};

/// Whether the schema of a result is that of one of these.
[[nodiscard]] bool holds_centres(const panel::StoredResult& result);

/// Nothing where the result lacks a part of it, or a part is not possible.
[[nodiscard]] std::optional<StoredCentres> stored_centres(const panel::StoredResult& result);

/// Whether a file holds centres of mass, HDF5, NetCDF or NPZ. False for what is none of these, absent or not readable.
[[nodiscard]] bool is_centre_file(const std::string& path, const Budget& budget);

/// The centres of mass of a file. Throws Error(bad_file) where it lacks a part of them or is damaged, and
/// Error(budget).
[[nodiscard]] StoredCentres read_centres(const std::string& path, const Budget& budget);

}  // namespace sonde::stem
