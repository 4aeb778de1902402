// SPDX-License-Identifier: Apache-2.0
// Three numbers and three by three of them, for crystals.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace sonde::stem {

using Vec3 = std::array<double, 3>;
/// Row after row.
using Mat3 = std::array<Vec3, 3>;

[[nodiscard]] inline double dot(const Vec3& a, const Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
[[nodiscard]] inline double length(const Vec3& a) { return std::sqrt(dot(a, a)); }
[[nodiscard]] inline Vec3 scaled(double factor, const Vec3& a) { return {factor * a[0], factor * a[1], factor * a[2]}; }
[[nodiscard]] inline Vec3 normalised(const Vec3& a) { return scaled(1 / length(a), a); }
[[nodiscard]] inline Vec3 sum(const Vec3& a, const Vec3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
[[nodiscard]] inline Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
[[nodiscard]] inline Vec3 times(const Mat3& m, const Vec3& v) { return {dot(m[0], v), dot(m[1], v), dot(m[2], v)}; }
[[nodiscard]] inline Mat3 transposed(const Mat3& m) {
  return {{{m[0][0], m[1][0], m[2][0]}, {m[0][1], m[1][1], m[2][1]}, {m[0][2], m[1][2], m[2][2]}}};
}
[[nodiscard]] inline Mat3 times(const Mat3& a, const Mat3& b) {
  const Mat3 columns = transposed(b);
  return transposed({times(a, columns[0]), times(a, columns[1]), times(a, columns[2])});
}
[[nodiscard]] inline double determinant(const Mat3& m) { return dot(m[0], cross(m[1], m[2])); }
[[nodiscard]] inline double trace(const Mat3& m) { return m[0][0] + m[1][1] + m[2][2]; }
[[nodiscard]] inline Mat3 inverse(const Mat3& m) {
  const double scale = 1 / determinant(m);
  return transposed(
      {scaled(scale, cross(m[1], m[2])), scaled(scale, cross(m[2], m[0])), scaled(scale, cross(m[0], m[1]))});
}
/// About a unit vector, right-handed.
[[nodiscard]] inline Mat3 turn_about(const Vec3& axis, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  Mat3 turn{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) turn[i][j] = (1 - c) * axis[i] * axis[j] + (i == j ? c : 0);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
    turn[j][k] -= s * axis[i];
    turn[k][j] += s * axis[i];
  }
  return turn;
}

}  // namespace sonde::stem
