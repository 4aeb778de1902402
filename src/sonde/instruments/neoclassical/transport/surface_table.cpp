// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/surface_table.h"

#include <algorithm>
#include <cmath>

namespace sonde::neoclassical {
namespace {

constexpr double least_field = 1e-8;  // E_hat/r, T/m

Dij physical(const TableQuantities& q, double log_nu, double held_nu, double nu_hat) {
  const double above = std::max(0.0, log_nu - held_nu);
  if (above == 0) return {std::exp(q[0]), q[1], q[2], q[3] / nu_hat};
  const double rise = std::exp(above);
  return {std::exp(q[0]) * rise, q[1] / (rise * rise), q[2] / (rise * rise), q[3] / nu_hat};
}

/// The adjoint problem is that of the opposite field.
Dij of_opposite_field(const Dij& d) { return {d.D11, -d.D13, -d.D31, d.D33}; }

}  // namespace

TableQuantities table_quantities(const Dij& d, double nu_hat) {
  return {std::log(d.D11), d.D31, d.D13, d.D33 * nu_hat};
}

double log_of_field(double er_hat, double r) { return std::log(std::max(least_field, std::abs(er_hat) / r)); }

AxisNeighbours::AxisNeighbours(const std::vector<double>& whole, AxisPlace& place)
    : first(place.left > 0 ? place.left - 1 : 0) {
  const std::size_t last = std::min(whole.size() - 1, place.left + 2);
  axis = std::span(whole).subspan(first, last - first + 1);
  place.left -= first;
}

TableQuantities AxisNeighbours::between(const std::array<TableQuantities, 4>& values, const AxisPlace& place) const {
  TableQuantities made{};
  std::array<double, 4> line{};
  for (std::size_t q = 0; q < made.size(); ++q) {
    for (std::size_t k = 0; k < axis.size(); ++k) line[k] = values[k][q];
    made[q] = monotone_between(axis, std::span(line).first(axis.size()), place);
  }
  return made;
}

void TableSlice::add_slopes() {
  const std::size_t fields = log_field.size();
  slopes.resize(values.size());
  std::vector<double> line(fields);
  for (std::size_t row = 0; row * fields < values.size(); ++row)
    for (std::size_t q = 0; q < TableQuantities{}.size(); ++q) {
      for (std::size_t e = 0; e < fields; ++e) line[e] = values[row * fields + e][q];
      const std::vector<double> made = monotone_slopes(log_field, line);
      for (std::size_t e = 0; e < fields; ++e) slopes[row * fields + e][q] = made[e];
    }
}

TableQuantities TableSlice::along_field(std::size_t row, const AxisPlace& place) const {
  const std::size_t at = row * log_field.size() + place.left;
  if (log_field.size() == 1) return values[at];
  TableQuantities made{};
  if (place.part > 1) {
    for (std::size_t q = 0; q < made.size(); ++q)
      made[q] = values[at + 1][q] + (place.part - 1) * place.width * slopes[at + 1][q];
    return made;
  }
  const HermiteWeights weight(place.part);
  for (std::size_t q = 0; q < made.size(); ++q)
    made[q] = weight.value_left * values[at][q] + weight.value_right * values[at + 1][q] +
              place.width * (weight.slope_left * slopes[at][q] + weight.slope_right * slopes[at + 1][q]);
  return made;
}

void SurfaceTable::coefficients(std::span<const double> nu_hat, std::span<const double> er_hat,
                                std::span<SurfaceDij> made) const {
  for (std::size_t i = 0; i < nu_hat.size(); ++i) {
    const double log_nu = std::log(nu_hat[i]), log_field = log_of_field(er_hat[i], at_.r);
    const double held_nu = std::clamp(log_nu, log_nu_.front(), log_nu_.back());
    const double held_field = std::min(log_field, slice_.log_field.back());
    made[i] = {physical(at(held_nu, held_field, log_nu), log_nu, held_nu, nu_hat[i]),
               at_.outside || held_nu != log_nu || held_field != log_field};
    if (!at_.symmetric && er_hat[i] < 0) made[i].d = of_opposite_field(made[i].d);
  }
}

/// Monotone along nu_hat through the four rows around it, each taken at the field first.
TableQuantities SurfaceTable::at(double held_nu, double log_field, double log_nu) const {
  AxisPlace nu = place_on(log_nu_, held_nu);
  const AxisPlace field = place_on(slice_.log_field, log_field);
  const AxisNeighbours rows(log_nu_, nu);
  std::array<TableQuantities, 4> row{};
  for (std::size_t k = 0; k < rows.axis.size(); ++k) row[k] = slice_.along_field(rows.first + k, field);
  TableQuantities made = rows.between(row, nu);
  if (log_nu < held_nu) made[0] += std::clamp((row[1][0] - row[0][0]) / nu.width, -1.0, 1.0) * (log_nu - held_nu);
  return made;
}

}  // namespace sonde::neoclassical
