// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/reference.h"

#include <utility>

#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/grid/stencil.h"

namespace sonde::maxwell::reference {
namespace {

using Field = std::vector<double>;

std::size_t which(Component c) { return static_cast<std::size_t>(c); }

/// A problem with the factors of its step.
struct Stepper {
  const Problem& problem;
  Coefficients step;
  explicit Stepper(const Problem& p) : problem(p), step(coefficients(p.medium, p.grid, p.dt, p.loss)) {}
  [[nodiscard]] const Grid& grid() const { return problem.grid; }
};

/// The derivative of `of` (on half planes along the axis when `half`) at the planes or half planes between.
double derivative(const Grid& grid, const Field& of, bool half, Axis axis, const Triple& at) {
  const auto weights = stencil_weights(grid.order());
  const std::size_t a = dimension(axis);
  const auto value = [&](Index i) {
    const WallImage image = wall_image(i, grid.extent(axis), half);
    if (image.sign == 0) return 0.0;
    Triple there = at;
    there[a] = image.index;
    return image.sign * of[static_cast<std::size_t>(grid.index(there[0], there[1], there[2]))];
  };
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto m = static_cast<Index>(i) + 1;
    sum += weights[i] * (half ? value(at[a] + m - 1) - value(at[a] - m) : value(at[a] + m) - value(at[a] - m + 1));
  }
  return sum / grid.spacing(axis);
}

/// The curl of H at an E node, or minus that of E at an H node, through the layers, whose psi it moves.
double curl(const Stepper& on, Component c, const Triple& at, std::size_t node, State& state) {
  double sum = 0;
  for (std::size_t t = 0; t < 2; ++t) {
    const CurlTerm term = curl_terms(c)[t];
    Field& psi = state.psi[which(c)][t];
    if (psi.empty()) continue;
    const PmlLine& line = on.problem.pml[dimension(term.along)].at(is_half(c, term.along));
    const auto i = static_cast<std::size_t>(at[dimension(term.along)]);
    const double d = derivative(on.grid(), state.fields[which(term.of)], is_half(term.of, term.along), term.along, at);
    psi[node] = line.b[i] * psi[node] + line.a[i] * d;
    sum += term.sign * (d * line.k_inverse[i] + psi[node]);
  }
  return sum;
}

void step_h(const Stepper& on, State& state) {
  for (const Component c : on.grid().components())
    if (!is_electric(c))
      for_each_node(on.grid(), [&](const Triple& at, std::size_t node) {
        state.fields[which(c)][node] += on.step.cq[place(c)][node] * curl(on, c, at, node, state);
      });
}

void step_e(const Stepper& on, State& state) {
  for (const Component c : on.grid().components()) {
    if (!is_electric(c)) continue;
    for_each_node(on.grid(), [&](const Triple& at, std::size_t node) {
      const std::size_t e = place(c);
      double& field = state.fields[which(c)][node];
      double next = on.step.ca[e][node] * field + on.step.cb[e][node] * curl(on, c, at, node, state);
      for (std::size_t p = 0; p < on.step.poles.size(); ++p)
        next += on.step.poles[p].cP[e][node] * state.polarisation[p][e][node];
      for (std::size_t p = 0; p < on.step.poles.size(); ++p) {
        double& polarisation = state.polarisation[p][e][node];
        polarisation = on.step.poles[p].aP[e][node] * polarisation + on.step.poles[p].bP[e][node] * (next + field);
      }
      field = next;
    });
  }
}

/// cb or cq of a source's node over the volume, with the sign of a current: what a unit of amplitude adds to the field.
double injection(const Stepper& on, const Point& point, const PointTap& tap) {
  if (point.hard) return tap.weight;  // the conductor's step leaves zero
  const auto& by = is_electric(point.component) ? on.step.cb : on.step.cq;
  return -by[place(point.component)][static_cast<std::size_t>(tap.node)] * tap.weight / on.grid().cell_volume();
}

void inject(const Stepper& on, const std::vector<Point>& sources, bool electric, const std::vector<double>& amplitudes,
            State& state) {
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const Point& point = sources[s];
    if (is_electric(point.component) != electric) continue;
    for (const PointTap& tap : point.taps) {
      const double added = injection(on, point, tap) * amplitudes[s];
      const auto node = static_cast<std::size_t>(tap.node);
      state.fields[which(point.component)][node] += added;
      // A pole's recursion sees E_new with its source.
      for (std::size_t p = 0; electric && p < on.step.poles.size(); ++p)
        state.polarisation[p][place(point.component)][node] +=
            on.step.poles[p].bP[place(point.component)][node] * added;
    }
  }
}

