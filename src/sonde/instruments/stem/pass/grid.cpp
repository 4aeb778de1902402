// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"

namespace sonde::stem {
namespace {

Index bins(Index extent, Index bin, Edge edge) { return edge == Edge::keep ? (extent + bin - 1) / bin : extent / bin; }

}  // namespace

DetectorGrid DetectorGrid::make(Index rows, Index cols, Index bin, Edge edge) {
  if (bin < 1 || bin > 64)
    throw Error(ErrorKind::bad_input, fmt::format("detector bin {} is outside 1 to 64", bin))
        .hint("give " + setting("det_bin") + " 1, 2, 4, 8 or auto");
  DetectorGrid grid{rows, cols, bin, bins(rows, bin, edge), bins(cols, bin, edge)};
  if (grid.out_rows < 1 || grid.out_cols < 1)
    throw Error(ErrorKind::bad_input, fmt::format("detector bin {} leaves nothing of {} x {} pixels", bin, rows, cols))
        .hint("give a smaller " + setting("det_bin") + ", or " + setting("edge", "keep"));
  return grid;
}

std::vector<std::uint32_t> DetectorGrid::good_per_bin(std::span<const std::uint32_t> mask_bits) const {
  std::vector<std::uint32_t> good(static_cast<std::size_t>(out_pixels()));
  for (Index row = 0; row < std::min(rows, out_rows * bin); ++row)
    for (Index col = 0; col < std::min(cols, out_cols * bin); ++col)
      if (!mask_bit::is_bad(mask_bits[static_cast<std::size_t>(row * cols + col)]))
        ++good[static_cast<std::size_t>(row / bin * out_cols + col / bin)];
  return good;
}

std::vector<std::uint32_t> DetectorGrid::bin_mask(std::span<const std::uint32_t> mask_bits) const {
  const std::vector<std::uint32_t> good = good_per_bin(mask_bits);
  std::vector<std::uint32_t> joined(good.size());
  for (Index row = 0; row < std::min(rows, out_rows * bin); ++row)
    for (Index col = 0; col < std::min(cols, out_cols * bin); ++col) {
      const auto out = static_cast<std::size_t>(row / bin * out_cols + col / bin);
      if (good[out] == 0) joined[out] |= mask_bits[static_cast<std::size_t>(row * cols + col)];
    }
  return joined;
}

ScanGrid ScanGrid::make(const Acquisition& acquisition, std::optional<ScanRegion> region, Index bin, Edge edge) {
  const ScanOrder& scan = acquisition.scan;
  const ScanRegion whole{0, scan.rows, 0, scan.cols};
  const ScanRegion r = region.value_or(whole);
  if (r.row_first < 0 || r.col_first < 0 || r.row_last > scan.rows || r.col_last > scan.cols ||
      r.row_first >= r.row_last || r.col_first >= r.col_last)
    throw Error(ErrorKind::bad_input,
                fmt::format("scan region {},{},{},{} is empty or outside the scan of {} x {} positions", r.row_first,
                            r.row_last, r.col_first, r.col_last, scan.rows, scan.cols))
        .hint("give " + setting("scan_region") + " ROW_FIRST,ROW_LAST,COL_FIRST,COL_LAST, the last ones exclusive");
  const Index region_rows = r.row_last - r.row_first, region_cols = r.col_last - r.col_first;
  if (bin < 1 || bin > std::max(region_rows, region_cols))
    throw Error(ErrorKind::bad_input,
                fmt::format("scan bin {} does not suit {} x {} positions", bin, region_rows, region_cols))
        .hint("give a " + setting("scan_bin") + " of at least 1 that is not larger than the scan");
  ScanGrid grid{scan, r, bin, acquisition.frames, bins(region_rows, bin, edge), bins(region_cols, bin, edge)};
  if (grid.positions() == 0)
    throw Error(ErrorKind::bad_input,
                fmt::format("scan bin {} leaves nothing of {} x {} positions", bin, region_rows, region_cols))
        .hint("give a smaller " + setting("scan_bin") + ", or " + setting("edge", "keep"));
  return grid;
}

void ScanGrid::frames_of(Index position, std::vector<Index>& frames) const {
  frames.clear();
  if (only) position = (*only)[static_cast<std::size_t>(position)];
  const Index row_first = region.row_first + position / out_cols * bin,
              col_first = region.col_first + position % out_cols * bin;
  for (Index row = row_first; row < std::min(row_first + bin, region.row_last); ++row)
    for (Index col = col_first; col < std::min(col_first + bin, region.col_last); ++col) {
      const Index frame = order.frame(row, col);
      if (frame < stored_frames) frames.push_back(frame);
    }
  std::sort(frames.begin(), frames.end());
}

Schedule make_schedule(const ScanGrid& grid, const Source& source, std::size_t target_bytes) {
  const Index positions = grid.positions();
  Schedule schedule;
  schedule.order.resize(static_cast<std::size_t>(positions));
  std::iota(schedule.order.begin(), schedule.order.end(), Index{0});

  // First and last stored frame of every position; empty positions go last.
  constexpr Index never = std::numeric_limits<Index>::max();
  std::vector<Index> lowest(static_cast<std::size_t>(positions), never),
      highest(static_cast<std::size_t>(positions), -1);
  std::vector<Index> frames;
  for (Index n = 0; n < positions; ++n) {
    if (n % 65536 == 0) check_interrupt();
    grid.frames_of(n, frames);
    if (frames.empty()) continue;
    lowest[static_cast<std::size_t>(n)] = frames.front();
    highest[static_cast<std::size_t>(n)] = frames.back();
  }
  const auto low = [&](Index n) { return lowest[static_cast<std::size_t>(n)]; };
  if (!std::is_sorted(lowest.begin(), lowest.end()))
    std::stable_sort(schedule.order.begin(), schedule.order.end(), [&](Index a, Index b) { return low(a) < low(b); });

  // A gap of unwanted frames (a cropped scan) is skipped once it costs more than a new read. Few positions are wanted
  // for themselves: nothing between them is read, and one batch holds what all cores decode together.
  const std::size_t gap_bytes = grid.only ? 0 : std::size_t{1} << 20;
  Batch batch;
  Index end_frame = -1;  // one past the highest frame any position of the batch needs
  const auto close = [&](Index next) {
    batch.last = next;
    schedule.total_bytes += batch.bytes;
    schedule.largest_bytes = std::max(schedule.largest_bytes, batch.bytes);
    std::sort(schedule.order.begin() + batch.first, schedule.order.begin() + batch.last);
    if (batch.last > batch.first) schedule.batches.push_back(std::move(batch));
    batch = Batch{};
    batch.first = next;
    end_frame = -1;
  };
  for (Index i = 0; i < positions; ++i) {
    const Index n = schedule.order[static_cast<std::size_t>(i)];
    if (low(n) == never) break;
    const Index last = highest[static_cast<std::size_t>(n)] + 1;
    if (end_frame >= 0 && low(n) >= end_frame) {
      std::size_t gap = 0;
      for (Index f = end_frame; f < low(n) && gap <= gap_bytes; ++f) gap += source.stored_bytes(f);
      // 64 positions share a cache line of a plane: batches of ordinary scans end on such a line.
      const bool full = batch.bytes >= target_bytes && (n % 64 == 0 || batch.bytes >= 2 * target_bytes);
      if (full || (gap > gap_bytes && !grid.only))
        close(i);
      else if (gap > gap_bytes)
        end_frame = -1;
    }
    if (end_frame < 0) {
      batch.reads.push_back({low(n), low(n)});
      end_frame = low(n);
    }
    for (; end_frame < last; ++end_frame) batch.bytes += source.stored_bytes(end_frame);
    batch.reads.back().last = end_frame;
  }
  Index filled = positions;
  while (filled > 0 && low(schedule.order[static_cast<std::size_t>(filled - 1)]) == never) --filled;
  close(filled);
  if (filled < positions) {  // positions without frames
    batch.first = filled;
    close(positions);
  }
  return schedule;
}

}  // namespace sonde::stem
