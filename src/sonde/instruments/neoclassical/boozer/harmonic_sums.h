// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <span>
#include <vector>

#include "sonde/engine/math/dense/blas.h"
#include "sonde/instruments/neoclassical/boozer/boozer_points.h"
#include "sonde/instruments/neoclassical/boozer/transform.h"

namespace sonde::neoclassical {

/// cos and sin of m theta and n zeta at a block of points, from angle to angle by the addition theorem.
class Waves {
 public:
  Waves(int modes, Index points) : modes_(modes), points_(points), cosine_(size()), sine_(size()) {}

  /// Of these angles, times `step`: m theta, n N_fp zeta.
  void set(std::span<const double> angles, int step);
  /// [mode][point]
  [[nodiscard]] dense::Matrix<double> cosine(Index points) { return view(cosine_, points); }
  [[nodiscard]] dense::Matrix<double> sine(Index points) { return view(sine_, points); }

 private:
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(modes_ * points_); }
  [[nodiscard]] dense::Matrix<double> view(std::vector<double>& data, Index points) const {
    dense::Matrix<double> matrix(data.data(), modes_, points_);
    matrix.extent[1] = points;
    return matrix;
  }

  Index modes_, points_;
  std::vector<double> cosine_, sine_;
};

/// X_mn = (2 - delta_m0 delta_n0) / N sum of X cos(m theta_B - n zeta_B) J, and with sines, of every quantity of the
/// points of a surface; scratch for the next one. Sums are products of matrices.
class HarmonicSums {
 public:
  HarmonicSums(int periods, bool asymmetric, BoozerResolution resolution);

  /// The modes in the order of BOOZ_XFORM, n as in Mode (phase m theta + n zeta).
  [[nodiscard]] static std::vector<Mode> modes(BoozerResolution resolution);

  /// Sums over all points.
  void sum(const BoozerPoints& points);
  /// Writes what was summed of a quantity to a row of its table, with cosines, sines or both as the table has them.
  void store(Index quantity, double total, Index row, HarmonicTable& table);
  /// max |B(theta_B, zeta_B) - B| over the points, B(theta_B, zeta_B) of the row of a table.
  [[nodiscard]] double defect(const BoozerPoints& points, const HarmonicTable& table, Index row);

 private:
  static constexpr Index block = 256;  // points at a time: waves and products stay in the second-level cache

  [[nodiscard]] Index width() const { return nboz_ + 1; }
  /// Columns of the products of every quantity with cos(n zeta) and sin(n zeta): first those whose sum with
  /// cos(m theta) counts in a symmetric field (even with cos, odd with sin), then those with sin(m theta).
  [[nodiscard]] Index columns() const { return 2 * quantities * width(); }
  [[nodiscard]] Index column(Index quantity, bool sine) const {
    return ((is_odd(quantity) != sine ? quantities : 0) + quantity) * width();
  }
  [[nodiscard]] dense::Matrix<double> with_cosine() {
    return {with_cosine_.data(), mboz_, asymmetric_ ? columns() : columns() / 2};
  }
  /// Its column 0 is that of first_with_sine().
  [[nodiscard]] dense::Matrix<double> with_sine() {
    return {with_sine_.data(), mboz_, asymmetric_ ? columns() : columns() / 2};
  }
  [[nodiscard]] Index first_with_sine() const { return asymmetric_ ? 0 : columns() / 2; }

  void set_waves(const BoozerPoints& points, Index first, Index count);
  void multiply_waves(const BoozerPoints& points, Index quantity, Index first, Index size);

  int periods_;
  bool asymmetric_;
  int mboz_, nboz_;
  Waves m_waves_, n_waves_;
  std::vector<double> products_, with_cosine_, with_sine_, partial_;
};

}  // namespace sonde::neoclassical