std::vector<double> read(const std::vector<Point>& receivers, const State& state) {
  std::vector<double> samples(receivers.size());
  for (std::size_t r = 0; r < receivers.size(); ++r)
    for (const PointTap& tap : receivers[r].taps)
      samples[r] += tap.weight * state.fields[which(receivers[r].component)][static_cast<std::size_t>(tap.node)];
  return samples;
}

/// Fields on walls and in conductors are zero also when a caller's start is not.
void clear_conductors(const Stepper& on, State& state) {
  for (const Component c : on.grid().components())
    for_each_node(on.grid(), [&](const Triple& at, std::size_t node) {
      const bool moves = is_electric(c) ? on.step.cb[place(c)][node] != 0 : true;
      if (!moves || on.grid().on_wall(c, at)) state.fields[which(c)][node] = 0;
    });
}

/// What a perturbed medium adds to a step of the perturbation, from the background before and after it.
void add_change_of_h(const Stepper& on, const StepChange& change, const State& before, const State& after,
                     State& moved) {
  for (const Component c : on.grid().components())
    if (!is_electric(c))
      for (std::size_t i = 0; i < moved.fields[which(c)].size(); ++i)
        moved.fields[which(c)][i] +=
            change.magnetic[place(c)][i] * (after.fields[which(c)][i] - before.fields[which(c)][i]);
}

void add_change_of_e(const Stepper& on, const StepChange& change, const std::vector<DebyePole>& poles,
                     const State& before, const State& after, State& moved) {
  for (const Component c : on.grid().components()) {
    if (!is_electric(c)) continue;
    const std::size_t e = place(c);
    const double dt = on.problem.dt;
    for (std::size_t i = 0; i < moved.fields[which(c)].size(); ++i) {
      const double cb = on.step.cb[e][i];
      if (cb == 0) continue;
      const double old_e = before.fields[which(c)][i], new_e = after.fields[which(c)][i];
      double current = change.difference[e][i] * (new_e - old_e) + change.sum[e][i] * (new_e + old_e);
      std::vector<double> polarisation(poles.size());
      for (std::size_t p = 0; p < poles.size(); ++p) {
        const double deps = on.problem.medium.poles[p].deps[e][i], tau = on.problem.medium.poles[p].tau[e][i];
        const double wide = 2 * tau + dt;
        const double d_tau = poles[p].tau[e][i];
        const double da = 4 * dt / (wide * wide) * d_tau;
        const double db = eps0 * dt / wide * poles[p].deps[e][i] - 2 * eps0 * deps * dt / (wide * wide) * d_tau;
        polarisation[p] = da * before.polarisation[p][e][i] + db * (new_e + old_e);
        current -= polarisation[p] / dt;
      }
      moved.fields[which(c)][i] += cb * current;
      for (std::size_t p = 0; p < on.step.poles.size(); ++p) {
        moved.polarisation[p][e][i] += on.step.poles[p].bP[e][i] * cb * current;
        if (p < poles.size()) moved.polarisation[p][e][i] += polarisation[p];
      }
    }
  }
}

/// The transpose of a derivative spread over the grid: `of` gets minus the other derivative of `by`.
void add_transpose(const Grid& grid, const Field& by, bool half, Axis axis, double sign, Field& to) {
  for_each_node(grid,
                [&](const Triple& at, std::size_t node) { to[node] -= sign * derivative(grid, by, half, axis, at); });
}

