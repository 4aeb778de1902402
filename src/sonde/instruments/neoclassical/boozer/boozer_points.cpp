// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/boozer/boozer_points.h"

#include <algorithm>
#include <cmath>

namespace sonde::neoclassical {

BoozerPoints boozer_points(const VmecSurface& vmec, const AngleGrid& grid, bool asymmetric) {
  // A symmetric field has the same terms at (-theta, -zeta): half the range of theta, its inner rows twice.
  const Index rows = asymmetric ? grid.n_theta : grid.n_theta / 2 + 1;
  const SeriesOnGrid b = on_grid(vmec.b, grid, rows), sqrt_g = on_grid(vmec.sqrt_g, grid, rows);
  const SeriesOnGrid w = on_grid(vmec.w, grid, rows), lambda = on_grid(vmec.lambda, grid, rows);
  BoozerPoints points;
  points.values[field] = b.value;
  points.values[radius] = on_grid(vmec.r, grid, rows).value;
  points.values[height] = on_grid(vmec.z, grid, rows).value;
  points.total = static_cast<double>(grid.count());
  const std::size_t count = b.value.size();
  for (auto* list : {&points.theta, &points.zeta, &points.weight, &points.values[jacobian], &points.values[shift]})
    list->resize(count);
  std::vector<double> constant(count);  // sqrt(g_B) B^2 / (G + iota I)
  const double current = vmec.b_theta, g_iota_i = vmec.g_iota_i(), iota = vmec.iota;
  double sum = 0, weights = 0;
  for (std::size_t at = 0; at < count; ++at) {
    const auto i = static_cast<Index>(at) / grid.n_zeta, j = static_cast<Index>(at) % grid.n_zeta;
    const double p = (w.value[at] - current * lambda.value[at]) / g_iota_i;
    const double p_theta = (w.by_theta[at] - current * lambda.by_theta[at]) / g_iota_i;
    const double p_zeta = (w.by_zeta[at] - current * lambda.by_zeta[at]) / g_iota_i;
    points.theta[at] = grid.theta(i) + lambda.value[at] + iota * p;
    points.zeta[at] = grid.zeta(j) + p;
    points.values[shift][at] = p;
    const double turn = (1 + lambda.by_theta[at]) * (1 + p_zeta) + (iota - lambda.by_zeta[at]) * p_theta;
    const double times = asymmetric || i == 0 || 2 * i == grid.n_theta ? 1 : 2;
    points.weight[at] = times * turn;
    const double b2 = b.value[at] * b.value[at];
    points.values[jacobian][at] = g_iota_i / b2;
    constant[at] = sqrt_g.value[at] / turn * b2 / g_iota_i;
    sum += times * constant[at];
    weights += times;
  }
  for (const double value : constant)
    points.jacobian_defect = std::max(points.jacobian_defect, std::abs(value / (sum / weights) - 1));
  return points;
}

}  // namespace sonde::neoclassical
