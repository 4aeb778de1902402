// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/propagate/propagator.h"
#include "sonde/instruments/maxwell/verify/checks.h"
#include "sonde/instruments/maxwell/verify/trial.h"

namespace sonde::maxwell {
namespace {

constexpr std::array<int, 4> all_orders{2, 4, 6, 8};
constexpr std::array<Mode, 2> all_modes{Mode::tm2d, Mode::em3d};

GridSpec box(Mode mode, int order) {
  return {.mode = mode,
          .cells = mode == Mode::tm2d ? Triple{30, 1, 37} : Triple{12, 15, 18},
          .spacing = {0.02, 0.025, 0.03},
          .order = order};
}

std::string box_id(const char* what, Mode mode, int order) {
  return fmt::format("{}_{}d_order_{}", what, mode == Mode::tm2d ? 2 : 3, order);
}

/// Largest change of the energy, relative, seen at a hundred times.
double energy_change(Mode mode, int order, Index steps) {
  const Problem problem = mixed_ground_problem(box(mode, order), 0);
  Propagator<double> propagator(problem);
  propagator.set_state(mixed_ground_state(problem));
  State before = propagator.state();
  double first = 0, most = 0;
  const Index every = steps / 100;
  const auto watch = [&](Index n, const Propagator<double>& fields) {
    if (n % every == 0) {
      const double now = leapfrog_energy(problem, before, fields.state());
      if (n == 0) first = now;
      most = std::max(most, std::abs(now / first - 1));
    }
    if ((n + 1) % every == 0) before = fields.state();
  };
  propagator.run({}, steps, {}, {}, {.after = watch});
  return most;
}

double product(const State& a, const State& b, const std::array<Component, 3>& components) {
  double sum = 0;
  for (const Component c : components)
    for (std::size_t i = 0; i < a.fields[static_cast<std::size_t>(c)].size(); ++i)
      sum += a.fields[static_cast<std::size_t>(c)][i] * b.fields[static_cast<std::size_t>(c)][i];
  return sum;
}

/// <curl H, E> - <H, curl E> over |curl H| |E|, each curl from one step in vacuum that starts with the other field 0.
double curl_asymmetry(Mode mode, int order) {
  Problem problem = uniform_problem(box(mode, order), {}, 0.9);
  const State start = mixed_ground_state(problem);
  const auto stepped = [&](const std::array<Component, 3>& of) {
    State only = make_state(problem);
    for (const Component c : of) only.fields[static_cast<std::size_t>(c)] = start.fields[static_cast<std::size_t>(c)];
    Propagator<double> propagator(problem);
    propagator.set_state(only);
    const State clean = propagator.state();  // walls cleared
    propagator.run({}, 1, {}, {});
    return std::pair{clean, propagator.state()};
  };
  const auto [electric, after_electric] = stepped(electric_components);
  const auto [magnetic, after_magnetic] = stepped(magnetic_components);
  // H = -(dt / mu) curl E and E = (dt / eps) curl H.
  const double by_curl_h = eps0 * product(after_magnetic, electric, electric_components);
  const double by_curl_e = -mu0 * product(after_electric, magnetic, magnetic_components);
  const double size = eps0 * std::sqrt(product(after_magnetic, after_magnetic, electric_components) *
                                       product(electric, electric, electric_components));
  return std::abs(by_curl_h - by_curl_e) / size;
}

/// Relative error of the wave number of the lowest mode of a box, in two dimensions, without the share of leapfrog,
/// which turns w into (2 / dt) sin(w dt / 2).
double mode_error(int order, Index cells) {
  const std::array<double, 2> length{1, 0.8};
  GridSpec spec{.cells = {cells, 1, cells},
                .spacing = {length[0] / static_cast<double>(cells), 1, length[1] / static_cast<double>(cells)},
                .order = order};
  const Problem problem = uniform_problem(spec, {}, 0.5);
  State state = make_state(problem);
  auto& field = state.fields[static_cast<std::size_t>(Component::Ey)];
  Point mode{Component::Ey, {}};
  const auto wave = [&](Index i) {
    return std::sin(std::numbers::pi * static_cast<double>(i) / static_cast<double>(cells));
  };
  for (Index z = 0; z < cells; ++z)
    for (Index x = 0; x < cells; ++x) {
      const Index node = problem.grid.index(z, 0, x);
      mode.taps.push_back({node, field[static_cast<std::size_t>(node)] = wave(z) * wave(x)});
    }
  Propagator<double> propagator(problem);
  propagator.set_state(state);
  std::vector<double> p(400);
  propagator.run({{}, {mode}}, static_cast<Index>(p.size()), {}, p);
  // The amplitude of one mode obeys p_{n+1} + p_{n-1} = 2 cos(w dt) p_n.
  double top = 0, bottom = 0;
  for (std::size_t n = 1; n + 1 < p.size(); ++n) {
    top += (2 * p[n] - p[n + 1] - p[n - 1]) * p[n];
    bottom += p[n] * p[n];
  }
  const double made = std::sqrt(top / bottom) / problem.dt;  // (2 / dt) sin(w dt / 2)
  return std::abs(made / (c0 * std::hypot(std::numbers::pi / length[0], std::numbers::pi / length[1])) - 1);
}

}  // namespace

std::vector<VerifyRow> check_energy(VerifySize size) {
  const Index steps = size == VerifySize::full ? 10000 : 2000;
  std::vector<VerifyRow> rows;
  for (const Mode mode : all_modes)
    for (const int order : all_orders) {
      // Rounding of 1e-16 in each of 10000 steps, were it always of one sign.
      rows.push_back({"energy." + box_id("box", mode, order),
                      fmt::format("largest relative change of the energy in {} steps, order {}", steps, order),
                      energy_change(mode, order, steps), 1e-12});
      // Rounding of some thousand products of either sign.
      rows.push_back({"energy." + box_id("curls", mode, order),
                      fmt::format("<curl H, E> - <H, curl E> over |curl H| |E|, order {}", order),
                      curl_asymmetry(mode, order), 1e-14});
    }
  return rows;
}

std::vector<VerifyRow> check_cavity(VerifySize) {
  std::vector<VerifyRow> rows;
  for (const int order : all_orders) {
    // Images behind the walls keep the order of the stencil; a wall that is wrong by one node leaves order 1. The next
    // term of the error takes less than 0.1 from 10 to 20 cells.
    const double slope = std::log2(mode_error(order, 10) / mode_error(order, 20));
    rows.push_back({fmt::format("cavity.order_{}", order),
                    "order with which the frequency of the lowest mode converges", slope, order - 0.1, true});
  }
  return rows;
}

}  // namespace sonde::maxwell
