// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/lattice/strain_result.h"

namespace sonde::stem {

/// The maps of e_xx, e_yy, e_xy and theta in one range that is symmetric about zero, each with its median sigma, and
/// the axes that x and y are: u8 (rows, cols, 3).
[[nodiscard]] Array strain_picture(const StrainResult& result);

}  // namespace sonde::stem
