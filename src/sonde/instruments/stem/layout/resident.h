// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// The two dense layouts of a scan with R positions and Q = rows * cols detector pixels, element type u8, u16, u32 or
/// f32.
///  - frame-major: frames(position, row, col), contiguous; a pattern is one contiguous read.
///  - pixel-major: planes(pixel, position), every plane starts at a multiple of 64 bytes; a detector reads only its own
///    planes. The padding behind a plane holds zeros.
enum class Layout { frame_major, pixel_major };

/// An uninitialised array of that layout; large ones are zero by the operating system (see Pool).
[[nodiscard]] Array make_frames(Device device, Index positions, Index rows, Index cols, DType dtype);
[[nodiscard]] Array make_planes(Device device, Index positions, Index rows, Index cols, DType dtype);

/// Sums that are taken in the loading pass. Exact integers (u64) for counts; f64 for float data.
struct Moments {
  Array total;        ///< T (position): sum over good pixels
  Array moment_row;   ///< Mr (position): sum of row * I over good pixels, rows of the resident (binned) detector
  Array moment_col;   ///< Mc (position)
  Array pattern_sum;  ///< S (row, col): sum over positions, resident detector
  Array pattern_max;  ///< (row, col) u64 or f32: largest value over positions
  Array nonzero;      ///< (row, col) u64: positions with a value other than zero
};

}  // namespace sonde::stem
