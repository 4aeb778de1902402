// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sonde/instruments/neoclassical/geometry/angle_grid.h"

namespace sonde::neoclassical {

/// One mode of a Fourier series in the angles of a surface: m >= 0 poloidal, n toroidal per field period.
struct Mode {
  int m = 0, n = 0;
  friend bool operator==(const Mode&, const Mode&) = default;
};

/// f(theta, zeta) = sum_i cosine_i cos(m_i theta + n_i N_fp zeta) + sine_i sin(m_i theta + n_i N_fp zeta).
/// The sign of n is plus, unlike that of VMEC and Boozer files. Without sines the field is stellarator symmetric.
struct Series {
  std::vector<Mode> modes;
  std::vector<double> cosine;
  std::vector<double> sine{};  ///< empty or one per mode

  [[nodiscard]] bool symmetric() const;
  /// The cosine of a mode, 0 when it is not listed.
  [[nodiscard]] double cosine_of(Mode mode) const;
  /// The largest |m| and |n| of the modes.
  [[nodiscard]] Mode largest() const;
};

/// A series and its derivatives on a grid: [theta][zeta].
struct SeriesOnGrid {
  std::vector<double> value, by_theta, by_zeta;
};

/// On the grid, or on its first rows of theta. About 8 (modes n_zeta + m grid points) operations, m being the number of
/// poloidal modes. Throws Error(internal) when the lists differ in length.
[[nodiscard]] SeriesOnGrid on_grid(const Series& series, const AngleGrid& grid,
                                   std::optional<Index> first_rows = std::nullopt);

}  // namespace sonde::neoclassical
