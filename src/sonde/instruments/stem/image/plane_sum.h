// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sonde/engine/array/array.h"
#include "sonde/engine/device/stream.h"
#include "sonde/instruments/stem/image/mask.h"

namespace sonde::stem {

/// What happens to an image that is already there.
enum class Sign { assign, add, subtract };

/// image(r) = sum over q in pixels of planes(q, r), or image(r) += or -= that sum. Planes are u8, u16 or u32 of shape
/// (Q, R), dense in r; the image is u64 of shape (R) and wraps at 2^64, so that adding and subtracting again is exact.
/// Reads each plane named once and nothing else: the floor is their bytes. Throws Error(bad_input) when shapes or types
/// do not belong together or a pixel lies outside.
void plane_sum(Stream& stream, const Array& planes, std::span<const Index> pixels, Array& image,
               Sign sign = Sign::assign);

/// image = base + sum over added - sum over removed, in one pass; `base` (u64, R) may be the image itself.
void plane_update(Stream& stream, const Array& planes, const Array& base, std::span<const Index> added,
                  std::span<const Index> removed, Array& image);

/// The image of a mask. A boolean mask on counts gives u64 as above. Weighted masks, and f32 planes, are summed in
/// double precision, pixel after pixel in ascending order, into an f64 image.
void plane_sum(Stream& stream, const Array& planes, const Mask& mask, Array& image);

}  // namespace sonde::stem
