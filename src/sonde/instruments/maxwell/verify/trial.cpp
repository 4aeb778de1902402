// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/verify/trial.h"

#include <cmath>

#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/grid/stability.h"
#include "sonde/instruments/maxwell/propagate/propagator.h"
#include "sonde/instruments/maxwell/signal/interpolation.h"
#include "sonde/instruments/maxwell/signal/sample_offset.h"
#include "sonde/instruments/maxwell/signal/time_dispersion.h"
#include "sonde/instruments/maxwell/signal/wavelet.h"

namespace sonde::maxwell {
namespace {

View<double, 2> as_view(Signal& signal) {
  return {signal.samples.data(), 1, static_cast<Index>(signal.samples.size())};
}

}  // namespace

std::vector<double> random_between(Random& random, Index count, double low, double high) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = low + (high - low) * random.uniform();
  return values;
}

Problem uniform_problem(const GridSpec& spec, const Ground& ground, double courant, double f0) {
  Problem problem{Grid(spec), {}, {}, 0};
  const auto cells = static_cast<std::size_t>(spec.cells[0] * spec.cells[1] * spec.cells[2]);
  problem.medium =
      locate({std::vector<double>(cells, ground.eps_r), std::vector<double>(cells, ground.sigma)}, problem.grid);
  problem.dt = courant * largest_time_step(problem.grid, problem.medium);
  problem.pml = pml_profiles(problem.grid, problem.medium, {}, problem.dt, f0);
  return problem;
}

Problem mixed_ground_problem(const GridSpec& spec, double largest_sigma, int poles) {
  Problem problem{Grid(spec), {}, {}, 0};
  const Grid& grid = problem.grid;
  Random random(1);
  for (const Component c : grid.components()) {
    if (!is_electric(c)) {
      problem.medium.mu_r[place(c)] = random_between(random, grid.count(), 1, 2);
      continue;
    }
    problem.medium.eps_r[place(c)] = random_between(random, grid.count(), 3, 8);
    problem.medium.sigma[place(c)] = random_between(random, grid.count(), 0, largest_sigma);
  }
  problem.dt = 0.9 * largest_time_step(grid, problem.medium);
  for (int p = 0; p < poles; ++p) {
    DebyePole& pole = problem.medium.poles.emplace_back();
    for (const Component c : grid.components()) {
      if (!is_electric(c)) continue;
      pole.deps[place(c)] = random_between(random, grid.count(), 1, 5);
      pole.tau[place(c)] = random_between(random, grid.count(), 0.3 * problem.dt, 20 * problem.dt);
    }
  }
  problem.pml = pml_profiles(grid, problem.medium, {}, problem.dt, 1 / (20 * problem.dt));
  return problem;
}

State mixed_ground_state(const Problem& problem, unsigned seed) {
  State state = make_state(problem);
  Random random(seed);
  for (const Component c : problem.grid.components()) {
    const double size = is_electric(c) ? 1 : 1 / eta0;
    state.fields[static_cast<std::size_t>(c)] = random_between(random, problem.grid.count(), -size, size);
  }
  return state;
}

Complex permittivity(const Ground& ground, double w) { return {eps0 * ground.eps_r, -ground.sigma / w}; }

Complex wave_number(const Complex& permittivity, double w) {
  // The principal root of a number of the lower half plane is in the fourth quadrant.
  return w * std::sqrt(mu0 * permittivity);
}

Place node_place(Component c, const Triple& index) {
  Place made{};
  for (const Axis axis : all_axes)
    made[dimension(axis)] = static_cast<double>(index[dimension(axis)]) + (is_half(c, axis) ? 0.5 : 0.0);
  return made;
}

Point point_at(const Grid& grid, Component c, const Place& place) {
  Point point{c, {{0, 1.0}}};
  for (const Axis axis : all_axes) {
    const std::size_t a = dimension(axis);
    const double index = place[a] + static_cast<double>(grid.low(axis)) - (is_half(c, axis) ? 0.5 : 0.0);
    const Taps line = grid.has(axis) ? kaiser_sinc_taps(index, grid.extent(axis)) : Taps{{{0, 1.0}}, 0};
    std::vector<PointTap> product;
    for (const PointTap& outer : point.taps)
      for (const Tap& inner : line.taps)
        product.push_back({outer.node * grid.extent(axis) + inner.index, outer.weight * inner.weight});
    point.taps = std::move(product);
  }
  return point;
}

std::array<double, 3> separation(const Grid& grid, const Place& from, const Place& to) {
  std::array<double, 3> made{};
  for (const Axis axis : all_axes)
    if (grid.has(axis)) made[dimension(axis)] = (to[dimension(axis)] - from[dimension(axis)]) * grid.spacing(axis);
  return made;
}

Signal ricker_source(double f0, Index steps, double dt, Component source) {
  const double offset = is_electric(source) ? sample_offset::electric_source : sample_offset::magnetic_source;
  return {sampled({.frequency = f0, .delay = 1.2 / f0}, steps, dt, offset), dt, offset};
}

template <class T>
std::vector<Signal> record(const Problem& problem, const Acquisition& shot, const Signal& source) {
  Propagator<T> propagator(problem);
  const std::size_t steps = source.samples.size(), receivers = shot.receivers.size();
  std::vector<double> samples(steps * receivers);
  propagator.run(shot, static_cast<Index>(steps), source.samples, samples);
  std::vector<Signal> made;
  for (std::size_t r = 0; r < receivers; ++r) {
    Signal& trace = made.emplace_back();
    trace.dt = problem.dt;
    trace.offset =
        is_electric(shot.receivers[r].component) ? sample_offset::electric_record : sample_offset::magnetic_record;
    for (std::size_t n = 0; n < steps; ++n) trace.samples.push_back(samples[n * receivers + r]);
  }
  return made;
}

template std::vector<Signal> record<float>(const Problem&, const Acquisition&, const Signal&);
template std::vector<Signal> record<double>(const Problem&, const Acquisition&, const Signal&);

std::vector<Signal> record_corrected(const Problem& problem, const Acquisition& shot, const Signal& source) {
  Signal dispersed = source;
  disperse_source(source.offset, as_view(dispersed), as_view(dispersed));
  std::vector<Signal> traces = record(problem, shot, dispersed);
  for (Signal& trace : traces) correct_record(trace.offset, as_view(trace), as_view(trace));
  return traces;
}

double leapfrog_energy(const Problem& problem, const State& before, const State& after) {
  double sum = 0;
  for (const Component c : problem.grid.components()) {
    const auto& old = before.fields[static_cast<std::size_t>(c)];
    const auto& now = after.fields[static_cast<std::size_t>(c)];
    const auto& medium = (is_electric(c) ? problem.medium.eps_r : problem.medium.mu_r)[place(c)];
    for (std::size_t i = 0; i < old.size(); ++i)
      sum += is_electric(c) ? eps0 * medium[i] * old[i] * old[i] : mu0 * medium[i] * old[i] * now[i];
  }
  return sum / 2;
}

}  // namespace sonde::maxwell
