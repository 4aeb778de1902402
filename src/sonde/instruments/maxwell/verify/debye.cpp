// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/verify/checks.h"
#include "sonde/instruments/maxwell/verify/hankel.h"
#include "sonde/instruments/maxwell/verify/trial.h"

namespace sonde::maxwell {
namespace {

// Water at 20 degrees: eps_inf 4.9, deps 75.2, 9.231 ps.
constexpr double water_infinite = 4.9, water_deps = 75.2, water_tau = 9.231e-12;

Complex water_wave_number(double w) {
  return wave_number(eps0 * (water_infinite + water_deps / (1.0 + imaginary_unit * w * water_tau)), w);
}

constexpr double water_f0 = 1.2e9, water_spacing = 0.5e-3;

constexpr Index water_near = 40, water_far = 160;  // receivers, cells from the source
// The record ends 2e-6 of its peak, which is less than 1 % of the attenuation at 0.3 GHz over this distance.
constexpr double water_window = 16e-9;

std::vector<Signal> record_in_water() {
  constexpr Index margin = 40, width = 20;
  GridSpec spec{.cells = {2 * margin, 1, 2 * margin + water_far},
                .spacing = {water_spacing, 1, water_spacing},
                .pml = {{{width, width}, {}, {width, width}}},
                .order = 4};
  Problem problem = uniform_problem(spec, {water_infinite, 0}, 0.99, water_f0);
  DebyePole& pole = problem.medium.poles.emplace_back();
  pole.deps[1].assign(static_cast<std::size_t>(problem.grid.count()), water_deps);
  pole.tau[1].assign(static_cast<std::size_t>(problem.grid.count()), water_tau);
  const auto at = [&](Index x) {
    return point_at(problem.grid, Component::Ey, node_place(Component::Ey, {margin, 0, margin + x}));
  };
  const Acquisition shot{{at(0)}, {at(water_near), at(water_far)}};
  return record(problem, shot, ricker_source(water_f0, static_cast<Index>(water_window / problem.dt), problem.dt));
}

/// The k near `guess` for which H0(k far) = ratio H0(k near), by Newton's method; distances in m.
Complex fitted_wave_number(const Complex& ratio, double near, double far, Complex guess) {
  for (int i = 0; i < 20; ++i) {
    const Hankel there = hankel_second_kind(guess * far), here = hankel_second_kind(guess * near);
    guess -= (there.h0 - ratio * here.h0) / (-far * there.h1 + ratio * near * here.h1);
  }
  return guess;
}

}  // namespace

std::vector<VerifyRow> check_debye(VerifySize) {
  const auto traces = record_in_water();
  const double near = static_cast<double>(water_near) * water_spacing;
  const double far = static_cast<double>(water_far) * water_spacing;
  double velocity = 0, attenuation = 0;
  constexpr int count = 28;
  for (int i = 0; i < count; ++i) {
    const double w = 2 * std::numbers::pi * (0.3e9 + 0.1e9 * i);
    const Complex wanted = water_wave_number(w);
    const Complex made = fitted_wave_number(spectrum(traces[1], w) / spectrum(traces[0], w), near, far, wanted);
    velocity = std::max(velocity, std::abs(wanted.real() / made.real() - 1));
    attenuation = std::max(attenuation, std::abs(made.imag() / wanted.imag() - 1));
  }
  // 1 %: 23 cells per wavelength at 3 GHz, where stencil and leapfrog are off by 0.02 %, a recursion of second order in
  // dt = tau / 4, and layers of 20 cells that leave 1e-4 of the waves, 0.3 % of what is absorbed at 0.3 GHz.
  return {{"debye.velocity", "largest relative error of the phase velocity in water, 0.3 to 3 GHz", velocity, 1e-2},
          {"debye.attenuation", "largest relative error of the attenuation in water, 0.3 to 3 GHz", attenuation, 1e-2}};
}

}  // namespace sonde::maxwell
