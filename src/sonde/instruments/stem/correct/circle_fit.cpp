// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/correct/circle_fit.h"

#include <cmath>

namespace sonde::stem {

Circle fit_circle(std::span<const Point> points) {
  if (points.size() < 3) return {};
  const auto count = static_cast<double>(points.size());
  double mean_row = 0, mean_col = 0;
  for (const Point& point : points) mean_row += point.row, mean_col += point.col;
  mean_row /= count;
  mean_col /= count;

  // Moments of x, y and z = x^2 + y^2 about the centroid.
  double xx = 0, yy = 0, xy = 0, xz = 0, yz = 0, zz = 0;
  for (const Point& point : points) {
    const double x = point.col - mean_col, y = point.row - mean_row, z = x * x + y * y;
    xx += x * x, yy += y * y, xy += x * y, xz += x * z, yz += y * z, zz += z * z;
  }
  xx /= count, yy /= count, xy /= count, xz /= count, yz /= count, zz /= count;

  // The smallest non-negative root of the characteristic polynomial of the constrained least-squares problem; from 0
  // Newton's method descends to it monotonically.
  const double z = xx + yy, determinant = xx * yy - xy * xy, variance = zz - z * z;
  const double a3 = 4 * z, a2 = -3 * z * z - zz, a1 = variance * z + 4 * determinant * z - xz * xz - yz * yz;
  const double a0 = xz * (xz * yy - yz * xy) + yz * (yz * xx - xz * xy) - variance * determinant;
  double root = 0, value = a0;
  for (int step = 0; step < 50; ++step) {
    const double slope = a1 + root * (2 * a2 + 3 * a3 * root);
    const double next = root - value / slope;
    if (!std::isfinite(next) || next == root) break;
    const double next_value = a0 + next * (a1 + next * (a2 + next * a3));
    if (std::abs(next_value) >= std::abs(value)) break;
    root = next;
    value = next_value;
  }
  const double scale = 2 * (root * root - root * z + determinant);
  if (!(std::abs(scale) > 1e-12 * z * z)) return {};
  const double x = (xz * (yy - root) - yz * xy) / scale, y = (yz * (xx - root) - xz * xy) / scale;
  return {mean_row + y, mean_col + x, std::sqrt(x * x + y * y + z)};
}

}  // namespace sonde::stem
