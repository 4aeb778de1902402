// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/tabulate/radial_scales.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/boozer/transform.h"

namespace sonde::neoclassical {
namespace {

void append(RadialGeometry& geometry, const RadialProfile& profile, const std::string& path) {
  if (!profile.r00)
    throw Error(ErrorKind::bad_input, fmt::format("{}: no R_00 at s = {:.6g}", path, profile.s))
        .hint("take a file with the shape of the surfaces (rmnc_b), or the VMEC equilibrium");
  geometry.B00.push_back(profile.b00);
  geometry.R00.push_back(*profile.r00);
  geometry.G.push_back(profile.b_zeta);
  geometry.I.push_back(profile.b_theta);
  geometry.iota.push_back(profile.iota);
}

/// Boozer angles at these radii.
BoozerFile own_angles(const Wout& wout, std::vector<double> s, Notes& notes) {
  std::sort(s.begin(), s.end());
  s.erase(std::unique(s.begin(), s.end()), s.end());
  return boozer_transform(wout, std::move(s), default_resolution(wout), notes);
}

/// One of the surfaces that were transformed, with B_00 and R_00 in its Boozer angles.
RadialProfile profile_in(const BoozerFile& angles, const Wout& wout, double s) {
  const auto row = std::find(angles.s.begin(), angles.s.end(), s) - angles.s.begin();
  const auto zero =
      static_cast<std::size_t>(std::find(angles.modes.begin(), angles.modes.end(), Mode{0, 0}) - angles.modes.begin());
  RadialProfile profile = profile_at(wout, s);
  profile.b00 = angles.b.cosines(row)[zero];
  profile.r00 = angles.r.cosines(row)[zero];
  return profile;
}

/// R_00 of the outermost half surface, which stands for the edge. What the transform has to say of that surface is left
/// out: nobody asked for it, and R_00 is not what suffers.
double edge_r00(const Wout& wout) {
  const double edge = wout.s.back();
  Notes unasked;
  return *profile_in(own_angles(wout, {edge}, unasked), wout, edge).r00;
}

double minor_radius_of(double volume, double r00_edge) {
  return std::sqrt(volume / (2 * std::numbers::pi * std::numbers::pi * r00_edge));
}

double own_minor_radius(const Equilibrium& equilibrium) {
  const BoozerFile* file = equilibrium.boozer();
  if (file == nullptr || !file->minor_radius)
    throw Error(ErrorKind::bad_input, fmt::format("{}: neither volume nor minor radius", equilibrium.path()))
        .hint("give the VMEC equilibrium with wout = FILE");
  return *file->minor_radius;
}

/// The equilibrium that says R_00 of the edge in Boozer angles, at its outermost surface.
double edge_r00(const Equilibrium& boozer) {
  const RadialProfile edge = boozer.profile(boozer.radii().back());
  if (!edge.r00) throw Error(ErrorKind::bad_input, fmt::format("{}: no R_00 at the edge", boozer.path()));
  return *edge.r00;
}

}  // namespace

RadialScales radial_scales(const Equilibrium& equilibrium, const std::optional<Equilibrium>& boozer,
                           std::span<const double> rho, Notes& notes) {
  RadialScales scales;
  scales.psia = std::abs(equilibrium.psi_a());
  std::vector<double> s;
  for (const double r : rho) {
    if (!(r > 0) || r > 1)
      throw Error(ErrorKind::bad_input, fmt::format("rho = {}: expected a radius above 0, at most 1", r));
    s.push_back(r * r);
  }
  const Wout* wout = equilibrium.wout();
  if (boozer || wout == nullptr) {
    const Equilibrium& file = boozer ? *boozer : equilibrium;
    for (const double radius : s) append(scales.geometry, file.profile(radius), file.path());
    scales.a_b = wout != nullptr ? minor_radius_of(wout->volume, edge_r00(file)) : own_minor_radius(equilibrium);
    return scales;
  }
  const BoozerFile angles = own_angles(*wout, s, notes);
  for (const double radius : s) append(scales.geometry, profile_in(angles, *wout, radius), wout->path);
  scales.a_b = minor_radius_of(wout->volume, edge_r00(*wout));
  return scales;
}

double minor_radius(const Equilibrium& equilibrium, const std::optional<Equilibrium>& boozer) {
  const Wout* wout = equilibrium.wout();
  if (wout == nullptr) return own_minor_radius(equilibrium);
  if (boozer) return minor_radius_of(wout->volume, edge_r00(*boozer));
  return minor_radius_of(wout->volume, edge_r00(*wout));
}

Lengths lengths_at(const Equilibrium& equilibrium, const std::vector<double>& rho) {
  Notes notes;
  try {
    RadialScales scales = radial_scales(equilibrium, std::nullopt, rho, notes);
    return {scales.a_b, std::move(scales.geometry.R00)};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input || equilibrium.boozer() == nullptr) throw;
  }
  return {minor_radius(equilibrium, std::nullopt),
          std::vector<double>(rho.size(), equilibrium.boozer()->major_radius.value_or(0))};
}

}  // namespace sonde::neoclassical
