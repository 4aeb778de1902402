// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "sonde/instruments/stem/timepix/chip_layout.h"
#include "sonde/instruments/stem/timepix/event_options.h"
#include "sonde/instruments/stem/timepix/packets.h"

namespace sonde::stem {

/// A line, or a scan, may take so many times what its positions take: a little less where the clocks of scan generator
/// and detector differ, and more by its flyback.
inline constexpr double shortest_line = 0.98, longest_line = 3;

/// The edges of one channel at the beginning of a file.
struct EdgeSurvey {
  std::uint64_t count = 0;
  std::optional<FineTicks> first{};
  std::optional<double> period_s{};  ///< median distance of neighbours
};

/// The beginning of a file, from which what it does not say is chosen.
struct FileSurvey {
  std::uint64_t file_bytes = 0, read_bytes = 0;
  std::uint64_t hits = 0;
  std::optional<FineTicks> first_hit{};
  std::array<EdgeSurvey, tdc_channels> edges{};
  [[nodiscard]] const EdgeSurvey& of(TdcChannel channel) const { return edges[static_cast<std::size_t>(channel)]; }
};

/// Reads up to 64 MiB. A time that is more than a second from the others does not count. Throws what PacketReader
/// throws but for a file that was cut off, and what File throws.
[[nodiscard]] FileSurvey survey_file(const std::string& path, const ChipLayout& layout, Damage damage);

/// How positions are found, and why so.
struct ScanTiming {
  bool by_lines = false;
  std::optional<TdcChannel> channel{};  ///< that begins lines, or the scan
  FineTicks start = 0;                  ///< of the scan by its own clock, with the delay
  std::string because{};
};

/// Throws Error(bad_file) where the edges that were asked for are not in the beginning of the file, naming those that
/// are; and for a file without any hit or edge there.
[[nodiscard]] ScanTiming choose_timing(const std::string& path, const FileSurvey& survey,
                                       const TimepixOptions& options);

/// "rises of TDC1".
[[nodiscard]] std::string name_of(TdcChannel channel);

}  // namespace sonde::stem
