// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace sonde {

/// The rotation under which a field of vectors in the plane is most nearly a gradient.
struct LeastCurl {
  /// Of a position, or the components of a vector.
  struct Place {
    double row = 0, col = 0;
  };
  double rotation = 0;  ///< rad, in [-pi/2, pi/2): a half turn more is as free of curl
  /// sum of curl^2 over the sum of curl^2 and divergence^2: 0 for a gradient, 1/2 where the field says nothing.
  double curl = 0.5;
};

/// The orientation of a scan to the detector that saw it: a phase deflects the beam by its gradient, averaged over the
/// probe, which is a gradient again: as a field over the true positions the deflections have no curl. `nominal` are the
/// positions before transposition and rotation: true positions are these, rows and columns exchanged when `transpose`,
/// then turned counter-clockwise as seen with rows upwards, col' = col cos + row sin, row' = row cos - col sin.
/// `deflections` belong to them, in a unit in which both axes are alike. Derivatives are least-squares slopes over the
/// nearest neighbours, so that any pattern of positions will do. The best angle is found in closed form (the sum of
/// curl^2 is a constant and a wave in twice the angle); about J^2 operations for J positions. Throws Error(bad_input)
/// when the lists differ in length. Fewer than four positions say nothing.
[[nodiscard]] LeastCurl least_curl(std::span<const LeastCurl::Place> nominal,
                                   std::span<const LeastCurl::Place> deflections, bool transpose);

/// What a field's derivatives leave of the search for that angle: sums over places of u^2, v^2 and u v, where the field
/// turned by t has the curl u cos t - v sin t and the divergence u sin t + v cos t.
struct CurlSums {
  double uu = 0, vv = 0, uv = 0;
};

/// The angle in closed form, for derivatives that were taken in another way: on a raster by differences.
[[nodiscard]] LeastCurl least_curl(const CurlSums& sums);

}  // namespace sonde
