// SPDX-License-Identifier: Apache-2.0
// Private to the room: sums over bins of eight frames at a time, side by side in a vector.
#pragma once

#include <cstdint>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/image/frame_lanes.h"

namespace sonde::stem::cpu {

/// Frames that are summed together.
constexpr Index radial_lanes = frame_lanes;

/// The one bin of each pixel.
struct LabelledPixels {
  Index pixels;
  const std::uint32_t* label;
};

/// The shares of pixels in bins: those of pixel p are the entries [first[p], first[p + 1]).
struct SharedPixels {
  Index pixels;
  const std::uint32_t* first;
  const std::uint32_t* bin;
  const float* share;
};

/// even[label[p] * 8 + k] += frames[k][p], and odd for every other pixel: the sums are those of both.
#define SONDE_RADIAL_LABELLED(T, Sum) \
  void add_labelled(const LabelledPixels& pixels, const T* const* frames, Sum* even, Sum* odd);
SONDE_RADIAL_LABELLED(std::uint8_t, std::uint32_t)
SONDE_RADIAL_LABELLED(std::uint16_t, std::uint32_t)
SONDE_RADIAL_LABELLED(std::uint32_t, std::uint32_t)
SONDE_RADIAL_LABELLED(std::uint8_t, std::uint64_t)
SONDE_RADIAL_LABELLED(std::uint16_t, std::uint64_t)
SONDE_RADIAL_LABELLED(std::uint32_t, std::uint64_t)
SONDE_RADIAL_LABELLED(std::uint64_t, std::uint64_t)
SONDE_RADIAL_LABELLED(float, double)
SONDE_RADIAL_LABELLED(double, double)
#undef SONDE_RADIAL_LABELLED

/// sums[bin[e] * 8 + k] += share[e] frames[k][p] for the entries of each pixel, and squares with the square of the
/// share, unless they are null.
#define SONDE_RADIAL_SHARED(T) \
  void add_shared(const SharedPixels& pixels, const T* const* frames, double* sums, double* squares);
SONDE_RADIAL_SHARED(std::uint8_t)
SONDE_RADIAL_SHARED(std::uint16_t)
SONDE_RADIAL_SHARED(std::uint32_t)
SONDE_RADIAL_SHARED(std::uint64_t)
SONDE_RADIAL_SHARED(float)
SONDE_RADIAL_SHARED(double)
#undef SONDE_RADIAL_SHARED

}  // namespace sonde::stem::cpu
