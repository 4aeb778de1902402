// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/read/wout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/netcdf.h"
#include "sonde/instruments/neoclassical/read/fields_of_file.h"

namespace sonde::neoclassical {
namespace {

constexpr int most_wout_surfaces = 1000000;

/// Against files whose s is not the flux (VMEC's APHI), for which psi_a s would be a wrong flux.
void require_flux_label(const NetcdfFile& file, const std::vector<double>& flux) {
  const double edge = flux.back();
  if (edge == 0) throw Error(ErrorKind::bad_file, fmt::format("{}: phi is 0 at the edge", file.path()));
  for (std::size_t j = 0; j < flux.size(); ++j) {
    const double s = static_cast<double>(j) / static_cast<double>(flux.size() - 1);
    constexpr double rounding = 1e-6;  // files of single precision too
    if (std::abs(flux[j] / edge - s) > rounding)
      throw Error(ErrorKind::not_supported,
                  fmt::format("{}: phi is {:.6g} of its edge at s = {:.6g}: s is not the toroidal flux", file.path(),
                              flux[j] / edge, s))
          .hint("make the equilibrium with APHI = 1");
  }
}

void check_signs(const Wout& wout) {
  for (std::size_t j = 0; j < wout.s.size(); ++j) {
    const auto row = static_cast<Index>(j);
    const auto zero = std::find(wout.modes.begin(), wout.modes.end(), Mode{});
    if (zero == wout.modes.end())
      throw Error(ErrorKind::bad_file, fmt::format("{}: xm_nyq, xn_nyq have no mode (0,0)", wout.path));
    const auto at = static_cast<std::size_t>(zero - wout.modes.begin());
    const double jacobian = wout.jacobian.cosines(row)[at], b = wout.b.cosines(row)[at];
    if (!(b > 0))
      throw Error(ErrorKind::bad_file, fmt::format("{}: bmnc(0,0) is {} at s = {:.6g}", wout.path, b, wout.s[j]));
    if (!(jacobian * wout.sign_jacobian > 0))
      throw Error(ErrorKind::bad_file, fmt::format("{}: gmnc(0,0) is {:.6g} at s = {:.6g}, but signgs is {}", wout.path,
                                                   jacobian, wout.s[j], wout.sign_jacobian));
    require_equal_signs(wout.path, wout.s[j], wout.psi_a,
                        wout.b_sub_zeta.cosines(row)[at] + wout.iota[j] * wout.b_sub_theta.cosines(row)[at]);
  }
}

Series selected(const Series& series, const std::vector<bool>& kept) {
  Series chosen;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) continue;
    chosen.modes.push_back(series.modes[i]);
    chosen.cosine.push_back(series.cosine[i]);
    if (!series.sine.empty()) chosen.sine.push_back(series.sine[i]);
  }
  return chosen;
}

}  // namespace

