// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/database/derived_fields.h"

#include <cmath>
#include <numbers>

namespace sonde::neoclassical {
namespace {

void add_factors(const Database& database, DerivedFields& made) {
  const RadialGeometry& geometry = database.geometry;
  const double root_pi = std::sqrt(std::numbers::pi), psia = database.psia;
  for (std::size_t i = 0; i < database.axes.rho.size(); ++i) {
    const double b00 = geometry.B00[i], g = geometry.G[i], iota = geometry.iota[i], r00 = geometry.R00[i];
    const double j = g + iota * geometry.I[i], r = database.axes.rho[i] * database.a_b, q = r * b00;
    made.monkes_to_sfincs_11.push_back(8 * j * b00 * psia * psia / (root_pi * g * g));
    made.monkes_to_sfincs_31.push_back(4 * b00 * psia / (root_pi * g));
    made.monkes_to_sfincs_33.push_back(-2 * b00 / (root_pi * j));
    made.sfincs_to_dkes_11.push_back(root_pi * g * g * b00 / (8 * j * q * q));
    made.sfincs_to_dkes_31.push_back(root_pi * g / (4 * q));
    made.sfincs_to_dkes_33.push_back(-root_pi * j / (2 * b00));
    made.dkes_to_d11_star.push_back(-(8 / std::numbers::pi) * iota * r00);
    made.dkes_to_d31_star.push_back(-(3 / 1.46) * iota * std::sqrt(r / r00) / 2);
  }
}

}  // namespace

DerivedFields derived_fields(const Database& database) {
  DerivedFields made;
  const RadialGeometry& geometry = database.geometry;
  for (std::size_t i = 0; i < database.axes.rho.size(); ++i) {
    const double b00 = geometry.B00[i];
    made.drds.push_back(database.a_b / (2 * database.axes.rho[i]));
    made.dr_tildedr.push_back(2 * database.psia / (database.a_b * database.a_b * b00));
    made.dr_tildeds.push_back(made.dr_tildedr[i] * made.drds[i]);
    for (const double er_tilde : database.axes.Er_tilde) {
      made.Er.push_back(er_tilde * made.dr_tildedr[i] * b00);
      made.Es.push_back(er_tilde * made.dr_tildeds[i] * b00);
      made.Er_to_Ertilde.push_back(1 / made.dr_tildedr[i]);
    }
  }
  if (!geometry.R00.empty() && !geometry.G.empty() && !geometry.I.empty() && !geometry.iota.empty())
    add_factors(database, made);
  return made;
}

}  // namespace sonde::neoclassical
