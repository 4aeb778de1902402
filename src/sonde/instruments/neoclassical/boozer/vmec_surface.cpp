// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/boozer/vmec_surface.h"

#include <cmath>
#include <vector>

namespace sonde::neoclassical {
namespace {

/// The series of w with dw/dtheta = B_theta - I and dw/dzeta = B_zeta - G. B_theta decides where m > 0, B_zeta else:
/// they agree up to the equilibrium's own error.
Series potential(const Series& b_sub_theta, const Series& b_sub_zeta, int periods) {
  Series w;
  w.modes = b_sub_theta.modes;
  const std::size_t count = w.modes.size();
  w.cosine.assign(count, 0.0);
  w.sine.assign(count, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    const auto [m, n] = w.modes[i];
    if (m == 0 && n == 0) continue;
    const Series& slope = m != 0 ? b_sub_theta : b_sub_zeta;
    const double factor = m != 0 ? m : n * periods;
    w.sine[i] = slope.cosine[i] / factor;
    if (!slope.sine.empty()) w.cosine[i] = -slope.sine[i] / factor;
  }
  return w;
}

/// R or Z of the full mesh at the node j + 1/2: the mean of its neighbours. Harmonics of odd m are divided by sqrt(s)
/// before; at the axis that quotient is 2 f_1 - f_2 for m = 1, a straight line through the next two, and 0 for the
/// others.
std::vector<double> at_half_node(const std::vector<double>& full, Index columns, const std::vector<Mode>& modes,
                                 Index j, Index ns) {
  const auto quotient = [&](std::size_t i, Index node) {
    const double value = full[i + static_cast<std::size_t>(node * columns)];
    return modes[i].m % 2 == 0 ? value : value / std::sqrt(static_cast<double>(node) / static_cast<double>(ns - 1));
  };
  const double root = std::sqrt((static_cast<double>(j) + 0.5) / static_cast<double>(ns - 1));
  std::vector<double> values(modes.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool odd = modes[i].m % 2 != 0;
    double below = 0;
    if (!odd || j > 0)
      below = quotient(i, j);
    else if (modes[i].m == 1)
      below = 2 * quotient(i, 1) - quotient(i, 2);
    values[i] = (below + quotient(i, j + 1)) / 2 * (odd ? root : 1);
  }
  return values;
}

Series shape_at(const HarmonicTable& full, const std::vector<Mode>& modes, const RadialRule& rule) {
  Series sum;
  sum.modes = modes;
  sum.cosine.assign(modes.size(), 0.0);
  if (!full.sine.empty()) sum.sine.assign(modes.size(), 0.0);
  for (std::size_t k = 0; k < static_cast<std::size_t>(rule.count); ++k) {
    const auto add = [&](const std::vector<double>& table, std::vector<double>& to) {
      if (table.empty()) return;
      const std::vector<double> row = at_half_node(table, full.columns, modes, rule.rows[k], full.rows);
      for (std::size_t i = 0; i < row.size(); ++i) to[i] += rule.weights[k] * row[i];
    };
    add(full.cosine, sum.cosine);
    add(full.sine, sum.sine);
  }
  return sum;
}

}  // namespace

VmecSurface vmec_surface(const Wout& wout, double s) {
  const RadialRule rule = radial_rule(wout.s, s);
  const auto half = [&](const HarmonicTable& table) { return rule(table, wout.modes); };
  const Series b_sub_theta = half(wout.b_sub_theta), b_sub_zeta = half(wout.b_sub_zeta);
  VmecSurface surface;
  surface.iota = rule(wout.iota);
  surface.b_theta = b_sub_theta.cosine_of({0, 0});
  surface.b_zeta = b_sub_zeta.cosine_of({0, 0});
  surface.b = half(wout.b);
  surface.b00 = surface.b.cosine_of({0, 0});
  surface.sqrt_g = half(wout.jacobian);
  surface.lambda = rule(wout.lambda, wout.shape_modes);
  surface.w = potential(b_sub_theta, b_sub_zeta, wout.periods);
  surface.r = shape_at(wout.r, wout.shape_modes, rule);
  surface.z = shape_at(wout.z, wout.shape_modes, rule);
  return surface;
}

}  // namespace sonde::neoclassical
