// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/geometry/sampled_surface.h"

#include <fmt/format.h>

#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/geometry/resolution.h"

namespace sonde::neoclassical {
namespace {

void sample_field(const BoozerField& field, SampledSurface& sampled) {
  const std::size_t count = sampled.b.size();
  sampled.b_sub_theta.assign(count, field.b_theta);
  sampled.b_sub_zeta.assign(count, field.b_zeta);
  for (const double b : sampled.b) {
    const double jacobian = field.jacobian_b2 / (b * b), b_sup_zeta = field.flux / std::abs(jacobian);
    sampled.jacobian.push_back(jacobian);
    sampled.b_sup_theta.push_back(sampled.iota * b_sup_zeta);
    sampled.b_sup_zeta.push_back(b_sup_zeta);
  }
}

void sample_field(const GeneralField& field, SampledSurface& sampled) {
  sampled.jacobian = on_grid(field.jacobian, sampled.grid).value;
  sampled.b_sub_theta = on_grid(field.b_sub_theta, sampled.grid).value;
  sampled.b_sub_zeta = on_grid(field.b_sub_zeta, sampled.grid).value;
  sampled.b_sup_theta = on_grid(field.b_sup_theta, sampled.grid).value;
  sampled.b_sup_zeta = on_grid(field.b_sup_zeta, sampled.grid).value;
}

}  // namespace

std::vector<double> SampledSurface::radial_drift() const {
  std::vector<double> drift(b.size());
  for (std::size_t i = 0; i < b.size(); ++i)
    drift[i] = (b_sub_theta[i] * db_dzeta[i] - b_sub_zeta[i] * db_dtheta[i]) / (jacobian[i] * b[i] * b[i] * b[i]);
  return drift;
}

double SampledSurface::average(std::span<const double> values) const {
  double sum = 0, weights = 0;
  for (std::size_t i = 0; i < jacobian.size(); ++i) {
    sum += values[i] * std::abs(jacobian[i]);
    weights += std::abs(jacobian[i]);
  }
  return sum / weights;
}

SampledSurface sample(const Surface& surface, Index n_theta, Index n_zeta) {
  require_valid(surface);
  SampledSurface sampled;
  sampled.grid = {n_theta, n_zeta, surface.periods};
  require_odd(sampled.grid);
  require_resolution(surface, n_theta, n_zeta);
  sampled.iota = surface.iota;
  sampled.psi_scale = surface.psi_scale;
  sampled.reference_field = surface.reference_field();
  sampled.symmetric = surface.symmetric();
  SeriesOnGrid b = on_grid(surface.b, sampled.grid);
  sampled.b = std::move(b.value);
  sampled.db_dtheta = std::move(b.by_theta);
  sampled.db_dzeta = std::move(b.by_zeta);
  for (const double value : sampled.b)
    if (!(value > 0))
      throw Error(ErrorKind::bad_input, fmt::format("{}: |B| is {} T somewhere on the surface", surface.source, value));
  std::visit([&](const auto& field) { sample_field(field, sampled); }, surface.field);
  double weights = 0;
  std::vector<double> squares;
  for (std::size_t i = 0; i < sampled.b.size(); ++i) {
    if (!(sampled.jacobian[i] * sampled.jacobian[0] > 0))
      throw Error(ErrorKind::bad_input, fmt::format("{}: sqrt(g) changes its sign on the surface", surface.source));
    weights += std::abs(sampled.jacobian[i]);
    squares.push_back(sampled.b[i] * sampled.b[i]);
  }
  sampled.b2_mean = sampled.average(squares);
  const double cell = 4 * std::numbers::pi * std::numbers::pi / static_cast<double>(sampled.grid.count());
  sampled.volume_prime = weights * cell;
  return sampled;
}

}  // namespace sonde::neoclassical
