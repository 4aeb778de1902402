// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/separate/network/layers.h"

namespace sonde::separate {

/// In what a network's weights are held. On the CPU everything is computed in float32.
enum class Precision { automatic, f32, f16, bf16, tf32 };
/// "auto", "f32", ...
[[nodiscard]] const char* name(Precision precision);

/// The values rounded to the nearest of f16 or bf16, as float32; as they are for every other precision.
[[nodiscard]] ParameterValues rounded(ParameterValues values, Precision precision);

}  // namespace sonde::separate
