// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/memory/memory_plan.h"
#include "sonde/instruments/stem/timepix/chip_layout.h"
#include "sonde/instruments/stem/timepix/event_options.h"
#include "sonde/instruments/stem/timepix/packet_reader.h"
#include "sonde/instruments/stem/timepix/scan_choice.h"

namespace sonde::stem {

/// Hits by time: the first bin begins at the first hit, and all are equally long.
struct HitRate {
  double bin_s = 0;
  std::vector<std::uint64_t> hits{};
};

/// The electrons of a Timepix3 file by scan position, and what became of the rest.
struct TimepixEvents {
  Index scan_rows = 0, scan_cols = 0, rows = 0, cols = 0;
  Array offsets{};  ///< u64 (positions + 1): those of position p are index[offsets[p]] to index[offsets[p + 1] - 1]
  Array index{};    ///< u32 (electrons): row * cols + column, in ascending order of time
  Array frames{};   ///< u32 (positions): 1 where the file reaches the position, else 0
  Array pattern{};  ///< u64 (rows, cols): electrons of all positions

  ScanTiming timing{};
  PacketCounts packets{};
  std::uint64_t electrons = 0;                       ///< of all hits
  std::uint64_t before = 0, flyback = 0, after = 0;  ///< electrons without a position
  std::uint64_t late_hits = 0, late_edges = 0;       ///< further out of order than allowed; left out
  std::uint64_t stray_hits = 0;                      ///< seconds away from all others; left out
  std::uint64_t cut = 0;                             ///< hits kept from electrons that last too long: Clusterer
  std::array<std::uint64_t, 5> of_hits{};            ///< electrons of 1, 2, 3, 4 and more hits
  double duration_s = 0;                             ///< from the first hit or edge to the last
  double after_start_s = 0;         ///< from the start of the scan, or its first line, to the last hit or edge
  double line_s = 0;                ///< mean distance of the edges that begin lines, or start the scan
  std::uint64_t trigger_edges = 0;  ///< how many of these the file has
  Index reached = 0;                ///< positions that the file reaches
  HitRate rate{};

  [[nodiscard]] std::uint64_t placed() const { return static_cast<std::uint64_t>(index.count()); }
};

/// What find_events() will hold.
[[nodiscard]] MemoryPlan plan_events(const ChipLayout& layout, const TimepixOptions& options);

/// Reads the file, of TPX3 packets or of records (.t3p), once, in blocks of 2 MiB that a thread of its own reads ahead:
/// decodes hits, puts them in the order of time, joins them into electrons and gives each its position. Works on one
/// thread and holds what plan_events() says, whatever the size of the file: events go through a temporary file. The
/// result does not depend on blocks or threads.
///
/// Throws what the reader of the file throws, Error(budget), Error(io) of the temporary file, and what
/// check_interrupt() throws.
[[nodiscard]] TimepixEvents find_events(const std::string& path, const ChipLayout& layout, const ScanTiming& timing,
                                        const TimepixOptions& options, Budget budget);

}  // namespace sonde::stem
