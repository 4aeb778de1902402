// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/instruments/neoclassical/read/boozer_file.h"

namespace sonde::neoclassical {

/// A boozmn file of BOOZ_XFORM and programs that follow it, classic or NetCDF-4, with phi_b or with a scalar
/// toroidal_flux_b; a flux that is 0 or not finite counts as absent. Throws Error(bad_file) naming file and
/// variable, also when the file may not be read.
[[nodiscard]] BoozerFile read_boozmn(const std::string& path);

/// The same format, classic NetCDF with 64-bit offsets; equal contents give equal bytes. Throws Error(not_supported)
/// when a surface lies on no half mesh of ns surfaces, Error(io) when it cannot be written.
void write_boozmn(const std::string& path, const BoozerFile& file);

}  // namespace sonde::neoclassical
