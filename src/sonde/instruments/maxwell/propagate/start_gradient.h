// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include "sonde/instruments/maxwell/propagate/problem.h"
#include "sonde/instruments/maxwell/propagate/sense.h"

namespace sonde::maxwell::stepping {

/// What a transposed run leaves, made the gradient of the fields before the first step; or the gradient of those behind
/// the last one, made what a transposed run begins with. `factor(c, at, node)`: cb or cq; `pole(p, c, at,
/// node)`: bP; `decay(c, t, i)`: b at index i of the layers of a curl term, negative outside of them.
template <class Factor, class Pole, class Decay>
State converted(State made, RunEnd end, const Grid& grid, const Factor& factor, const Pole& pole, const Decay& decay) {
  // psi of E has begun the step before the first with the w that is left; that of H, of u = -v, has its decay still
  // before it.
  const auto end_psi = [&](double& psi, Component c, std::size_t t, const Triple& at, double w) {
    const CurlTerm term = curl_terms(c)[t];
    const double b = decay(c, t, at[dimension(term.along)]);
    if (b >= 0) psi = is_electric(c) ? psi - term.sign * w : -b * psi;
  };
  // Both have their decay before them.
  const auto begin_psi = [&](double& psi, Component c, std::size_t t, const Triple& at) {
    const double b = decay(c, t, at[dimension(curl_terms(c)[t].along)]);
    psi = b > 0 ? (is_electric(c) ? psi : -psi) / b : 0;
  };
  for (const Component c : grid.components()) {
    const auto which = static_cast<std::size_t>(c);
    for_each_node(grid, [&](const Triple& at, std::size_t node) {
      double& value = made.fields[which][node];
      for (std::size_t t = 0; t < 2; ++t)
        if (!made.psi[which][t].empty())
          end == RunEnd::first ? end_psi(made.psi[which][t][node], c, t, at, value)
                               : begin_psi(made.psi[which][t][node], c, t, at);
      // w = cb (lambda_E + what the poles would pass on next) and u = -cq lambda_H.
      const double by = factor(c, at, node);
      double passed = 0;
      for (std::size_t p = 0; is_electric(c) && by != 0 && p < made.polarisation.size(); ++p)
        passed += pole(p, c, at, node) * made.polarisation[p][place(c)][node];
      const double sign = is_electric(c) ? 1 : -1;
      value = end == RunEnd::last ? sign * by * (value + passed) : by == 0 ? 0 : sign * value / by - passed;
    });
  }
  return made;
}

}  // namespace sonde::maxwell::stepping
