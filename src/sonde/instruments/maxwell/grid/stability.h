// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/instruments/maxwell/grid/medium.h"

namespace sonde::maxwell {

/// The largest stable time step, 1 / (S v_max sqrt(sum 1/d^2)) in s, S = stencil_sum(order). v_max takes the smallest
/// eps_r and the smallest mu_r of the whole model: E and H of one wave are located in different cells, so that the
/// smallest product of one cell is no bound.
[[nodiscard]] double largest_time_step(const Grid& grid, const ComponentMedium& medium);

/// That v_max, m/s.
[[nodiscard]] double fastest_velocity(const ComponentMedium& medium);

/// Numerical over true phase velocity of a plane wave (Taflove and Hagness 2005, chapter 4), in a medium of velocity
/// `v` m/s at `frequency` Hz, along the unit vector `direction` (z, y, x). 0 where the grid carries no such wave. With
/// dt = 0 only the error of the stencils remains, as where time dispersion is corrected.
[[nodiscard]] double phase_velocity_ratio(const Grid& grid, double dt, double v, double frequency,
                                          const std::array<double, 3>& direction);

/// The slowest wave of `frequency` Hz in m/s: with the share of Debye poles in eps_r, and without conductors.
[[nodiscard]] double slowest_velocity(const Grid& grid, const ComponentMedium& medium, double frequency);

/// The waves of a run: all frequencies up to the highest one, in media from the slowest to the fastest.
struct WaveBand {
  double highest_frequency = 0;     ///< Hz
  double slowest = 0, fastest = 0;  ///< m/s
};
/// The largest relative error of the phase velocity, |numerical / true - 1|, of plane waves of a band, along axes and
/// diagonals; infinity where the grid does not carry one of them. A wavelength adds 360 degrees times that to the error
/// of its phase.
[[nodiscard]] double largest_velocity_error(const Grid& grid, double dt, const WaveBand& band);

/// Below which a run is not worth its time: 5 at order 2, else 3.
[[nodiscard]] double least_cells_per_wavelength(int order);
/// Cells per wavelength of a wave of velocity `v` m/s, along the axis with the largest spacing.
[[nodiscard]] double cells_per_wavelength(const Grid& grid, double v, double frequency);

}  // namespace sonde::maxwell