Wout read_wout(const std::string& path) {
  require_readable(path);
  const NetcdfFile file = NetcdfFile::open(path);
  Wout wout;
  wout.path = path;
  wout.periods = bounded_integer(file, "nfp", 1, 10000);
  wout.ns = bounded_integer(file, "ns", 3, most_wout_surfaces);
  wout.mpol = bounded_integer(file, "mpol", 1, 10000);
  wout.ntor = bounded_integer(file, "ntor", 0, 10000);
  wout.sign_jacobian = bounded_integer(file, "signgs", -1, 1);
  wout.asymmetric = read_asymmetric(file);
  const std::vector<double> flux = finite_numbers(file, "phi", {wout.ns});
  require_flux_label(file, flux);
  wout.psi_a = flux.back() / (2 * std::numbers::pi);
  wout.major_radius = finite_number(file, "Rmajor_p");
  wout.minor_radius = finite_number(file, "Aminor_p");
  wout.volume = finite_number(file, "volume_p");
  const auto optional_number = [&](const char* name) { return file.has(name) ? finite_number(file, name) : 0.0; };
  wout.aspect = optional_number("aspect");
  wout.r_max = optional_number("rmax_surf");
  wout.r_min = optional_number("rmin_surf");
  wout.beta_axis = optional_number("betaxis");

  const Index ns = wout.ns;
  for (Index j = 1; j < ns; ++j) wout.s.push_back((static_cast<double>(j) - 0.5) / static_cast<double>(ns - 1));
  wout.iota = half_mesh(file, "iotas", ns);
  const auto optional_profile = [&](const char* name) {
    return file.has(name) ? half_mesh(file, name, ns) : std::vector<double>(wout.s.size(), 0.0);
  };
  wout.pressure = optional_profile("pres");
  wout.beta = optional_profile("beta_vol");

  wout.modes = read_modes(file, "xm_nyq", "xn_nyq", wout.periods);
  const auto columns = static_cast<Index>(wout.modes.size());
  const auto half_table = [&](const std::string& name) {
    return read_table(file, name + "mnc", wout.asymmetric ? name + "mns" : "", ns, columns, 1);
  };
  wout.b = half_table("b");
  wout.jacobian = half_table("g");
  wout.b_sub_theta = half_table("bsubu");
  wout.b_sub_zeta = half_table("bsubv");
  wout.b_sup_theta = half_table("bsupu");
  wout.b_sup_zeta = half_table("bsupv");
  check_signs(wout);

  wout.shape_modes = read_modes(file, "xm", "xn", wout.periods);
  const auto shape_columns = static_cast<Index>(wout.shape_modes.size());
  const auto if_asymmetric = [&](const char* name) { return wout.asymmetric ? name : ""; };
  wout.lambda = read_table(file, if_asymmetric("lmnc"), "lmns", ns, shape_columns, 1);
  wout.r = read_table(file, "rmnc", if_asymmetric("rmns"), ns, shape_columns);
  wout.z = read_table(file, if_asymmetric("zmnc"), "zmns", ns, shape_columns);
  return wout;
}

namespace {

void require_inside(const Wout& wout, double s) {
  if (!(s > 0 && s <= 1))
    throw Error(ErrorKind::bad_input, fmt::format("{}: s = {} is outside of 0 < s <= 1", wout.path, s));
}

}  // namespace

RadialProfile profile_at(const Wout& wout, double s) {
  require_inside(wout, s);
  const RadialRule rule = radial_rule(wout.s, s);
  const auto constant = [&](const HarmonicTable& table) { return rule(table, wout.modes).cosine_of({0, 0}); };
  return {s, rule(wout.iota), constant(wout.b_sub_theta), constant(wout.b_sub_zeta), constant(wout.b)};
}

Surface surface_at(const Wout& wout, double s, double min_bmn, Notes& notes) {
  require_inside(wout, s);
  const RadialRule rule = radial_rule(wout.s, s);
  if (rule.continued)
    notes.push_back(
        fmt::format("s = {:.6g} is beyond the half mesh ({:.6g} to {:.6g}): the cubic of the end cell is "
                    "continued",
                    s, wout.s.front(), wout.s.back()));
  Surface surface;
  surface.source = wout.path;
  surface.angles = "vmec";
  surface.periods = wout.periods;
  surface.iota = rule(wout.iota);
  surface.s = s;
  surface.b = rule(wout.b, wout.modes);
  GeneralField field{rule(wout.jacobian, wout.modes), rule(wout.b_sub_theta, wout.modes),
                     rule(wout.b_sub_zeta, wout.modes), rule(wout.b_sup_theta, wout.modes),
                     rule(wout.b_sup_zeta, wout.modes)};
  if (min_bmn > 0) {
    const double least = min_bmn * surface.reference_field();
    std::vector<bool> kept;
    for (std::size_t i = 0; i < surface.b.modes.size(); ++i)
      kept.push_back(surface.b.modes[i] == Mode{} || std::abs(surface.b.cosine[i]) >= least ||
                     (!surface.b.sine.empty() && std::abs(surface.b.sine[i]) >= least));
    const std::size_t all = kept.size();
    for (Series* series :
         {&surface.b, &field.jacobian, &field.b_sub_theta, &field.b_sub_zeta, &field.b_sup_theta, &field.b_sup_zeta})
      *series = selected(*series, kept);
    notes.push_back(fmt::format("min_bmn = {:g}: {} of {} harmonics are kept", min_bmn, surface.b.modes.size(), all));
  }
  surface.field = std::move(field);
  require_valid(surface);
  return surface;
}

}  // namespace sonde::neoclassical
