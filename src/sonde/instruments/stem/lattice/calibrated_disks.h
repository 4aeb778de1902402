// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/stem/bragg/bragg_vectors.h"
#include "sonde/instruments/stem/lattice/disk_origins.h"

namespace sonde::stem {

/// A symmetric matrix on (x, y).
struct EllipseCorrection {
  double xx = 1, xy = 0, yy = 1;
};

/// Along the semi-axes a and b the factors radius / a and radius / b: the ellipse becomes the circle of its radius.
[[nodiscard]] EllipseCorrection correction_of(const Distortion& ellipse);

/// The disks moved about the origin of their pattern so that the ellipse becomes a circle; their variances follow.
/// Disks of patterns without an origin stay where they are. Takes a copy.
[[nodiscard]] BraggVectors corrected(BraggVectors vectors, const DiskOrigins& origins, const Distortion& ellipse);

}  // namespace sonde::stem
