// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/operators/drift_kinetic.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "sonde/instruments/neoclassical/operators/grid_functions.h"
#include "sonde/instruments/neoclassical/operators/reflection.h"

namespace sonde::neoclassical {
namespace {

using Field = std::vector<double>;

template <class Value>
Field on_points(std::size_t count, Value value) {
  Field made(count);
  for (std::size_t p = 0; p < count; ++p) made[p] = value(p);
  return made;
}

Field zeros(std::size_t count) { return Field(count, 0.0); }

/// The sum of the magnitudes of a row.
double row_sum(const SparseRows& a, std::size_t row) {
  double sum = 0;
  for (auto at = static_cast<std::size_t>(a.first[row]); at < static_cast<std::size_t>(a.first[row + 1]); ++at)
    sum += std::abs(a.value[at]);
  return sum;
}

/// E x B drift per E_hat, times sqrt(g): (-B_zeta d_theta + B_theta d_zeta) / <B^2>, with `factor` for each point.
SparseRows electric_drift(const SampledSurface& s, const Field& factor) {
  return directional_derivative(
      s.grid, on_points(s.b.size(), [&](std::size_t p) { return -s.b_sub_zeta[p] * factor[p] / s.b2_mean; }),
      on_points(s.b.size(), [&](std::size_t p) { return s.b_sub_theta[p] * factor[p] / s.b2_mean; }));
}

void collocate(const SampledSurface& s, DriftKinetic& made) {
  const std::size_t n = s.b.size();
  made.streaming = directional_derivative(s.grid, on_points(n, [&](auto p) { return s.b_sup_theta[p] / s.b[p]; }),
                                          on_points(n, [&](auto p) { return s.b_sup_zeta[p] / s.b[p]; }));
  made.mirror = on_points(n, [&](auto p) {
    return (s.b_sup_theta[p] * s.db_dtheta[p] + s.b_sup_zeta[p] * s.db_dzeta[p]) / (s.b[p] * s.b[p]);
  });
  made.drift = electric_drift(s, on_points(n, [&](auto p) { return 1 / s.jacobian[p]; }));
  const Field vm = s.radial_drift();
  made.radial = {on_points(n, [&](auto p) { return -2 * vm[p] / 3; }), zeros(n),
                 on_points(n, [&](auto p) { return -vm[p] / 3; })};
  made.parallel = {zeros(n), s.b, zeros(n)};
  double weights = 0;
  for (const double jacobian : s.jacobian) weights += std::abs(jacobian);
  for (std::size_t k = 0; k < 3; ++k) {
    const double norm = 2 / (static_cast<double>(2 * k + 1) * weights);
    const auto weight = [&](const Field& drive) {
      return on_points(n, [&](auto p) { return norm * std::abs(s.jacobian[p]) * drive[p]; });
    };
    made.radial_weights[k] = weight(made.radial[k]);
    made.parallel_weights[k] = weight(made.parallel[k]);
  }
  made.radial[0][0] = 0;  // the row of the condition f_0(0, 0) = 0; parallel[0] is zero as it is
  made.to_legendre = Field(n, 1.0);
}

/// W^(-1/2) A W^(-1/2).
SparseRows scaled(SparseRows a, const Field& root) {
  for (std::size_t row = 0; row < root.size(); ++row)
    for (auto at = static_cast<std::size_t>(a.first[row]); at < static_cast<std::size_t>(a.first[row + 1]); ++at)
      a.value[at] /= root[row] * root[static_cast<std::size_t>(a.column[at])];
  return a;
}

/// Whether the field lines are straight: theta of a line is iota zeta and a constant. Those of VMEC's angles are not.
bool straight(const SampledSurface& s) {
  constexpr double enough = 1e-9;  // harmonics of the field in straight angles are rounded once or twice
  for (std::size_t p = 0; p < s.b.size(); ++p)
    if (std::abs(s.b_sup_theta[p] - s.iota * s.b_sup_zeta[p]) > enough * std::abs(s.b_sup_zeta[p])) return false;
  return true;
}

/// The functions of a rational surface that nothing damps at k = 0.
void leave_undamped(const SampledSurface& s, const Field& root, DriftKinetic& made) {
  if (!straight(s)) return;
  const std::vector<Mode> modes = resonances(made.iota, made.grid);
  const auto phase = [&](const Mode& mode, std::size_t p) {
    const auto [i, j] = std::div(static_cast<long>(p), static_cast<long>(made.grid.n_zeta));
    return mode.m * made.grid.theta(i) + mode.n * made.grid.periods * made.grid.zeta(j);
  };
  for (const Mode& mode : modes)
    made.undamped.push_back(on_points(root.size(), [&](auto p) { return root[p] * std::cos(phase(mode, p)); }));
  for (const Mode& mode : modes)
    made.undamped.push_back(on_points(root.size(), [&](auto p) { return root[p] * std::sin(phase(mode, p)); }));
  double part = 0;
  for (std::size_t i = 0; i < made.undamped.size(); ++i) {
    Field& own = made.undamped[i];
    for (int pass = 0; pass < 2; ++pass) {  // twice is enough for orthogonality to the last bits
      take_out<double>(made.null_vector, own);
      for (std::size_t j = 0; j < i; ++j) take_out<double>(made.undamped[j], own);
    }
    const double length = std::sqrt(dot<double>(own, own));
    for (double& value : own) value /= length;
    part += std::pow(dot<double>(own, made.radial[0]), 2);
  }
  const double whole = dot<double>(made.radial[0], made.radial[0]);
  if (whole > 0) made.undamped_share = std::sqrt(part / whole);
}

void conserve(const SampledSurface& s, DriftKinetic& made) {
  const std::size_t n = s.b.size();
  const Field along_theta = on_points(n, [&](auto p) { return std::abs(s.jacobian[p]) * s.b_sup_theta[p] / s.b[p]; });
  const Field along_zeta = on_points(n, [&](auto p) { return std::abs(s.jacobian[p]) * s.b_sup_zeta[p] / s.b[p]; });
  const Field root = on_points(n, [&](auto p) { return std::sqrt(std::abs(s.jacobian[p])); }), ones(n, 1.0);
  const double sign = s.jacobian[0] > 0 ? 1 : -1;
  const SparseRows d_theta = directional_derivative(s.grid, ones, zeros(n));
  const SparseRows d_zeta = directional_derivative(s.grid, zeros(n), ones);

  made.streaming = scaled(skew_part(directional_derivative(s.grid, along_theta, along_zeta)), root);
  made.mirror = zeros(n);  // -div(b sqrt g) / W, by the matrices: only then does L_1 not change the constant
  d_theta.add_product(-1, along_theta, made.mirror);
  d_zeta.add_product(-1, along_zeta, made.mirror);
  for (std::size_t p = 0; p < n; ++p) made.mirror[p] /= root[p] * root[p];
  made.drift = scaled(skew_part(electric_drift(s, Field(n, sign))), root);

  const double norm = std::sqrt(dot<double>(root, root));
  made.null_vector = on_points(n, [&](auto p) { return root[p] / norm; });
  made.drift_of_null = zeros(n);
  made.drift.add_product(1, made.null_vector, made.drift_of_null);

  Field by_theta = zeros(n), by_zeta = zeros(n);
  d_theta.add_product(1, s.b, by_theta);
  d_zeta.add_product(1, s.b, by_zeta);
  Field root_vm = on_points(n, [&](auto p) {
    return sign * (s.b_sub_theta[p] * by_zeta[p] - s.b_sub_zeta[p] * by_theta[p]) /
           (s.b[p] * s.b[p] * s.b[p] * root[p]);
  });
  // The matrices leave rounding where B does not change at all: such a drift is none.
  const double steps = static_cast<double>(s.grid.n_theta + s.grid.n_zeta * s.grid.periods);
  const Field rounding = on_points(n, [&](auto p) {
    return 1e-15 * steps * (std::abs(s.b_sub_theta[p]) + std::abs(s.b_sub_zeta[p])) / (s.b[p] * s.b[p] * root[p]);
  });
  if (std::equal(root_vm.begin(), root_vm.end(), rounding.begin(),
                 [](double drift, double unsure) { return std::abs(drift) <= unsure; }))
    root_vm = zeros(n);
  made.radial = {on_points(n, [&](auto p) { return -2 * root_vm[p] / 3; }), zeros(n),
                 on_points(n, [&](auto p) { return -root_vm[p] / (3 * std::sqrt(5.0)); })};
  const double mean = dot<double>(made.null_vector, made.radial[0]);
  for (std::size_t p = 0; p < n; ++p) made.radial[0][p] -= mean * made.null_vector[p];
  made.parallel = {zeros(n), on_points(n, [&](auto p) { return root[p] * s.b[p] / std::sqrt(3.0); }), zeros(n)};
  for (std::size_t k = 0; k < 3; ++k) {
    const auto weight = [&](const Field& drive) {
      return on_points(n, [&](auto p) { return 2 * drive[p] / (norm * norm); });
    };
    made.radial_weights[k] = weight(made.radial[k]);
    made.parallel_weights[k] = weight(made.parallel[k]);
  }
  made.to_legendre = on_points(n, [&](auto p) { return 1 / root[p]; });
  leave_undamped(s, root, made);
}

}  // namespace

const char* name(Discretisation discretisation) {
  return discretisation == Discretisation::skew ? "skew" : "collocation";
}

DriftKinetic::Factors DriftKinetic::lower(Index index) const {
  const auto k = static_cast<double>(index);
  if (discretisation == Discretisation::collocation) return {k / (2 * k - 1), (k - 1) / 2};
  return {k / std::sqrt((2 * k - 1) * (2 * k + 1)), k / 2};
}

DriftKinetic::Factors DriftKinetic::upper(Index index) const {
  const auto k = static_cast<double>(index);
  if (discretisation == Discretisation::collocation) return {(k + 1) / (2 * k + 3), -(k + 2) / 2};
  const Factors below = lower(index + 1);  // -L^T = a (A - b g), since A is antisymmetric
  return {below.scale, -below.shift};
}

namespace {

void add_product(const SparseRows&, const LineMatrix& lines, double scale, std::span<const double> x,
                 std::span<double> y) {
  lines.add_product(scale, x, y);
}
void add_product(const SparseRows& rows, const LineMatrix&, double scale, std::span<const double> x,
                 std::span<long double> y) {
  rows.add_product(scale, x, y);
}

/// y += (a (A + b diag(g))) x.
template <class Sum>
void add_streaming(const DriftKinetic& e, DriftKinetic::Factors factors, std::span<const double> x, std::span<Sum> y) {
  add_product(e.streaming, e.streaming_lines, factors.scale, x, y);
  const Sum shift = factors.scale * factors.shift;
  for (std::size_t p = 0; p < e.mirror.size(); ++p) y[p] += shift * e.mirror[p] * x[p];
}

template <class Sum>
void add_lower_in(const DriftKinetic& e, Index k, double scale, std::span<const double> x, std::span<Sum> y) {
  const DriftKinetic::Factors factors = e.lower(k);
  add_streaming(e, {scale * factors.scale, factors.shift}, x, y);
}

template <class Sum>
void add_upper_in(const DriftKinetic& e, Index k, double scale, std::span<const double> x, std::span<Sum> y) {
  const DriftKinetic::Factors factors = e.upper(k);
  const Sum kept = y[0];
  add_streaming(e, {scale * factors.scale, factors.shift}, x, y);
  if (e.pinned(k)) y[0] = kept;
}

template <class Sum>
void add_diagonal_in(const DriftKinetic& e, Index k, const Case& at, double scale, std::span<const double> x,
                     std::span<Sum> y) {
  const Sum kept = y[0];
  const Sum own = scale * DriftKinetic::collisions(at.nu_hat, k);
  for (std::size_t p = 0; p < e.mirror.size(); ++p) y[p] += own * x[p];
  if (at.epsi_hat != 0) {
    add_product(e.drift, e.drift_lines, scale * at.epsi_hat, x, y);
    if (!e.null_vector.empty()) {
      const Sum across = scale * at.epsi_hat * dot<Sum>(e.drift_of_null, x);
      const Sum along = scale * at.epsi_hat * dot<Sum>(e.null_vector, x);
      for (std::size_t p = 0; p < e.mirror.size(); ++p) y[p] += across * e.null_vector[p] - along * e.drift_of_null[p];
    }
  }
  if (e.pinned(k)) y[0] = kept + scale * Sum{x[0]};
}

}  // namespace

void DriftKinetic::add_lower(Index k, double scale, std::span<const double> x, std::span<double> y) const {
  add_lower_in(*this, k, scale, x, y);
}
void DriftKinetic::add_lower(Index k, double scale, std::span<const double> x, std::span<long double> y) const {
  add_lower_in(*this, k, scale, x, y);
}
void DriftKinetic::add_upper(Index k, double scale, std::span<const double> x, std::span<double> y) const {
  add_upper_in(*this, k, scale, x, y);
}
void DriftKinetic::add_upper(Index k, double scale, std::span<const double> x, std::span<long double> y) const {
  add_upper_in(*this, k, scale, x, y);
}
void DriftKinetic::add_diagonal(Index k, const Case& at, double scale, std::span<const double> x,
                                std::span<double> y) const {
  add_diagonal_in(*this, k, at, scale, x, y);
}
void DriftKinetic::add_diagonal(Index k, const Case& at, double scale, std::span<const double> x,
                                std::span<long double> y) const {
  add_diagonal_in(*this, k, at, scale, x, y);
}

DriftKinetic drift_kinetic(const SampledSurface& surface, Discretisation discretisation) {
  DriftKinetic made;
  made.discretisation = discretisation;
  made.grid = surface.grid;
  made.iota = surface.iota;
  made.symmetric = surface.symmetric;
  made.psi_scale = surface.psi_scale;
  made.reference_field = surface.reference_field;
  made.b2_mean = surface.b2_mean;
  if (discretisation == Discretisation::collocation)
    collocate(surface, made);
  else
    conserve(surface, made);
  if (discretisation == Discretisation::skew && surface.symmetric) make_parities_exact(made);
  made.streaming_lines = LineMatrix(made.streaming, made.grid);
  made.drift_lines = LineMatrix(made.drift, made.grid);
  for (std::size_t row = 0; row < made.mirror.size(); ++row) {
    made.largest_row = std::max(made.largest_row, std::abs(made.mirror[row]) + row_sum(made.streaming, row));
    made.largest_drift_row = std::max(made.largest_drift_row, row_sum(made.drift, row));
  }
  return made;
}

std::vector<Mode> resonances(double iota, const AngleGrid& grid) {
  std::vector<Mode> made;  // (0, n) is none: n N_fp is a whole number
  for (int m = 1; m <= (grid.n_theta - 1) / 2; ++m)
    for (int n = -static_cast<int>((grid.n_zeta - 1) / 2); n <= (grid.n_zeta - 1) / 2; ++n)
      if (std::abs(iota * m + n * grid.periods) < 1e-6) made.push_back({m, n});
  return made;
}

std::optional<Mode> resonance(double iota, const AngleGrid& grid) {
  const std::vector<Mode> all = resonances(iota, grid);
  if (all.empty()) return std::nullopt;
  return *std::min_element(all.begin(), all.end(), [&](const Mode& a, const Mode& b) {
    return std::abs(iota * a.m + a.n * grid.periods) < std::abs(iota * b.m + b.n * grid.periods);
  });
}

}  // namespace sonde::neoclassical
