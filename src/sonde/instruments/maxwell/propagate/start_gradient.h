// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include "sonde/instruments/maxwell/propagate/problem.h"

namespace sonde::maxwell::stepping {

/// What a transposed run leaves, made the gradient of its start. `factor(c, at, node)`: cb or cq; `pole(p, c, at,
/// node)`: bP; `decay(c, t, i)`: b at index i of the layers of a curl term, negative outside of them.
template <class Factor, class Pole, class Decay>
State start_gradient(State made, const Grid& grid, const Factor& factor, const Pole& pole, const Decay& decay) {
  // psi of E has begun the step before the first with the w that is left; that of H, of u = -v, has its decay still
  // before it.
  const auto end_psi = [&](double& psi, Component c, std::size_t t, const Triple& at, double w) {
    const CurlTerm term = curl_terms(c)[t];
    const double b = decay(c, t, at[dimension(term.along)]);
    if (b >= 0) psi = is_electric(c) ? psi - term.sign * w : -b * psi;
  };
  for (const Component c : grid.components()) {
    const auto which = static_cast<std::size_t>(c);
    for_each_node(grid, [&](const Triple& at, std::size_t node) {
      double& value = made.fields[which][node];
      for (std::size_t t = 0; t < 2; ++t)
        if (!made.psi[which][t].empty()) end_psi(made.psi[which][t][node], c, t, at, value);
      // From w = cb (lambda_E + what the poles would pass on next) and u = -cq lambda_H.
      const double by = factor(c, at, node);
      value = by == 0 ? 0 : (is_electric(c) ? value : -value) / by;
      for (std::size_t p = 0; is_electric(c) && by != 0 && p < made.polarisation.size(); ++p)
        value -= pole(p, c, at, node) * made.polarisation[p][place(c)][node];
    });
  }
  return made;
}

}  // namespace sonde::maxwell::stepping
