// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/io/contents.h"
#include "sonde/instruments/maxwell/field/field_line.h"

namespace sonde::maxwell {

inline constexpr const char* line_schema = "sonde.maxwell.line/1";

/// `data` [trace][sample], `position` [trace] in m where it is known, `time` [sample] in s since time zero; the rest of
/// a line as attributes, history and warnings as lines of a text.
[[nodiscard]] Contents line_contents(const FieldLine& line);
/// The same back, from HDF5. Throws Error(bad_file) for a file of another kind, and for what contradicts itself.
[[nodiscard]] FieldLine read_line_contents(const std::string& path);

}  // namespace sonde::maxwell
