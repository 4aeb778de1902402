// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/run/field_axis.h"

#include <fmt/format.h>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {

FieldScale field_scale(const Surface& surface) { return {.er_hat = 1 / surface.psi_scale}; }

FieldScale field_scale(double rho, double a_b, double psia) {
  return {.er_hat = a_b / (2 * rho), .er_tilde = psia / (a_b * rho)};
}

std::vector<double> FieldAxis::epsi_hat(const FieldScale& scale) const {
  if (kind == FieldKind::epsi_hat) return values;
  const std::optional<double>& factor = kind == FieldKind::er_hat ? scale.er_hat : scale.er_tilde;
  if (!factor)
    throw Error(ErrorKind::bad_input, fmt::format("{} needs the radius and flux of an equilibrium", name(kind)))
        .hint("this surface takes epsi_hat or er_hat");
  std::vector<double> fields;
  for (const double value : values) fields.push_back(*factor * value);
  return fields;
}

}  // namespace sonde::neoclassical
