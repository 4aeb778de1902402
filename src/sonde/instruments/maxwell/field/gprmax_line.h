// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/io/contents.h"
#include "sonde/instruments/maxwell/field/field_line.h"
#include "sonde/instruments/maxwell/read/gprmax_output.h"

namespace sonde::maxwell {

/// What is taken of a file of gprMax.
struct TracesChoice {
  std::optional<Component> component{};  ///< unset: the E with the largest sample
  Index receiver = 0;
};

/// "V/m" or "A/m".
[[nodiscard]] std::string unit_of(Component c);

/// One component of one receiver, its runs as traces. Positions are those of the middle of source and receiver along
/// the axis that moves most; none where nothing moves. Samples of H are half a step early: that is in time_zero. Throws
/// Error(bad_input) for a receiver or component that the file does not have.
[[nodiscard]] FieldLine line_of(const GprmaxOutput& output, const TracesChoice& choice);

/// All of a file as arrays: for each component that a receiver has, [time][run][receiver] in V/m or A/m, NaN where a
/// receiver lacks it; `time` in s; places of receivers and sources in m, [run][receiver or source][x, y, z].
[[nodiscard]] Contents traces_contents(const GprmaxOutput& output);
inline constexpr const char* traces_schema = "sonde.maxwell.traces/1";
/// The same back, from HDF5. Throws Error(bad_file) for a file of another kind, and for what has another shape.
[[nodiscard]] GprmaxOutput read_traces(const std::string& path);

}  // namespace sonde::maxwell