/// The transpose of curl(): from `weight` = what multiplies the curl at each node of c, to the fields under it.
void spread_curl(const Stepper& on, Component c, const Field& weight, State& adjoint) {
  const Grid& grid = on.grid();
  for (std::size_t t = 0; t < 2; ++t) {
    const CurlTerm term = curl_terms(c)[t];
    Field& psi = adjoint.psi[which(c)][t];
    if (psi.empty()) continue;
    const bool half = is_half(c, term.along);
    const PmlLine& line = on.problem.pml[dimension(term.along)].at(half);
    Field by(weight.size());
    for_each_node(grid, [&](const Triple& at, std::size_t node) {
      const auto i = static_cast<std::size_t>(at[dimension(term.along)]);
      const double g = term.sign * weight[node];
      psi[node] += g;
      by[node] = g * line.k_inverse[i] + line.a[i] * psi[node];
      psi[node] *= line.b[i];
    });
    add_transpose(grid, by, half, term.along, 1, adjoint.fields[which(term.of)]);
  }
}

struct BackwardStep {
  const Stepper& on;
  const Acquisition& shot;
  const std::vector<State>& states;
  SweepSums& sums;
  Gradient& gradient;
  State& adjoint;

  void add_receivers(bool electric, const std::vector<double>& residual) const {
    for (std::size_t r = 0; r < shot.receivers.size(); ++r)
      if (const Point& point = shot.receivers[r]; is_electric(point.component) == electric)
        for (const PointTap& tap : point.taps)
          adjoint.fields[which(point.component)][static_cast<std::size_t>(tap.node)] += tap.weight * residual[r];
  }

  /// `field` is what multiplies the curl over cb or cq.
  void read_sources(bool electric, std::vector<double>& samples) const {
    for (std::size_t s = 0; s < shot.sources.size(); ++s) {
      const Point& point = shot.sources[s];
      if (is_electric(point.component) != electric) continue;
      for (const PointTap& tap : point.taps)
        samples[s] +=
            injection(on, point, tap) * adjoint.fields[which(point.component)][static_cast<std::size_t>(tap.node)];
    }
  }

  void electric(Component c, const State& before, const State& after) const {
    const std::size_t e = place(c);
    Field& lambda = adjoint.fields[which(c)];
    const double dt = on.problem.dt;
    Field weight(lambda.size());
    for (std::size_t i = 0; i < lambda.size(); ++i) {
      const double cb = on.step.cb[e][i];
      const double w = weight[i] = cb * lambda[i];
      const double old_e = before.fields[which(c)][i], new_e = after.fields[which(c)][i];
      sums.difference[e][i] += w * (new_e - old_e);
      sums.sum[e][i] += w * (new_e + old_e);
      double polarised = 0;
      for (std::size_t p = 0; p < on.step.poles.size(); ++p) {
        double& lambda_p = adjoint.polarisation[p][e][i];
        const double deps = on.problem.medium.poles[p].deps[e][i], tau = on.problem.medium.poles[p].tau[e][i];
        const double wide = 2 * tau + dt, q = lambda_p - w / dt;
        gradient.poles[p].deps[e][i] += cb == 0 ? 0 : eps0 * dt / wide * q * (new_e + old_e);
        gradient.poles[p].tau[e][i] +=
            cb == 0
                ? 0
                : q * (4 * dt * before.polarisation[p][e][i] - 2 * eps0 * deps * dt * (new_e + old_e)) / (wide * wide);
        polarised += on.step.poles[p].bP[e][i] * lambda_p;
        // cP lambda_E = (1 - aP) w / dt.
        lambda_p = on.step.poles[p].aP[e][i] * lambda_p + on.step.poles[p].cP[e][i] * lambda[i];
      }
      lambda[i] = on.step.ca[e][i] * lambda[i] + polarised;
    }
    spread_curl(on, c, weight, adjoint);
  }

  void magnetic(Component c, const State& before, const State& after) const {
    Field& lambda = adjoint.fields[which(c)];
    Field weight(lambda.size());
    for (std::size_t i = 0; i < lambda.size(); ++i) {
      weight[i] = on.step.cq[place(c)][i] * lambda[i];
      sums.magnetic[place(c)][i] += weight[i] * (after.fields[which(c)][i] - before.fields[which(c)][i]);
    }
    spread_curl(on, c, weight, adjoint);
  }

