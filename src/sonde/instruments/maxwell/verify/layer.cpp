// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/verify/checks.h"
#include "sonde/instruments/maxwell/verify/trial.h"

namespace sonde::maxwell {
namespace {

// A strip between conducting walls at x = 0 and W carries one mode, sin(pi x / W), when its source has that shape:
// along z a problem of one dimension, with an oblique wave of known kx.
constexpr Index strip_cells = 10;
constexpr double strip_dx = 1, strip_f0 = 300e6, strip_window = 40e-9;

/// From z = 0 on: vacuum, a layer, and what is behind it. Depths in m.
struct Layering {
  double top = 1.5, thickness = 0;
  Ground layer{}, behind{};
};

/// The medium of one plane; a plane on an interface has the mean of both sides, else the interface would be half a cell
/// off.
Ground ground_at(const Layering& layers, double z, double dz) {
  const auto of = [&](double depth) {
    return depth < layers.top ? Ground{} : depth < layers.top + layers.thickness ? layers.layer : layers.behind;
  };
  const Ground above = of(z - dz / 4), below = of(z + dz / 4);
  return {(above.eps_r + below.eps_r) / 2, (above.sigma + below.sigma) / 2};
}

/// sin(pi x / W) over a plane: read, the amplitude of the mode times W / (2 dx).
Point mode_point(const Grid& grid, Index plane) {
  Point point{Component::Ey, {}};
  for (Index i = 1; i < strip_cells; ++i)
    point.taps.push_back({grid.index(plane + grid.low(Axis::z), 0, i),
                          std::sin(std::numbers::pi * static_cast<double>(i) / strip_cells)});
  return point;
}

struct StripRun {
  double dz;
  double source = 0.5, receiver = 1, depth = 2.5;

  [[nodiscard]] Index plane(double z) const { return static_cast<Index>(std::lround(z / dz)); }

  [[nodiscard]] Signal record_over(const Layering* layers) const {
    GridSpec spec{.cells = {plane(depth), 1, strip_cells}, .spacing = {dz, 1, strip_dx}, .pml = {{{20, 20}, {}, {}}}};
    Problem problem = uniform_problem(spec, {}, 0.99, strip_f0);
    const Grid& grid = problem.grid;
    if (layers != nullptr)
      for (Index k = 0; k < grid.extent(Axis::z); ++k) {
        const Ground ground = ground_at(*layers, static_cast<double>(k - grid.low(Axis::z)) * dz, dz);
        for (Index i = 0; i < grid.extent(Axis::x); ++i) {
          problem.medium.eps_r[1][static_cast<std::size_t>(grid.index(k, 0, i))] = ground.eps_r;
          problem.medium.sigma[1][static_cast<std::size_t>(grid.index(k, 0, i))] = ground.sigma;
        }
      }
    problem.pml = pml_profiles(grid, problem.medium, {}, problem.dt, strip_f0);
    const Acquisition shot{{mode_point(grid, plane(source))}, {mode_point(grid, plane(receiver))}};
    const Signal pulse = ricker_source(strip_f0, static_cast<Index>(strip_window / problem.dt), problem.dt);
    return record(problem, shot, pulse)[0];
  }
};

Complex strip_wave_number(const Ground& ground, double w) {
  const double kx = 2 / strip_dx * std::sin(std::numbers::pi / (2.0 * strip_cells));
  const Complex k = wave_number(permittivity(ground, w), w);
  const Complex kz = std::sqrt(k * k - kx * kx);
  return kz.imag() > 0 ? -kz : kz;
}

/// Of E along y at the top of the layers (Chew 1995, section 2.1).
Complex reflection(const Layering& layers, double w) {
  const Complex kz = strip_wave_number({}, w), inside = strip_wave_number(layers.layer, w),
                behind = strip_wave_number(layers.behind, w);
  const Complex first = (kz - inside) / (kz + inside), second = (inside - behind) / (inside + behind);
  const Complex there_and_back = std::exp(-2.0 * imaginary_unit * inside * layers.thickness);
  return (first + second * there_and_back) / (1.0 + first * second * there_and_back);
}

double largest_reflection_error(const Layering& layers, double dz) {
  const StripRun strip{dz};
  const Signal incident = strip.record_over(nullptr);
  Signal reflected = strip.record_over(&layers);
  for (std::size_t n = 0; n < reflected.samples.size(); ++n) reflected.samples[n] -= incident.samples[n];
  double most = 0;
  constexpr int count = 31;
  for (int i = 0; i < count; ++i) {
    const double w = 2 * std::numbers::pi * strip_f0 * (0.5 + 1.5 * i / (count - 1));
    const Complex path = std::exp(-2.0 * imaginary_unit * strip_wave_number({}, w) * (layers.top - strip.receiver));
    const Complex wanted = reflection(layers, w) * path;
    most = std::max(most, std::abs(spectrum(reflected, w) / spectrum(incident, w) / wanted - 1.0));
  }
  return most;
}

}  // namespace

std::vector<VerifyRow> check_layer(VerifySize size) {
  const double dz = size == VerifySize::full ? 2.5e-3 : 5e-3;
  const Layering half_space{.layer = {9, 0}, .behind = {9, 0}};
  const Layering lossy{.thickness = 0.15, .layer = {6, 0.02}, .behind = {}};
  // 1 %: 33 cells per wavelength at twice the centre frequency, where the impedance of a grid of order 2 is off by
  // (k d)^2 / 24 = 0.15 % on each side, and layers at -60 dB.
  const std::string what = ", largest relative error of the reflection coefficient from 0.5 to 2 times 300 MHz";
  return {{"layer.half_space", "half-space of eps_r 9" + what, largest_reflection_error(half_space, dz), 1e-2},
          {"layer.lossy", "0.15 m of eps_r 6 and 20 mS/m" + what, largest_reflection_error(lossy, dz), 1e-2}};
}

}  // namespace sonde::maxwell
