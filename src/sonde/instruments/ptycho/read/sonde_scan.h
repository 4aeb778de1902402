// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/ptycho/read/source.h"

namespace sonde::ptycho {

/// The scan files of `sonde ptycho simulate` (layout: simulate/simulate.h), which anyone may write: /data (scan rows,
/// scan columns, rows, columns) with the attributes energy_keV, detector_mrad_per_px, semiangle_mrad and scan_step_A;
/// /positions_A (frames, 2), /mask (nonzero is good) and /probe, all three optional. Nothing is read from /truth.
[[nodiscard]] bool is_sonde_scan(const Hdf5File& file);

/// Throws Error(bad_file) naming what is missing or has the wrong shape.
[[nodiscard]] Source open_sonde_scan(const std::string& path);

}  // namespace sonde::ptycho
