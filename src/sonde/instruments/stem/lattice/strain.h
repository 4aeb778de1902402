// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/stem/lattice/basis.h"
#include "sonde/instruments/stem/lattice/lattice_fit.h"

namespace sonde::stem {

/// What a strain is of the deformation gradient F = R(theta) U of real space:
///   biot                    U - I, theta of R
///   infinitesimal           (F + F^T) / 2 - I, theta = (F_yx - F_xy) / 2
///   green_lagrange          (F^T F - I) / 2, theta of R
///   reciprocal_first_order  of b = G G0^-1: 1 - b_xx, 1 - b_yy, -(b_xy + b_yx) / 2, theta = (b_yx - b_xy) / 2: what
///                           py4DSTEM computes; 5 % of strain reads 4.762 %
enum class StrainMeasure { biot, infinitesimal, green_lagrange, reciprocal_first_order };

/// Along x (columns) and y (rows), positive: tension in real space; theta turns +x towards +y, rad.
struct Strain {
  double xx = 0, yy = 0, xy = 0, theta = 0;
};

/// From the reciprocal lattice: F = G^-T G0^T with the vectors of either as columns, so that the vector a of the
/// reference crystal has become F a. Exact for any strain, but for the measure of that name.
[[nodiscard]] Strain strain_of(const Basis& basis, const Basis& reference, StrainMeasure measure);

/// The standard deviations that the covariance of the basis gives the strain, to first order.
[[nodiscard]] Strain strain_sigma(const Basis& basis, const BasisCovariance& covariance, const Basis& reference,
                                  StrainMeasure measure);

/// Along axes that are turned by `angle` from the old ones, +x towards +y: eps' = R(-angle) eps R(angle).
[[nodiscard]] Strain along_axes(const Strain& strain, double angle);

/// v' = R(rotation) T v: from the axes of the detector to those of the scan.
[[nodiscard]] Basis turned(const Basis& basis, double rotation, bool transpose);
[[nodiscard]] BasisCovariance turned(const BasisCovariance& covariance, double rotation, bool transpose);

/// The same strain in the letters of py4DSTEM, whose x is along the rows: e_xx and e_yy change places; its theta is the
/// same number, as it also counts from its y towards its x.
[[nodiscard]] Strain as_py4dstem(const Strain& strain);

}  // namespace sonde::stem
