// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/read/analytic.h"

#include <cmath>

namespace sonde::neoclassical {

Surface make_surface(const AnalyticSurface& analytic) {
  Surface surface;
  surface.source = analytic.name;
  surface.angles = "boozer";
  surface.periods = analytic.periods;
  surface.iota = analytic.iota;
  surface.psi_scale = analytic.psi_p;
  surface.b = analytic.b;
  const double g_iota_i = analytic.b_zeta + analytic.iota * analytic.b_theta;
  surface.field = analytic.sign_jacobian == 0
                      ? BoozerField{analytic.b_theta, analytic.b_zeta, std::abs(g_iota_i), 1}
                      : BoozerField{analytic.b_theta, analytic.b_zeta, analytic.sign_jacobian * g_iota_i,
                                    std::copysign(1.0, g_iota_i)};
  require_valid(surface);
  return surface;
}

AnalyticSurface analytic_demo() {
  AnalyticSurface demo{"analytic-demo", 5, 0.85, 1, 0.05, 1, {}};
  demo.b = {{{0, 0}, {1, 0}, {1, 1}, {2, -1}}, {1, 0.06, 0.025, 0.01}};
  return demo;
}

}  // namespace sonde::neoclassical