  void operator()(std::size_t n, const std::vector<double>& residual) const {
    const Grid& grid = on.grid();
    add_receivers(true, residual);
    // E_new enters its poles: what they pass on is part of lambda_E before anything reads it.
    for (const Component c : grid.components())
      for (std::size_t p = 0; is_electric(c) && p < on.step.poles.size(); ++p)
        for (std::size_t i = 0; i < adjoint.fields[which(c)].size(); ++i)
          adjoint.fields[which(c)][i] += on.step.poles[p].bP[place(c)][i] * adjoint.polarisation[p][place(c)][i];
    read_sources(true, gradient.sources[n]);
    for (const Component c : grid.components())
      if (is_electric(c)) electric(c, states[n], states[n + 1]);
    add_receivers(false, residual);
    read_sources(false, gradient.sources[n]);
    for (const Component c : grid.components())
      if (!is_electric(c)) magnetic(c, states[n], states[n + 1]);
  }
};

}  // namespace

Samples forward(const Problem& problem, const Acquisition& shot, const Samples& sources, State& state,
                const StepListener& listener) {
  const Stepper on(problem);
  clear_conductors(on, state);
  Samples record;
  for (std::size_t n = 0; n < sources.size(); ++n) {
    const State before = listener ? state : State{};
    step_h(on, state);
    inject(on, shot.sources, false, sources[n], state);
    step_e(on, state);
    inject(on, shot.sources, true, sources[n], state);
    record.push_back(read(shot.receivers, state));
    if (listener) listener(static_cast<Index>(n), before, state);
  }
  return record;
}

Samples jvp(const Problem& problem, const Acquisition& shot, const Samples& sources, State state,
            const Direction& direction) {
  const Stepper on(problem);
  const StepChange change = step_change(direction.medium, problem.medium, problem.grid, problem.dt, problem.loss);
  State moved = direction.start ? *direction.start : make_state(problem);
  clear_conductors(on, moved);
  Samples record;
  const StepListener step = [&](Index n, const State& before, const State& after) {
    const std::vector<double> none(shot.sources.size());
    const auto& amplitudes = direction.sources.empty() ? none : direction.sources[static_cast<std::size_t>(n)];
    step_h(on, moved);
    add_change_of_h(on, change, before, after, moved);
    inject(on, shot.sources, false, amplitudes, moved);
    step_e(on, moved);
    add_change_of_e(on, change, direction.poles, before, after, moved);
    inject(on, shot.sources, true, amplitudes, moved);
    record.push_back(read(shot.receivers, moved));
  };
  (void)forward(problem, shot, sources, state, step);
  return record;
}

Gradient vjp(const Problem& problem, const Acquisition& shot, const Samples& sources, State state,
             const Samples& residual) {
  const Stepper on(problem);
  clear_conductors(on, state);
  std::vector<State> states{state};
  (void)forward(problem, shot, sources, state,
                [&](Index, const State&, const State& after) { states.push_back(after); });
  Gradient gradient;
  gradient.sources.assign(sources.size(), std::vector<double>(shot.sources.size()));
  gradient.start = make_state(problem);
  SweepSums sums;
  const auto count = static_cast<std::size_t>(problem.grid.count());
  gradient.poles.resize(problem.medium.poles.size());
  for (const Component c : problem.grid.components()) {
    if (!is_electric(c)) {
      sums.magnetic[place(c)].resize(count);
      continue;
    }
    sums.difference[place(c)].resize(count);
    sums.sum[place(c)].resize(count);
    for (DebyePole& pole : gradient.poles) {
      pole.deps[place(c)].resize(count);
      pole.tau[place(c)].resize(count);
    }
  }
  const BackwardStep back{on, shot, states, sums, gradient, gradient.start};
  for (std::size_t n = sources.size(); n-- > 0;) back(n, residual[n]);
  clear_conductors(on, gradient.start);
  gradient.medium = gradient_of(sums, problem.medium, problem.grid, problem.dt, problem.loss);
  return gradient;
}

}  // namespace sonde::maxwell::reference
