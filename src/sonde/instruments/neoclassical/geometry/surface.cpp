// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/geometry/surface.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {
namespace {

bool finite(const Series& series) {
  const auto is_finite = [](double value) { return std::isfinite(value); };
  return std::all_of(series.cosine.begin(), series.cosine.end(), is_finite) &&
         std::all_of(series.sine.begin(), series.sine.end(), is_finite);
}

}  // namespace

double Surface::mean_b_theta() const {
  const auto* boozer = std::get_if<BoozerField>(&field);
  return boozer != nullptr ? boozer->b_theta : std::get<GeneralField>(field).b_sub_theta.cosine_of({0, 0});
}

double Surface::mean_b_zeta() const {
  const auto* boozer = std::get_if<BoozerField>(&field);
  return boozer != nullptr ? boozer->b_zeta : std::get<GeneralField>(field).b_sub_zeta.cosine_of({0, 0});
}

double Surface::signgs() const {
  const auto* boozer = std::get_if<BoozerField>(&field);
  const double jacobian =
      boozer != nullptr ? boozer->jacobian_b2 : std::get<GeneralField>(field).jacobian.cosine_of({0, 0});
  return jacobian < 0 ? -1 : 1;
}

bool Surface::symmetric() const {
  const auto* general = std::get_if<GeneralField>(&field);
  return b.symmetric() && (general == nullptr || (general->jacobian.symmetric() && general->b_sub_theta.symmetric() &&
                                                  general->b_sub_zeta.symmetric() && general->b_sup_theta.symmetric() &&
                                                  general->b_sup_zeta.symmetric()));
}

std::optional<std::string> asymmetry_note(const Surface& surface) {
  if (surface.symmetric()) return std::nullopt;
  return "no stellarator symmetry: even and odd parts are not separated, which takes longer, and D13 = -D31 holds "
         "only without a field: with one, onsager_residual says nothing";
}

void require_valid(const Surface& surface) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::bad_input, fmt::format("{}: {}", surface.source, why));
  };
  if (surface.periods < 1) refuse(fmt::format("{} field periods", surface.periods));
  if (!finite(surface.b)) refuse("a harmonic of |B| is not a finite number");
  if (!(surface.reference_field() > 0))
    refuse(fmt::format("the (0,0) harmonic of |B| is {} T, expected one above zero", surface.reference_field()));
  if (!std::isfinite(surface.iota)) refuse("iota is not a finite number");
  if (!std::isfinite(surface.psi_scale) || surface.psi_scale == 0) refuse("dpsi/dr is zero or not a finite number");
  if (const auto* boozer = std::get_if<BoozerField>(&surface.field)) {
    for (const double value : {boozer->b_theta, boozer->b_zeta, boozer->jacobian_b2, boozer->flux})
      if (!std::isfinite(value)) refuse("B_theta, B_zeta or the flux is not a finite number");
    if (boozer->jacobian_b2 == 0 || boozer->flux == 0) refuse("sqrt(g) is zero: G + iota I or the flux is");
  } else {
    const auto& general = std::get<GeneralField>(surface.field);
    for (const Series* series :
         {&general.jacobian, &general.b_sub_theta, &general.b_sub_zeta, &general.b_sup_theta, &general.b_sup_zeta})
      if (!finite(*series)) refuse("a harmonic of the field or of sqrt(g) is not a finite number");
  }
}

}  // namespace sonde::neoclassical
