// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/neoclassical/geometry/series.h"

namespace sonde::neoclassical {

/// A quantity on many surfaces: [row][mode], no sines when it is even (or no cosines when it is odd) about (0, 0).
struct HarmonicTable {
  Index rows = 0, columns = 0;
  std::vector<double> cosine, sine;

  [[nodiscard]] std::span<const double> cosines(Index row) const { return row_of(cosine, row); }
  [[nodiscard]] std::span<const double> sines(Index row) const { return row_of(sine, row); }

 private:
  [[nodiscard]] std::span<const double> row_of(const std::vector<double>& table, Index row) const {
    if (table.empty()) return {};
    return std::span(table).subspan(static_cast<std::size_t>(row * columns), static_cast<std::size_t>(columns));
  }
};

/// The value at a radius as a sum over at most four rows of a table. Piecewise cubic Hermite: the slope at a node is
/// (f_{j+1} - f_{j-1}) / (s_{j+1} - s_{j-1}), one-sided at both ends. A node gives its own row; beyond the ends the
/// cubic of the end cell goes on.
struct RadialRule {
  std::array<Index, 4> rows{};
  std::array<double, 4> weights{};
  int count = 0;
  bool continued = false;  ///< the radius lies beyond the first or last node

  [[nodiscard]] double operator()(std::span<const double> profile) const;
  /// The series of a table; one without sines stays so.
  [[nodiscard]] Series operator()(const HarmonicTable& table, const std::vector<Mode>& modes) const;
};

/// One radius of an equilibrium's profiles.
struct RadialProfile {
  double s = 0, iota = 0;
  double b_theta = 0, b_zeta = 0;  ///< I and G, T m
  double b00 = 0;                  ///< (0,0) harmonic of |B| in the angles of the file, T
  std::optional<double> r00{};     ///< (0,0) harmonic of R in those angles, m; not every file has it
};

/// `nodes` increase; there is at least one.
[[nodiscard]] RadialRule radial_rule(std::span<const double> nodes, double s);

}  // namespace sonde::neoclassical
