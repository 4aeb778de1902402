// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// A disk: its place (x along columns, y along rows) in px of the detector and its weight.
struct LatticePeak {
  double x = 0, y = 0;
  double intensity = 1;
  double var_x = 0, var_y = 0;  ///< px^2, where they are known
};

/// Two vectors of a reciprocal lattice, px.
struct Basis {
  double g1_x = 0, g1_y = 0, g2_x = 0, g2_y = 0;

  /// g1 x g2: of a right-handed pair above 0.
  [[nodiscard]] double area() const { return g1_x * g2_y - g1_y * g2_x; }
  /// Length of the shorter one.
  [[nodiscard]] double shortest() const;
  /// The sine of the angle between them.
  [[nodiscard]] double opening() const;
};

/// Indices of a place as real numbers: v = h g1 + k g2.
struct Coordinates {
  double h = 0, k = 0;
};
[[nodiscard]] Coordinates coordinates(const Basis& basis, double x, double y);

/// The pair of shortest vectors of the same lattice (Lagrange and Gauss), right-handed, g1 the shorter one and within a
/// quarter turn to either side of +x.
[[nodiscard]] Basis reduced(Basis basis);

/// What decides which lattice the disks of a scan are on.
struct BasisSearch {
  double blur = 1;       ///< px: Gaussian that joins the disks of all positions, the spread of strain and noise
  double spacing = 4;    ///< px: maxima of the map of disks nearer than this are one
  double tolerance = 2;  ///< px: how far a maximum may be from a lattice site
};

/// The lattice of disks that were found over a whole scan, measured from the origins of their patterns. The maxima of
/// the map of disks are candidates of both vectors, by length; a pair scores the intensity of the maxima on its lattice
/// less a quarter of their mean for every site that is empty within the region of the maxima, so that neither multiples
/// nor fractions of the vectors win. The best one is reduced and fitted to its maxima. Nothing where all maxima are on
/// one line, or fewer than two beside the direct disk.
struct FoundBasis {
  Basis basis{};
  Index maxima = 0;    ///< of the map, without the direct disk
  double indexed = 0;  ///< share of their intensity that is on the lattice
  double empty = 0;    ///< share of the sites within their region that have no maximum
};
[[nodiscard]] std::optional<FoundBasis> find_basis(std::span<const LatticePeak> disks, const BasisSearch& search);

/// The maxima of that map, the brightest first, the direct disk left out. Extent: of the farthest disk.
[[nodiscard]] std::vector<LatticePeak> map_maxima(std::span<const LatticePeak> disks, const BasisSearch& search);

}  // namespace sonde::stem
