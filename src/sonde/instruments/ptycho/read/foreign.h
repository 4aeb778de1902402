// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/ptycho/read/source.h"

namespace sonde::ptycho {

/// CXI (Maia 2012): /entry_1/data_1/data (frames, rows, columns), translations (frames, 3) in m as x, y, z, detector
/// and source in SI units, mask with 0 for good pixels. Energies above 1e-10 are taken as eV, with a warning.
[[nodiscard]] bool is_cxi(const Hdf5File& file);
[[nodiscard]] Source open_cxi(const std::string& path);

/// PtyD, the data files of ptypy: chunks/<i>/{data, weights, positions, indices}, meta/{energy keV, distance m, psize
/// m, weight2d}. Chunks are joined in order; weights other than zero are good.
[[nodiscard]] bool is_ptyd(const Hdf5File& file);
[[nodiscard]] Source open_ptyd(const std::string& path);

}  // namespace sonde::ptycho
