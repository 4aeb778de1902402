// SPDX-License-Identifier: Apache-2.0
// For the fuzzers: what holds for every line that is read.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/field/field_formats.h"

namespace sonde::maxwell::testing {

inline void require(bool holds) {
  if (!holds) std::abort();
}

/// What was read is finite and is not larger than its bytes, and its writers take it.
inline void check_line(const FieldLine& line, std::size_t bytes) {
  require(line.traces > 0 && line.samples > 0 && line.dt > 0 && std::isfinite(line.dt));
  require(line.values.size() == static_cast<std::size_t>(line.traces * line.samples) && line.values.size() <= bytes);
  require(line.positions.empty() || line.positions.size() == static_cast<std::size_t>(line.traces));
  require(std::all_of(line.values.begin(), line.values.end(), [](float value) { return std::isfinite(value); }));
  require(!dt1_of(line).header.empty() && !mala_of(line, 2).header.empty() && !mala_of(line, 4).header.empty());
  try {
    require(!segy_of(line).traces.empty());
  } catch (const Error&) {  // a line that the format cannot hold
  }
}

/// Reads once as a whole file, and once as one that is cut off, with its second channel.
template <class Parse>
void check_bytes(std::size_t size, Parse parse) {
  for (const FieldReading& reading :
       {FieldReading{}, FieldReading{.channel = 2, .allow_truncated = true}, FieldReading{.allow_truncated = true}})
    try {
      check_line(parse(reading), size);
    } catch (const Error&) {
    }
}

/// The text before the first zero byte is the header, what follows the traces.
inline HeaderAndTraces divided(std::span<const std::byte> bytes) {
  const auto middle = std::find(bytes.begin(), bytes.end(), std::byte{0});
  const auto header = static_cast<std::size_t>(middle - bytes.begin());
  return {{reinterpret_cast<const char*>(bytes.data()), header},
          "fuzz.head",
          bytes.subspan(std::min(bytes.size(), header + 1)),
          "fuzz.data"};
}

}  // namespace sonde::maxwell::testing
