// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/fluxes.h"

namespace sonde::neoclassical {

Forces thermodynamic_forces(const Population& population, double er, double electric_drive) {
  const double charge_by_t = population.species.charge / population.temperature;
  const double a2 = population.temperature_slope / population.temperature;
  return {population.density_slope / population.density - 1.5 * a2 - charge_by_t * er, a2,
          -charge_by_t * electric_drive};
}

ThermalMatrix thermal_matrix(const SpeciesMoments& moments) {
  ThermalMatrix made;
  made.L11 = moments.d11_1;
  made.L12 = made.L21 = moments.d11_K;
  made.L22 = moments.d11_KK;
  made.L13 = -moments.d13_1;
  made.L23 = -moments.d13_K;
  made.L31 = moments.d31_1;
  made.L32 = moments.d31_K;
  made.L33 = moments.d33_1;
  return made;
}

Fluxes fluxes(const Population& population, const ThermalMatrix& matrix, const Forces& forces) {
  const double n = population.density;
  return {-n * (matrix.L11 * forces.A1 + matrix.L12 * forces.A2 + matrix.L13 * forces.A3),
          -n * population.temperature * (matrix.L21 * forces.A1 + matrix.L22 * forces.A2 + matrix.L23 * forces.A3),
          -n * (matrix.L31 * forces.A1 + matrix.L32 * forces.A2 + matrix.L33 * forces.A3)};
}

}  // namespace sonde::neoclassical
