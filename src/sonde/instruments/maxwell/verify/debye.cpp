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

struct WaterRun {
  Index margin, width, near = 40, far = 160;  ///< cells; receivers from the source
  double window = 5.5e-9;

  [[nodiscard]] std::vector<Signal> record_both() const {
    GridSpec spec{.cells = {2 * margin, 1, 2 * margin + far},
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
    const Acquisition shot{{at(0)}, {at(near), at(far)}};
    return record(problem, shot, ricker_source(water_f0, static_cast<Index>(window / problem.dt), problem.dt));
  }
};

/// The k near `guess` for which H0(k far) = ratio H0(k near), by Newton's method; distances in m.
Complex fitted_wave_number(const Complex& ratio, double near, double far, Complex guess) {
  for (int i = 0; i < 20; ++i) {
    const Hankel there = hankel_second_kind(guess * far), here = hankel_second_kind(guess * near);
    guess -= (there.h0 - ratio * here.h0) / (-far * there.h1 + ratio * near * here.h1);
  }
  return guess;
}

}  // namespace

std::vector<VerifyRow> check_debye(VerifySize size) {
  const bool full = size == VerifySize::full;
  // Full: walls so far that nothing comes back from them within the window. Quick: layers, which leave 1 % of the
  // attenuation above 1 GHz only.
  const WaterRun run = full ? WaterRun{.margin = 190, .width = 0} : WaterRun{.margin = 20, .width = 20};
  const auto traces = run.record_both();
  const double near = static_cast<double>(run.near) * water_spacing, far = static_cast<double>(run.far) * water_spacing;
  double velocity = 0, attenuation = 0;
  const double lowest = full ? 0.3e9 : 1e9;
  constexpr int count = 10;
  for (int i = 0; i < count; ++i) {
    const double w = 2 * std::numbers::pi * (lowest + (3e9 - lowest) * i / (count - 1));
    const Complex wanted = water_wave_number(w);
    const Complex made = fitted_wave_number(spectrum(traces[1], w) / spectrum(traces[0], w), near, far, wanted);
    velocity = std::max(velocity, std::abs(wanted.real() / made.real() - 1));
    attenuation = std::max(attenuation, std::abs(made.imag() / wanted.imag() - 1));
  }
  // 1 %: 20 cells per wavelength at 3 GHz and a recursion of second order in dt = tau / 4.
  const std::string range = full ? " in water, 0.3 to 3 GHz" : " in water, 1 to 3 GHz";
  return {{"debye.velocity", "largest relative error of the phase velocity" + range, velocity, 1e-2},
          {"debye.attenuation", "largest relative error of the attenuation" + range, attenuation, 1e-2}};
}

}  // namespace sonde::maxwell
