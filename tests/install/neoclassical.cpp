// SPDX-License-Identifier: Apache-2.0
// Uses the installed instrument: exit status 0 when Onsager symmetry holds on a coarse grid.
#include <cmath>
#include <cstdio>

#include "sonde/instruments/neoclassical/read/analytic.h"
#include "sonde/instruments/neoclassical/solve/plan.h"

int main() {
  namespace nc = sonde::neoclassical;
  const nc::Plan plan = nc::Plan::prepare(nc::make_surface(nc::analytic_demo()), {5, 7, 6});
  const nc::Coefficients made = plan.solve({.nu_hat = 1e-2, .epsi_hat = 1e-3});
  std::printf("D31 %.6g, D13 %.6g\n", made.D31, made.D13);
  return std::abs(made.D31 + made.D13) < 1e-12 * std::abs(made.D31) ? 0 : 1;
}
