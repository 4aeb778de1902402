// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/grid/coefficients.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/grid/constants.h"

namespace sonde::maxwell {
namespace {

struct Pair {
  double ca = 0, cb = 0;
};

Pair electric(double eps, double sigma, double dt, LossForm loss) {
  if (std::isinf(sigma)) return {};
  if (loss == LossForm::semi_implicit) {
    const double cb = 1 / (eps / dt + sigma / 2);
    return {(eps / dt - sigma / 2) * cb, cb};
  }
  const double decay = sigma * dt / eps;
  // expm1 keeps the digits of 1 - exp(-x) down to sigma = 0, where the limit is dt / eps.
  return {std::exp(-decay), sigma > 0 ? -std::expm1(-decay) / sigma : dt / eps};
}

/// Factors of sum w (E_new - E_old) and sum w (E_new + E_old) in a derivative.
struct Factors {
  double difference = 0, sum = 0;
};
struct ElectricFactors {
  Factors eps_r, sigma;
};

/// From d E_new = dca E_old + (dcb / cb) (E_new - ca E_old), where lambda_E = w / cb.
Factors factors_of(double ca, double cb, double dca, double dcb) {
  const double by_new = dcb / (cb * cb), by_old = (dca - ca * dcb / cb) / cb;
  return {(by_new - by_old) / 2, (by_new + by_old) / 2};
}

ElectricFactors electric_factors(double eps_r, double sigma, double dt, LossForm loss) {
  if (std::isinf(sigma)) return {};
  if (loss == LossForm::semi_implicit) return {{-eps0 / dt, 0}, {0, -0.5}};
  const double eps = eps0 * eps_r, x = sigma * dt / eps;
  const auto [ca, cb] = electric(eps, sigma, dt, loss);
  const double dca_deps = ca * x / eps, dcb_deps = -ca * dt / (eps * eps);
  const double dca_dsigma = -ca * dt / eps;
  // d/dsigma of (1 - exp(-x)) / sigma; by its series where the difference has no digits left.
  const double dcb_dsigma =
      x > 1e-4 ? (ca * dt / eps - cb) / sigma : dt * dt / (eps * eps) * (-0.5 + x / 3 - x * x / 8);
  return {factors_of(ca, cb, dca_deps * eps0, dcb_deps * eps0), factors_of(ca, cb, dca_dsigma, dcb_dsigma)};
}

/// Calls body(component, node) for every node that a step moves.
template <class Body>
void for_each_moving(const Grid& grid, const Body& body) {
  for (const Component c : grid.components())
    for_each_node(grid, [&](const Triple& at, std::size_t node) {
      if (!grid.on_wall(c, at)) body(c, node);
    });
}

void size_for(const Grid& grid, bool electric_kind, std::array<std::vector<double>, 3>& values) {
  for (const Component c : grid.components())
    if (is_electric(c) == electric_kind) values[place(c)].assign(static_cast<std::size_t>(grid.count()), 0.0);
}

void add_poles(const ComponentMedium& medium, const Grid& grid, double dt, Coefficients& made) {
  for (std::size_t p = 0; p < medium.poles.size(); ++p) {
    Coefficients::Pole& pole = made.poles.emplace_back();
    for (auto* values : {&pole.aP, &pole.bP, &pole.cP}) size_for(grid, true, *values);
  }
  for_each_moving(grid, [&](Component c, std::size_t node) {
    if (!is_electric(c)) return;
    const std::size_t e = place(c);
    const double sigma = medium.sigma[e][node];
    if (std::isinf(sigma)) return;
    double poles = 0;
    for (std::size_t p = 0; p < medium.poles.size(); ++p) {
      const double deps = medium.poles[p].deps[e][node], tau = medium.poles[p].tau[e][node];
      // A pole of no strength has a gradient all the same; no time either is no pole.
      if (deps == 0 && tau == 0) continue;
      made.poles[p].aP[e][node] = (2 * tau - dt) / (2 * tau + dt);
      poles += made.poles[p].bP[e][node] = eps0 * deps * dt / (2 * tau + dt);
    }
    const double eps = eps0 * medium.eps_r[e][node];
    const double den = eps / dt + sigma / 2 + poles / dt;
    made.ca[e][node] = (eps / dt - sigma / 2 - poles / dt) / den;
    made.cb[e][node] = 1 / den;
    for (Coefficients::Pole& pole : made.poles)
      if (pole.aP[e][node] != 0 || pole.bP[e][node] != 0) pole.cP[e][node] = (1 - pole.aP[e][node]) / (dt * den);
  });
}

double value(const std::vector<double>& values, std::size_t node) { return values.empty() ? 0 : values[node]; }

void add_pole_change(const std::vector<DebyePole>& change, const ComponentMedium& medium, const Grid& grid, double dt,
                     StepChange& made) {
  made.poles.resize(medium.poles.size());
  for (StepChange::Pole& pole : made.poles)
    for (auto* values : {&pole.aP, &pole.bP}) size_for(grid, true, *values);
  for_each_moving(grid, [&](Component c, std::size_t node) {
    const std::size_t e = place(c);
    if (!is_electric(c) || std::isinf(medium.sigma[e][node])) return;
    for (std::size_t p = 0; p < made.poles.size(); ++p) {
      const double deps = medium.poles[p].deps[e][node], tau = medium.poles[p].tau[e][node], wide = 2 * tau + dt;
      if (deps == 0 && tau == 0) continue;
      const double d_deps = value(change[p].deps[e], node), d_tau = value(change[p].tau[e], node);
      const double b = eps0 * dt / wide * d_deps - 2 * eps0 * deps * dt / (wide * wide) * d_tau;
      made.poles[p].aP[e][node] = 4 * dt / (wide * wide) * d_tau;
      made.poles[p].bP[e][node] = b;
      made.sum[e][node] -= b / dt;
    }
  });
}

}  // namespace

Coefficients coefficients(const ComponentMedium& medium, const Grid& grid, double dt, LossForm loss) {
  if (!(dt > 0) || !std::isfinite(dt))
    throw Error(ErrorKind::bad_input, fmt::format("dt = {} s: expected above 0", dt));
  if (!medium.poles.empty() && loss == LossForm::exponential)
    throw Error(ErrorKind::bad_input, "Debye poles: exponential coefficients have no form for them")
        .hint("take the semi-implicit ones");
  Coefficients made;
  for (auto* values : {&made.ca, &made.cb}) size_for(grid, true, *values);
  size_for(grid, false, made.cq);
  for_each_moving(grid, [&](Component c, std::size_t node) {
    if (!is_electric(c)) {
      made.cq[place(c)][node] = dt / (mu0 * medium.mu_r[place(c)][node]);
      return;
    }
    const auto [ca, cb] = electric(eps0 * medium.eps_r[place(c)][node], medium.sigma[place(c)][node], dt, loss);
    made.ca[place(c)][node] = ca;
    made.cb[place(c)][node] = cb;
  });
  if (!medium.poles.empty()) add_poles(medium, grid, dt, made);
  return made;
}

ComponentChange gradient_of(const SweepSums& sums, const ComponentMedium& medium, const Grid& grid, double dt,
                            LossForm loss) {
  ComponentChange made;
  for (auto* values : {&made.eps_r, &made.sigma}) size_for(grid, true, *values);
  const bool magnetic =
      std::any_of(sums.magnetic.begin(), sums.magnetic.end(), [](const auto& v) { return !v.empty(); });
  if (magnetic) size_for(grid, false, made.mu_r);
  for_each_moving(grid, [&](Component c, std::size_t node) {
    const std::size_t e = place(c);
    if (!is_electric(c)) {
      if (magnetic) made.mu_r[e][node] = -mu0 / dt * sums.magnetic[e][node];
      return;
    }
    const ElectricFactors by = electric_factors(medium.eps_r[e][node], medium.sigma[e][node], dt, loss);
    const double difference = value(sums.difference[e], node), sum = value(sums.sum[e], node);
    made.eps_r[e][node] = by.eps_r.difference * difference + by.eps_r.sum * sum;
    made.sigma[e][node] = by.sigma.difference * difference + by.sigma.sum * sum;
  });
  return made;
}

ComponentChange illumination_of(const SweepSums& sums, double dt) {
  ComponentChange made{sums.difference_squares, sums.sum_squares, {}};
  const auto scale = [](std::array<std::vector<double>, 3>& group, double by) {
    for (std::vector<double>& values : group)
      for (double& value : values) value *= by;
  };
  scale(made.eps_r, eps0 / dt * (eps0 / dt));
  scale(made.sigma, 0.25);
  return made;
}

std::vector<DebyePole> pole_gradient_of(const SweepSums& sums, const ComponentMedium& medium, const Grid& grid,
                                        double dt) {
  std::vector<DebyePole> made(sums.poles.size());
  for (DebyePole& pole : made)
    for (auto* values : {&pole.deps, &pole.tau}) size_for(grid, true, *values);
  for_each_moving(grid, [&](Component c, std::size_t node) {
    const std::size_t e = place(c);
    if (!is_electric(c) || std::isinf(medium.sigma[e][node])) return;
    for (std::size_t p = 0; p < made.size(); ++p) {
      const double deps = medium.poles[p].deps[e][node], wide = 2 * medium.poles[p].tau[e][node] + dt;
      if (deps == 0 && medium.poles[p].tau[e][node] == 0) continue;  // no pole here
      const double sum = sums.poles[p].sum[e][node], held = value(sums.poles[p].held[e], node);
      made[p].deps[e][node] = eps0 * dt / wide * sum;
      made[p].tau[e][node] = (4 * dt * held - 2 * eps0 * deps * dt * sum) / (wide * wide);
    }
  });
  return made;
}

std::vector<DebyePole> pole_gradient_change(const SweepSums& sums, const SweepSums& moved,
                                            const std::vector<DebyePole>& change, const ComponentMedium& medium,
                                            const Grid& grid, double dt) {
  std::vector<DebyePole> made = pole_gradient_of(moved, medium, grid, dt);
  for_each_moving(grid, [&](Component c, std::size_t node) {
    const std::size_t e = place(c);
    if (!is_electric(c) || std::isinf(medium.sigma[e][node])) return;
    for (std::size_t p = 0; p < std::min(made.size(), change.size()); ++p) {
      const double deps = medium.poles[p].deps[e][node], wide = 2 * medium.poles[p].tau[e][node] + dt;
      const double d_deps = value(change[p].deps[e], node), d_tau = value(change[p].tau[e], node);
      const double sum = sums.poles[p].sum[e][node], held = value(sums.poles[p].held[e], node);
      const double square = wide * wide;
      made[p].deps[e][node] -= 2 * eps0 * dt / square * d_tau * sum;
      made[p].tau[e][node] -= 2 * eps0 * dt / square * d_deps * sum +
                              4 * d_tau / (square * wide) * (4 * dt * held - 2 * eps0 * deps * dt * sum);
    }
  });
  return made;
}

StepChange step_change(const ComponentChange& change, const ComponentMedium& medium, const Grid& grid, double dt,
                       LossForm loss) {
  StepChange made;
  for (auto* values : {&made.difference, &made.sum}) size_for(grid, true, *values);
  size_for(grid, false, made.magnetic);
  for_each_moving(grid, [&](Component c, std::size_t node) {
    const std::size_t e = place(c);
    if (!is_electric(c)) {
      made.magnetic[e][node] = -value(change.mu_r[e], node) / medium.mu_r[e][node];
      return;
    }
    const ElectricFactors by = electric_factors(medium.eps_r[e][node], medium.sigma[e][node], dt, loss);
    const double deps = value(change.eps_r[e], node), dsigma = value(change.sigma[e], node);
    made.difference[e][node] = by.eps_r.difference * deps + by.sigma.difference * dsigma;
    made.sum[e][node] = by.eps_r.sum * deps + by.sigma.sum * dsigma;
  });
  if (!change.poles.empty()) add_pole_change(change.poles, medium, grid, dt, made);
  return made;
}

}  // namespace sonde::maxwell
