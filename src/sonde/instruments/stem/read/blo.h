// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// The head of a NanoMEGAS blockfile; little endian, lengths in nm unless said.
struct BloHeader {
  static constexpr std::size_t bytes = 56;  ///< that are read here; the rest describes indexing results
  std::uint32_t patterns_offset = 0;
  Index size = 0;  ///< patterns are size x size bytes
  Index scan_cols = 0, scan_rows = 0;
  double step_col_nm = 0, step_row_nm = 0;
  std::uint32_t high_tension_v = 0;
  double camera_length_m = 0;
};

/// Throws Error(bad_file) when the bytes are no such header; `name` stands in messages.
[[nodiscard]] BloHeader parse_blo_header(std::span<const std::byte> start, const std::string& name);

/// A scan of 8-bit patterns. Each pattern begins with a marker, which is checked when it is decoded.
[[nodiscard]] std::unique_ptr<Source> open_blo(const std::string& path, const ReadOptions& options);

}  // namespace sonde::stem
