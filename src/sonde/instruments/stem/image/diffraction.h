// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/device/stream.h"
#include "sonde/instruments/stem/layout/resident.h"

namespace sonde::stem {

/// A resident scan in one of the dense layouts: frames (R, rows, cols) or planes (rows * cols, R).
struct ScanView {
  const Array* array = nullptr;
  Layout layout = Layout::frame_major;
  Index rows = 0, cols = 0;
};

/// Virtual diffraction: pattern(row, col) = sum over the given scan positions of I(position, row, col), exact in u64
/// (wrapping at 2^64). Positions are ascending. The pattern is u64 of shape (rows, cols). Counts only. Frame-major
/// reads the frames named, pixel-major the cache lines of every plane that hold such a position. Throws
/// Error(bad_input) when shapes or types do not belong together or a position lies outside.
void pattern_sum(Stream& stream, const ScanView& scan, std::span<const Index> positions, Array& pattern);

/// pattern = base + sum over added - sum over removed positions: a region that moves costs the rows it gains and loses.
/// `base` may be the pattern itself.
void pattern_update(Stream& stream, const ScanView& scan, const Array& base, std::span<const Index> added,
                    std::span<const Index> removed, Array& pattern);

/// The mean over the positions, f64 of shape (rows, cols): the sum in double precision (exact below 2^53 counts),
/// divided once. On a GPU it is only queued: another stream has to wait for this one. Throws Error(bad_input) for no
/// position.
void pattern_mean(Stream& stream, const ScanView& scan, std::span<const Index> positions, Array& pattern);

/// The largest value over the positions, of the data's own type; zero for no position.
void pattern_maximum(Stream& stream, const ScanView& scan, std::span<const Index> positions, Array& pattern);

/// One pattern of shape (rows, cols), of the data's own type. Pixel-major reads one cache line per pixel.
void read_pattern(Stream& stream, const ScanView& scan, Index position, Array& pattern);

/// The positions of the scan region row0 <= row < row1, col0 <= col < col1, ascending. Throws Error(bad_input) when it
/// is empty or leaves the scan.
[[nodiscard]] std::vector<Index> scan_positions(Index scan_rows, Index scan_cols, Index row0, Index row1, Index col0,
                                                Index col1);

}  // namespace sonde::stem
