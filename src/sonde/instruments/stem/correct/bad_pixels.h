// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// What is done with the values of a bad pixel: zero (it counts nothing), sampled (the same, judged by some frames of
/// the scan instead of all), interpolate (rounded median of its good neighbours, frame by frame), mark (kept as read
/// and listed), none (not looked for). Automatic is for the loader to resolve: zero when there are enough frames to
/// tell a bad pixel from diffraction, else mark.
enum class BadPixelAction { automatic, zero, sampled, interpolate, mark, none };

[[nodiscard]] std::string_view name(BadPixelAction action);
/// Throws Error(usage) naming the known ones.
[[nodiscard]] BadPixelAction parse_bad_pixel_action(std::string_view text);

enum class BadPixelReason { hot, dead, sentinel, noisy };

[[nodiscard]] std::string_view name(BadPixelReason reason);
/// The NXdetector bit that records it: over-responding, dead, noisy, noisy.
[[nodiscard]] std::uint32_t mask_bits(BadPixelReason reason);

struct BadPixelOptions {
  double hot_factor = 3;             ///< f: hot if S > f m8 + k sqrt(m8 + 1)
  double hot_sigmas = 8;             ///< k
  double dead_factor = 10;           ///< f': dead if S < med / f' - k sqrt(med)
  double dead_minimum = 100;         ///< and med above this
  double sentinel_fraction = 0.01;   ///< bad if "no data" in more than this fraction of frames
  double noisy_fano = 50;            ///< noisy if its var / mean over time is above this
  double noisy_fano_neighbours = 5;  ///< and that of all its good neighbours is below this
  int passes = 2;                    ///< a hot pixel hides its neighbour: what one pass finds, the next leaves out
};

/// What is known of every pixel over all frames. Flat arrays are (rows, cols), row after row.
struct PixelStatistics {
  View<const std::uint64_t, 2> sum;          ///< S: exact sum over all frames
  std::span<const std::uint8_t> good;        ///< 1 for pixels to be judged and to judge by; empty: all
  std::span<const std::uint64_t> sentinels;  ///< frames in which the pixel said "no data"; empty: none did
  Index frames = 0;                          ///< needed with `sentinels`
  std::span<const double> fano;              ///< var / mean over time; empty: not judged
};

struct BadPixel {
  Index row = 0, col = 0;
  std::uint64_t sum = 0;            ///< its S
  std::uint64_t neighbour_max = 0;  ///< m8, the largest S among its good neighbours
  BadPixelReason reason = BadPixelReason::hot;
};

/// Pixels that cannot be right, in row-major order. A pixel is compared with the largest (m8) and the median (med) of
/// its good 8 neighbours; with fewer than four of those, the next ring of 12 (5x5 without corners) joins. A single
/// pixel must be three times brighter than its brightest neighbour to be hot, so neither the edge of a disk nor a
/// smooth peak ever is, whatever part of the detector they cover. A dead pixel may have at most two neighbours that are
/// as dark as itself, so the concave corners of a sharp disk stay good. Pixels without any good neighbour are not
/// judged hot or dead. Throws Error(bad_input) when a flat array has another size than the detector. Cost: a few passes
/// over the pixels.
[[nodiscard]] std::vector<BadPixel> find_bad_pixels(const PixelStatistics& statistics,
                                                    const BadPixelOptions& options = {});

/// Flat indices of the good pixels that stand in for pixel (row, col): its 8 neighbours, and the ring of 12 when fewer
/// than four of them are good. Ascending. `good` may be empty (all are).
[[nodiscard]] std::vector<Index> good_neighbours(Index rows, Index cols, std::span<const std::uint8_t> good, Index row,
                                                 Index col);

/// The median of counts, the mean of the two middle ones rounded half up; 0 for none. Reorders `counts`.
[[nodiscard]] std::uint64_t rounded_median(std::span<std::uint64_t> counts);

/// A bad pixel and the good ones it is interpolated from; none when it lies deep inside a bad region (it stays 0).
struct Interpolation {
  Index pixel = 0;
  std::vector<Index> neighbours;
};

/// One entry for every pixel of `bad` (flat indices). `good` must be 0 there and at every other bad pixel.
[[nodiscard]] std::vector<Interpolation> interpolation_plan(Index rows, Index cols, std::span<const std::uint8_t> good,
                                                            std::span<const Index> bad);

}  // namespace sonde::stem
