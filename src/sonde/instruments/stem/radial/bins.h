// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// The shape that a ring of the specimen has on the detector: semi-axes (any unit: only their ratio counts), and the
/// angle of the first one in rad, from the columns toward the rows. Positions are moved by the symmetric matrix that
/// makes it the circle of radius sqrt(a b), so that areas are kept.
struct Ellipse {
  double a = 1, b = 1, theta = 0;
};

/// Where radii and angles are measured from: pixels, whose centres are whole numbers.
struct RadialGeometry {
  Index rows = 0, cols = 0;
  double row = 0, col = 0;
  Ellipse ellipse{};
};

/// Equal bins in radius, inner <= r < outer in pixels, and equal ones in angle, [0, 2 pi) from the columns toward the
/// rows; one angle is the whole circle.
struct RadialBins {
  Index radii = 0;
  double inner = 0, outer = 0;
  Index angles = 1;

  [[nodiscard]] Index count() const { return radii * angles; }
  [[nodiscard]] double width() const { return (outer - inner) / static_cast<double>(radii); }
  /// The middle of a bin.
  [[nodiscard]] double radius(Index bin) const { return inner + (static_cast<double>(bin) + 0.5) * width(); }
};

/// How a pixel's counts are shared among bins (Kieffer and Ashiotis, pyFAI, J. Phys. Conf. Ser. 425 (2013) 202012).
///  - none: all in the bin that holds its centre.
///  - bbox: in proportion to the overlap with r - d to r + d, d the largest distance in radius of a corner from the
///    centre; in angle likewise.
///  - full: by area, exactly.
enum class PixelSplit { none, bbox, full };

[[nodiscard]] std::string_view name(PixelSplit split);
/// Throws Error(usage) naming the known ones.
[[nodiscard]] PixelSplit parse_pixel_split(std::string_view text);

/// Which share of each pixel lies in which bin. Bins of angles lie together: bin = radius * angles + angle.
struct BinShares {
  /// (pixels + 1): the entries of a pixel are [first[p], first[p + 1]), bins ascending; none for bad pixels and those
  /// outside.
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> bin;  ///< (entry)
  std::vector<float> share;        ///< (entry), above 0; sums to at most 1 over a pixel
};

/// `good` is flat (rows * cols), 1 for pixels that count; empty: all do. Throws Error(bad_input) for bins without a
/// width, a centre that is not finite, an ellipse without area, and where no good pixel is in any bin.
[[nodiscard]] BinShares share_among_bins(const RadialGeometry& geometry, const RadialBins& bins, PixelSplit split,
                                         std::span<const std::uint8_t> good);

/// The largest distance of a pixel's corner from the centre of the geometry.
[[nodiscard]] double farthest(const RadialGeometry& geometry);

}  // namespace sonde::stem
