// SPDX-License-Identifier: Apache-2.0
// Private to the room: traces of one size behind each other in a file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/field/field_formats.h"

namespace sonde::maxwell {

/// Where the traces of a file are.
struct TraceRecords {
  std::string name;             ///< of the file, for messages
  std::size_t first = 0;        ///< byte of the first record
  std::size_t record = 1;       ///< bytes of one
  std::size_t file = 0;         ///< bytes of all
  std::optional<Index> said{};  ///< how many there are by a header
  std::string said_by{};        ///< its name
};

/// How many whole ones there are. Throws Error(bad_file) where there are none, and unless it is allowed where the file
/// is cut off or has fewer than its header says; what was allowed, and more than it says, is a warning of the line.
[[nodiscard]] Index whole_traces(const TraceRecords& records, const FieldReading& reading, FieldLine& line);

/// Throws Error(bad_file) naming the first number of a line that is not finite, and for a time step that is not above
/// 0.
void require_finite(const FieldLine& line, const std::string& name);

/// What one count of signed whole numbers of so many bits stands for: 1 where all values are such numbers.
[[nodiscard]] double unit_of_count(const FieldLine& line, int bits);

/// Positions first + i step of all traces.
[[nodiscard]] std::vector<double> even_positions(Index traces, double first, double step);
/// The step of positions, 1 where there are none or one.
[[nodiscard]] double mean_step(const FieldLine& line);

}  // namespace sonde::maxwell
