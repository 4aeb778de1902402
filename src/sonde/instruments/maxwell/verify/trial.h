// SPDX-License-Identifier: Apache-2.0
// Private to the room: runs of the propagator, set up in a few words.
#pragma once

#include <array>
#include <vector>

#include "sonde/engine/math/random.h"
#include "sonde/instruments/maxwell/propagate/problem.h"
#include "sonde/instruments/maxwell/verify/spectrum.h"

namespace sonde::maxwell {

/// A position z, y, x in cells from plane 0 of the model, the layers not counted.
using Place = std::array<double, 3>;

struct Ground {
  double eps_r = 1, sigma = 0;  ///< -, S/m
};
/// `courant` is the time step over the largest stable one; `f0` that of the layers.
[[nodiscard]] Problem uniform_problem(const GridSpec& spec, const Ground& ground, double courant, double f0 = 0);

[[nodiscard]] std::vector<double> random_between(Random& random, Index count, double low, double high);
/// eps_r 3 to 8, mu_r 1 to 2 and sigma 0 to `largest_sigma`, different at every node, and so are deps, 1 to 5, and tau,
/// 0.3 to 20 steps, of the poles; 0.9 of the largest time step.
[[nodiscard]] Problem mixed_ground_problem(const GridSpec& spec, double largest_sigma, int poles = 0);
/// Random fields, E and eta0 H from -1 to 1.
[[nodiscard]] State mixed_ground_state(const Problem& problem, unsigned seed = 2);

/// eps(w) - j sigma / w in F/m and the wave number in rad/m, in the fourth quadrant: waves exp(j (w t - k r)) decay.
[[nodiscard]] Complex permittivity(const Ground& ground, double w);
[[nodiscard]] Complex wave_number(const Complex& permittivity, double w);

/// Where array index (z, y, x) of a component is.
[[nodiscard]] Place node_place(Component c, const Triple& index);
/// A source or receiver there: one node, or the Kaiser-windowed sinc about it.
[[nodiscard]] Point point_at(const Grid& grid, Component c, const Place& place);
/// From one place to another, z, y, x in m.
[[nodiscard]] std::array<double, 3> separation(const Grid& grid, const Place& from, const Place& to);

/// A Ricker wavelet of amplitude 1 with a delay of 1.2 / f0, at the times of a source of this component.
[[nodiscard]] Signal ricker_source(double f0, Index steps, double dt, Component source = Component::Ey);

/// What each receiver records while the first source is driven by `source`, from fields that are zero; fields of type
/// float or double.
template <class T = double>
[[nodiscard]] std::vector<Signal> record(const Problem& problem, const Acquisition& shot, const Signal& source);

/// The same with the time dispersion of source and record corrected.
[[nodiscard]] std::vector<Signal> record_corrected(const Problem& problem, const Acquisition& shot,
                                                   const Signal& source);

/// 1/2 sum (eps E^n E^n + mu H^{n-1/2} H^{n+1/2}) over nodes, of the states before and after step n: what leapfrog
/// conserves without loss. J per cell volume.
[[nodiscard]] double leapfrog_energy(const Problem& problem, const State& before, const State& after);

}  // namespace sonde::maxwell
