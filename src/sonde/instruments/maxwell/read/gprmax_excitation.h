// SPDX-License-Identifier: Apache-2.0
// Private to the room: waveforms in columns of numbers.
#pragma once

#include <string>
#include <string_view>

#include "sonde/instruments/maxwell/read/gprmax_input.h"

namespace sonde::maxwell {

/// A text for #excitation_file: a line of names, then rows of as many numbers. A first name "time" makes that column
/// the times of the others. Blank lines and what follows # are comments. Throws Error(bad_file) with name and line.
[[nodiscard]] GprmaxExcitation parse_gprmax_excitation(std::string_view text, const std::string& name);

}  // namespace sonde::maxwell
