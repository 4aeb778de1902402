// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/stem/bragg/bragg_vectors.h"
#include "sonde/instruments/stem/lattice/strain_options.h"
#include "sonde/instruments/stem/phase/vector_field.h"

namespace sonde::stem {

/// Where the direct beam is in every pattern.
struct DiskOrigins {
  VectorField measured;  ///< the direct disk, px
  Origin surface{};      ///< through them
  OriginFit fit = OriginFit::plane;
  bool stated = false;  ///< that of the calibration

  /// Of a position: the surface, or without one the direct disk.
  [[nodiscard]] Origin::At at(Index row, Index col) const;
};

/// The direct disk is the brightest one, or that nearest a centre: first the mean place of all disks, by intensity,
/// then the surface through those found so. A site that is mistaken for it is left out of the surface as an outlier,
/// and changes indices, but neither vectors nor strain. Scans that are too small for the surface take a simpler one.
/// `automatic` takes the origins of the calibration as they are, without a surface; without them it is the nearest
/// disk.
[[nodiscard]] DiskOrigins find_origins(const BraggVectors& vectors, OriginChoice choice, OriginFit fit);

}  // namespace sonde::stem
