// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/image/mask.h"

namespace sonde::stem {

/// The detector that an expression is about: the resident (binned) one, lengths in its pixels, pixel centres at whole
/// numbers.
struct DetectorGeometry {
  Index rows = 0, cols = 0;
  std::optional<double> centre_row, centre_col;  ///< of the bright-field disk; `auto` and the presets need them
  std::optional<double> radius;                  ///< rho, of the bright-field disk
  std::vector<std::uint8_t> good;                ///< (rows, cols), zero where a pixel is bad; empty: all are good
};

/// A detector coordinate, and a length, of the unbinned detector on one that is binned by `bin`.
[[nodiscard]] constexpr double binned_coordinate(double unbinned, Index bin) {
  return (unbinned - (static_cast<double>(bin) - 1) / 2) / static_cast<double>(bin);
}
[[nodiscard]] constexpr double binned_length(double unbinned, Index bin) { return unbinned / static_cast<double>(bin); }

/// A mask that a file holds: zero is outside, one inside, anything else a weight.
struct MaskImage {
  Index rows = 0, cols = 0;
  std::vector<float> weights;
};

/// What decides whether a pixel belongs to a shape.
struct MembershipRules {
  /// A pixel at distance d belongs to an annulus when r_in <= d < r_out, so that adjacent annuli share no pixel.
  /// Inclusive: r_in <= d <= r_out, as some other programs have it.
  bool inclusive = false;
  /// Weight = share of the pixel's area inside, by 8 x 8 points. rect, point and file still take whole pixels.
  bool antialias = false;
  /// Reads the mask of file(path). Without it file() is an error.
  std::function<MaskImage(const std::string& path)> load;
};

/// A detector in words, such as `annulus(95.5,95.5,40,90) & !rect(0,0,96,192)`. Names in any case.
///
///   circle(row,col,r)  annulus(...)  ...         the shapes of detector_shapes.h
///   file(path)                                   a mask from a file; quote a path that holds ) or a comma
///   bf  abf  adf  haadf  all                     annuli about the centre (presets.h); every pixel
///   rings(row,col,r_in,r_out,n)  segments(...)   many detectors at once, only for expand_detector()
///   ! & - ^ | ( )                                not; and; but not; either but not both; or: from tightest to loosest
///                                                (& and - bind alike, from the left)
///
/// A number is in pixels, with the suffix `rho` in bright-field radii (`1.5rho`, or only `rho`), with `deg` an angle
/// in degrees. `auto` as row or col is the centre of the bright-field disk.
class DetectorExpression {
 public:
  /// Throws Error(usage) that shows the text with a caret under the place.
  static DetectorExpression parse(std::string_view text);
  DetectorExpression(DetectorExpression&&) noexcept;
  DetectorExpression& operator=(DetectorExpression&&) noexcept;
  ~DetectorExpression();

  [[nodiscard]] const std::string& text() const;
  /// Whether `auto`, `rho` or a preset is used: the mask then depends on the bright-field disk.
  [[nodiscard]] bool needs_disk() const;

  /// The good pixels that belong to it; weights only with antialias or from a file. Throws Error(usage) like parse()
  /// when centre or radius are needed and unknown, Error(bad_input) when a mask file has another size. Costs a few
  /// operations per pixel and shape.
  [[nodiscard]] Mask mask(const DetectorGeometry& geometry, const MembershipRules& rules = {}) const;

  struct Tree;

 private:
  explicit DetectorExpression(std::unique_ptr<Tree> tree);
  std::unique_ptr<Tree> tree_;
};

/// Detectors that one expression names.
struct DetectorSet {
  std::string text;                  ///< as it was written
  std::vector<std::string> members;  ///< expressions of one detector each: the sectors of the first ring, of the next
  bool several = false;              ///< written as rings or segments; else the text is its only member
  Index rings = 1, sectors = 1;
  std::vector<double> radii;  ///< of several: (rings + 1) edges, in px or
  bool in_rho = false;        ///< in bright-field radii
  double first_angle = 0;     ///< rad, of the first sector

  /// "ring 2" or "ring 0, sector 3".
  [[nodiscard]] std::string label(Index member) const;
};

/// Writes `rings` and `segments` (detector_families()) out, one shape for each member, whatever stands beside them:
/// `segments(auto,auto,0,rho,1,4) & !rect(0,0,9,9)` has the four members
/// `segment(auto,auto,0,1rho,0,4) & !rect(0,0,9,9)`, and so on. Members share no pixel, and together they have those of
/// the annulus. Throws Error(usage) like parse().
[[nodiscard]] DetectorSet expand_detector(std::string_view text);

/// parse() and mask() in one.
[[nodiscard]] Mask detector_mask(std::string_view expression, const DetectorGeometry& geometry,
                                 const MembershipRules& rules = {});

}  // namespace sonde::stem
