// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/problem.h"

namespace sonde::maxwell {

Problem without_medium(const Problem& problem) {
  Problem made{problem.grid, {}, problem.pml, problem.dt, problem.loss, problem.part};
  made.medium.poles.resize(problem.medium.poles.size());
  return made;
}

State make_state(const Problem& problem) {
  State state;
  const auto count = static_cast<std::size_t>(problem.grid.count());
  for (const Component c : problem.grid.components()) {
    const auto which = static_cast<std::size_t>(c);
    state.fields[which].resize(count);
    for (std::size_t t = 0; t < 2; ++t)
      if (const CurlTerm term = curl_terms(c)[t]; problem.grid.has(term.of) && problem.grid.has(term.along))
        state.psi[which][t].resize(count);
  }
  state.polarisation.resize(problem.medium.poles.size());
  for (auto& pole : state.polarisation)
    for (const Component c : problem.grid.components())
      if (is_electric(c)) pole[place(c)].resize(count);
  return state;
}

}  // namespace sonde::maxwell
