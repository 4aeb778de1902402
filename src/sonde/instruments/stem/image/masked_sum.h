// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sonde/engine/array/array.h"
#include "sonde/engine/device/stream.h"
#include "sonde/instruments/stem/image/mask.h"

namespace sonde::stem {

/// image(p) = sum over the mask's pixels of frames(p, row, col). Frames are (R, rows, cols) with any strides.
/// A boolean mask on counts (u8, u16, u32) gives exact integers in a u64 image. Weighted masks, and f32 frames, are
/// summed in double precision into an f64 image, in a fixed order: eight partial sums by the place of a pixel in its
/// row run, modulo eight, then added pairwise. That order differs from plane_sum's, and so may the last bits. Reads
/// each masked pixel once: the floor is their bytes. Throws Error(bad_input) when the mask and the detector differ in
/// size or the image is not of that type and length.
void masked_sum(Stream& stream, const Array& frames, const Mask& mask, Array& image);

/// Whether masked_sums() takes these masks in one reading of the frames: boolean masks on counts that are dense in host
/// memory, where that takes less time than one mask after another (MaskSet::pays).
[[nodiscard]] bool sums_together(const Stream& stream, const Array& frames, std::span<const Mask> masks);

/// The images of several masks, each what masked_sum() gives and in the same integers or order of additions. Throws
/// what masked_sum() throws.
void masked_sums(Stream& stream, const Array& frames, std::span<const Mask> masks, std::span<Array> images);

/// image = base + sum over added - sum over removed pixels, wrapping at 2^64; counts only. `base` (u64, R) may be the
/// image itself.
void masked_update(Stream& stream, const Array& frames, const Array& base, std::span<const Index> added,
                   std::span<const Index> removed, Array& image);

}  // namespace sonde::stem
