// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// What happens to the last bin when the extent is not a multiple of the bin: kept with fewer members, or left out.
enum class Edge { keep, drop };

/// How detector pixels (rows, cols) fall into bins of bin x bin: J[Y, X] sums I[bin Y + i, bin X + j].
struct DetectorGrid {
  Index rows = 0, cols = 0;  ///< stored detector
  Index bin = 1;
  Index out_rows = 0, out_cols = 0;  ///< resident detector: ceil (keep) or floor (drop) of the extent over the bin

  /// Throws Error(bad_input) when the bin is below 1, above 64, or nothing is left.
  static DetectorGrid make(Index rows, Index cols, Index bin, Edge edge);
  [[nodiscard]] Index pixels() const { return rows * cols; }
  [[nodiscard]] Index out_pixels() const { return out_rows * out_cols; }
  /// Number of good pixels in every bin.
  [[nodiscard]] std::vector<std::uint32_t> good_per_bin(std::span<const std::uint32_t> mask_bits) const;
  /// NXdetector bits of every bin: those of its pixels joined, when none of them is good; else 0 (the bad ones add
  /// nothing).
  [[nodiscard]] std::vector<std::uint32_t> bin_mask(std::span<const std::uint32_t> mask_bits) const;
};

/// Half-open rectangle of scan positions.
struct ScanRegion {
  Index row_first = 0, row_last = 0, col_first = 0, col_last = 0;
};

/// Which stored frames are summed into which resident scan position: region first, then bins of bin x bin positions.
struct ScanGrid {
  ScanOrder order;
  ScanRegion region;
  Index bin = 1;
  Index stored_frames = 0;           ///< frames the file has; positions beyond are empty
  Index out_rows = 0, out_cols = 0;  ///< resident scan
  /// Only these positions of the resident scan, ascending, numbered in their order; none: all of them.
  std::optional<std::vector<Index>> only{};

  /// Throws Error(bad_input) when the region is empty or outside the scan, or the bin is below 1 or above the region.
  static ScanGrid make(const Acquisition& acquisition, std::optional<ScanRegion> region, Index bin, Edge edge);
  [[nodiscard]] Index positions() const { return only ? static_cast<Index>(only->size()) : out_rows * out_cols; }
  /// Appends the stored frames of a resident position to `frames` (cleared first), ascending; those beyond the file are
  /// left out.
  void frames_of(Index position, std::vector<Index>& frames) const;
};

/// Stored frames [first, last), read at once.
struct FrameRange {
  Index first = 0, last = 0;
};

/// Some reads, which together hold all frames of the positions order[first .. last): one, and several where only some
/// positions are wanted.
struct Batch {
  std::vector<FrameRange> reads;  ///< ascending
  Index first = 0, last = 0;
  std::size_t bytes = 0;
};

/// In which order positions are loaded. Batches end where no position needs frames of both sides, so every stored frame
/// is read once, front to back; inside a batch positions are in resident order.
struct Schedule {
  std::vector<Index> order;
  std::vector<Batch> batches;
  std::size_t largest_bytes = 0, total_bytes = 0;
};

/// Batches of about `target_bytes` stored bytes; larger only where scan bins or a transposed scan tie frames together.
[[nodiscard]] Schedule make_schedule(const ScanGrid& grid, const Source& source, std::size_t target_bytes);

}  // namespace sonde::stem
