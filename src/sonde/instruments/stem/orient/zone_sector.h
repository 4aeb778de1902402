// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>

#include "sonde/engine/array/array.h"
#include "sonde/engine/figure/colour.h"
#include "sonde/instruments/stem/orient/reflections.h"

namespace sonde::stem {

/// The part of the sphere that holds one of all equal directions of a point group, and its colours. Where mirrors bound
/// it by three corners, as the triangle of m-3m, these are red, green and blue, those of low index first; other groups
/// take the parts along the Cartesian axes as red, green and blue.
class ZoneSector {
 public:
  struct Corner {
    Vec3 direction{};
    Miller zone{};  ///< [u v w]
  };

  ZoneSector(const Crystal& crystal, const PointGroup& group);

  [[nodiscard]] const std::optional<std::array<Corner, 3>>& corners() const { return corners_; }
  /// The equal direction that is in the sector.
  [[nodiscard]] Vec3 reduced(const Vec3& direction) const;
  [[nodiscard]] Colour colour(const Vec3& direction) const;
  /// "red [0 0 1], green [1 0 1], blue [1 1 1]".
  [[nodiscard]] std::string legend_text() const;
  /// The sector in stereographic projection, u8 (side, side, 3); empty for a sector without corners.
  [[nodiscard]] Array legend(Index side) const;

 private:
  [[nodiscard]] Vec3 shares(const Vec3& direction) const;

  PointGroup group_;
  Vec3 centre_{};
  std::optional<std::array<Corner, 3>> corners_{};
  Mat3 to_shares_{};
};

}  // namespace sonde::stem
