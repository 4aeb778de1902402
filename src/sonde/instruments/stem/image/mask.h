// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sonde/engine/array/dtype.h"
#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// A detector: which pixels count, and how much. Pixels are flat indices row * cols + col, ascending, without repeats.
/// An empty `weights` means that all weigh one (a boolean mask); else one weight per pixel.
struct Mask {
  Index rows = 0, cols = 0;
  std::vector<Index> pixels;
  std::vector<float> weights;
  std::uint64_t hash = 0;  ///< of shape, pixels and weights (XXH3); equal masks have equal hashes

  [[nodiscard]] bool boolean() const { return weights.empty(); }
  [[nodiscard]] Index area() const { return static_cast<Index>(pixels.size()); }
};

/// Sorts, removes repeats (boolean masks) and weights of zero, takes weights that are all one for a boolean mask, and
/// computes the hash. Throws Error(bad_input) on pixels outside, on two weights for one pixel and on weights that are
/// not finite.
[[nodiscard]] Mask make_mask(Index rows, Index cols, std::vector<Index> pixels, std::vector<float> weights = {});

/// u32 when a sum over that many pixels of counts (u8, u16, u32) provably fits 32 bits, else u64.
[[nodiscard]] DType accumulator(DType counts, Index pixels);

}  // namespace sonde::stem
