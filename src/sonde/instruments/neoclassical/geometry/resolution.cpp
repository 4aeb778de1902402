// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/geometry/resolution.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {
namespace {

constexpr double negligible = 1e-3;  // of the variation of |B|
/// D11 goes with the square of the variation and is off by as much as is missing or more: 3x3 angles of the li383
/// equilibrium miss 28 % and D11 is 32 % off. Beyond a quarter it is no estimate; below, a coarse grid may serve a
/// trial, and the note says what it is worth.
constexpr double too_much = 0.25;

/// The share of the modes with |m| > most_m or |n| > most_n.
double share_beyond(const Series& b, Index most_m, Index most_n) {
  double beyond = 0, all = 0;
  for (std::size_t i = 0; i < b.modes.size(); ++i) {
    const Mode mode = b.modes[i];
    if (mode == Mode{}) continue;
    const double amplitude = std::hypot(b.cosine[i], b.sine.empty() ? 0 : b.sine[i]);
    all += amplitude;
    if (std::abs(mode.m) > most_m || std::abs(mode.n) > most_n) beyond += amplitude;
  }
  return all > 0 ? beyond / all : 0;
}

struct Counts {
  Index n_theta, n_zeta;
};

/// 2.25 points for each mode up to the highest that counts; odd.
Counts counts_for(const Series& b) {
  const auto count = [&](Index most, auto&& beyond) {
    Index highest = 0;
    while (highest < most && beyond(highest) > negligible) ++highest;
    return highest == 0 ? Index{1} : static_cast<Index>(std::ceil(2.25 * static_cast<double>(2 * highest + 1))) | 1;
  };
  const Mode largest = b.largest();
  return {count(largest.m, [&](Index m) { return share_beyond(b, m, largest.n); }),
          count(largest.n, [&](Index n) { return share_beyond(b, largest.m, n); })};
}

std::string told(const Surface& surface, Index n_theta, Index n_zeta) {
  return fmt::format("{}: n_theta = {}, n_zeta = {}: modes beyond m = {}, n = {} hold {:.3g} % of how |B| varies",
                     surface.source, n_theta, n_zeta, (n_theta - 1) / 2, (n_zeta - 1) / 2,
                     100 * unresolved_share(surface, n_theta, n_zeta));
}

}  // namespace

double unresolved_share(const Surface& surface, Index n_theta, Index n_zeta) {
  return share_beyond(surface.b, (n_theta - 1) / 2, (n_zeta - 1) / 2);
}

std::optional<std::string> resolution_note(const Surface& surface, Index n_theta, Index n_zeta) {
  require_resolution(surface, n_theta, n_zeta);
  if (unresolved_share(surface, n_theta, n_zeta) <= negligible) return std::nullopt;
  const Counts wanted = counts_for(surface.b);
  return fmt::format("{}, which no residual shows; {} x {} resolve them", told(surface, n_theta, n_zeta),
                     wanted.n_theta, wanted.n_zeta);
}

void require_resolution(const Surface& surface, Index n_theta, Index n_zeta) {
  if (unresolved_share(surface, n_theta, n_zeta) <= too_much) return;
  const Counts wanted = counts_for(surface.b);
  throw Error(ErrorKind::bad_input, told(surface, n_theta, n_zeta))
      .hint(fmt::format("n_theta = {}, n_zeta = {} resolve them", wanted.n_theta, wanted.n_zeta));
}

}  // namespace sonde::neoclassical
