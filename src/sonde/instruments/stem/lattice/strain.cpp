// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/lattice/strain.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace sonde::stem {
namespace {

/// A 2 x 2 matrix that acts on (x, y).
struct Matrix2 {
  double xx = 0, xy = 0, yx = 0, yy = 0;
};

Matrix2 product(const Matrix2& a, const Matrix2& b) {
  return {a.xx * b.xx + a.xy * b.yx, a.xx * b.xy + a.xy * b.yy, a.yx * b.xx + a.yy * b.yx, a.yx * b.xy + a.yy * b.yy};
}

Matrix2 swapped(const Matrix2& a) { return {a.xx, a.yx, a.xy, a.yy}; }

Matrix2 inverted(const Matrix2& a) {
  const double determinant = a.xx * a.yy - a.xy * a.yx;
  return {a.yy / determinant, -a.xy / determinant, -a.yx / determinant, a.xx / determinant};
}

/// The vectors as columns.
Matrix2 columns(const Basis& basis) { return {basis.g1_x, basis.g2_x, basis.g1_y, basis.g2_y}; }

Matrix2 rotation_by(double angle) { return {std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle)}; }

double polar_angle(const Matrix2& f) { return std::atan2(f.yx - f.xy, f.xx + f.yy); }

Matrix2 gradient(const Basis& basis, const Basis& reference) {
  return product(swapped(inverted(columns(basis))), swapped(columns(reference)));
}

/// What a small change of F does to the strain.
Strain change_of(const Matrix2& f, const Matrix2& df, StrainMeasure measure) {
  if (measure == StrainMeasure::infinitesimal) return {df.xx, df.yy, (df.xy + df.yx) / 2, (df.yx - df.xy) / 2};
  // R^T dF = w J U + dU with J the quarter turn and dU symmetric: the antisymmetric part gives w, the rest dU.
  const Matrix2 back = rotation_by(-polar_angle(f));
  const Matrix2 u = product(back, f), a = product(back, df);
  const double w = (a.yx - a.xy) / (u.xx + u.yy);
  if (measure == StrainMeasure::biot) return {a.xx + w * u.yx, a.yy - w * u.xy, a.xy + w * u.yy, w};
  const Matrix2 left = product(swapped(f), df);
  return {left.xx, left.yy, (left.xy + left.yx) / 2, w};
}

}  // namespace

Strain strain_of(const Basis& basis, const Basis& reference, StrainMeasure measure) {
  if (measure == StrainMeasure::reciprocal_first_order) {
    const Matrix2 b = product(columns(basis), inverted(columns(reference)));
    return {1 - b.xx, 1 - b.yy, -(b.xy + b.yx) / 2, (b.yx - b.xy) / 2};
  }
  const Matrix2 f = gradient(basis, reference);
  if (measure == StrainMeasure::infinitesimal) return {f.xx - 1, f.yy - 1, (f.xy + f.yx) / 2, (f.yx - f.xy) / 2};
  const double theta = polar_angle(f);
  if (measure == StrainMeasure::green_lagrange) {
    const Matrix2 c = product(swapped(f), f);
    return {(c.xx - 1) / 2, (c.yy - 1) / 2, c.xy / 2, theta};
  }
  const Matrix2 u = product(rotation_by(-theta), f);
  return {u.xx - 1, u.yy - 1, (u.xy + u.yx) / 2, theta};
}

Strain strain_sigma(const Basis& basis, const BasisCovariance& covariance, const Basis& reference,
                    StrainMeasure measure) {
  // The change of each component of the strain with g1_x, g1_y, g2_x and g2_y.
  std::array<Strain, 4> slopes;
  const Matrix2 steps[4] = {{1, 0, 0, 0}, {0, 0, 1, 0}, {0, 1, 0, 0}, {0, 0, 0, 1}};
  const Matrix2 f = gradient(basis, reference), inverse = inverted(columns(basis)), back = swapped(inverse);
  for (std::size_t i = 0; i < 4; ++i) {
    if (measure == StrainMeasure::reciprocal_first_order) {
      const Matrix2 db = product(steps[i], inverted(columns(reference)));
      slopes[i] = {-db.xx, -db.yy, -(db.xy + db.yx) / 2, (db.yx - db.xy) / 2};
      continue;
    }
    // dF = -G^-T dG^T F
    const Matrix2 moved = product(product(back, swapped(steps[i])), f);
    slopes[i] = change_of(f, {-moved.xx, -moved.xy, -moved.yx, -moved.yy}, measure);
  }
  const auto sigma = [&](double Strain::*part) {
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 4; ++j) sum += slopes[i].*part * covariance[i][j] * (slopes[j].*part);
    return std::sqrt(sum);
  };
  return {sigma(&Strain::xx), sigma(&Strain::yy), sigma(&Strain::xy), sigma(&Strain::theta)};
}

Strain along_axes(const Strain& strain, double angle) {
  const Matrix2 e{strain.xx, strain.xy, strain.xy, strain.yy};
  const Matrix2 now = product(product(rotation_by(-angle), e), rotation_by(angle));
  return {now.xx, now.yy, now.xy, strain.theta};
}

Basis turned(const Basis& basis, double rotation, bool transpose) {
  Matrix2 to_scan = rotation_by(rotation);
  if (transpose) to_scan = product(to_scan, {0, 1, 1, 0});
  const Matrix2 now = product(to_scan, columns(basis));
  return {now.xx, now.yx, now.xy, now.yy};
}

BasisCovariance turned(const BasisCovariance& covariance, double rotation, bool transpose) {
  Matrix2 to_scan = rotation_by(rotation);
  if (transpose) to_scan = product(to_scan, {0, 1, 1, 0});
  BasisCovariance now{};
  // Each 2 x 2 block of two vectors turns as M C M^T.
  for (std::size_t a = 0; a < 4; a += 2)
    for (std::size_t b = 0; b < 4; b += 2) {
      const Matrix2 block{covariance[a][b], covariance[a][b + 1], covariance[a + 1][b], covariance[a + 1][b + 1]};
      const Matrix2 moved = product(product(to_scan, block), swapped(to_scan));
      now[a][b] = moved.xx;
      now[a][b + 1] = moved.xy;
      now[a + 1][b] = moved.yx;
      now[a + 1][b + 1] = moved.yy;
    }
  return now;
}

Strain as_py4dstem(const Strain& strain) { return {strain.yy, strain.xx, strain.xy, strain.theta}; }

}  // namespace sonde::stem
