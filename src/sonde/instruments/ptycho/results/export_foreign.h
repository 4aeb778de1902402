// SPDX-License-Identifier: Apache-2.0
// Private to the room: layouts of other programs.
#pragma once

#include <string>

#include "sonde/instruments/ptycho/results/result.h"

namespace sonde::ptycho {

/// CXI: /entry_1/image_1 with the object, source_1/illumination with the probe, geometry_1/translation (J, 3) as x, y,
/// z: place of the probe's index floor(n/2), from pixel [0, 0] of the object.
void write_cxi(const std::string& path, const Result& result);
/// The result layout of ptypy: content/obj/S0/{data, _psize, _origin}, content/probe/S0/{data, _psize, _origin},
/// content/positions/S0.
void write_ptyr(const std::string& path, const Result& result);

}  // namespace sonde::ptycho
