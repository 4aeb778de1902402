// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/read/boozmn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/netcdf.h"
#include "sonde/engine/io/netcdf_writer.h"
#include "sonde/instruments/neoclassical/read/fields_of_file.h"

namespace sonde::neoclassical {
namespace {

constexpr int most_surfaces = 1000000;
constexpr double rounding = 1e-2;  // of a cell of the half mesh: text files give s with five digits

std::optional<double> read_flux(const NetcdfFile& file, Index ns) {
  double flux = 0;
  if (file.has("phi_b"))
    flux = file.numbers("phi_b", Shape{ns}).back();
  else if (file.has("toroidal_flux_b"))
    flux = file.number("toroidal_flux_b");
  if (!std::isfinite(flux) || flux == 0) return std::nullopt;
  return flux / (2 * std::numbers::pi);
}

std::vector<double> read_radii(const NetcdfFile& file, Index ns) {
  const Shape shape = file.shape("jlist");
  const std::vector<double> list = file.numbers("jlist");
  std::vector<double> s;
  for (const double j : list) {
    if (!(j >= 2 && j <= static_cast<double>(ns)) || j != std::floor(j))
      throw Error(ErrorKind::bad_file, fmt::format("{}: jlist holds {}, expected 2 to ns_b = {}", file.path(), j, ns));
    s.push_back((j - 1.5) / static_cast<double>(ns - 1));
    if (s.size() > 1 && !(s.back() > s[s.size() - 2]))
      throw Error(ErrorKind::bad_file, fmt::format("{}: jlist does not increase at {}", file.path(), j));
  }
  if (s.empty() || shape.rank() != 1)
    throw Error(ErrorKind::bad_file, fmt::format("{}: jlist has the shape {}", file.path(), shape.text()));
  return s;
}

/// Row 0 is added again, as zeros.
Array padded(const std::vector<double>& half) {
  std::vector<double> full{0};
  full.insert(full.end(), half.begin(), half.end());
  const auto size = static_cast<Index>(full.size());
  return Array::from(full, {size});
}

/// jlist from radii, which must lie on the half mesh.
std::vector<std::int32_t> jlist_of(const BoozerFile& file) {
  std::vector<std::int32_t> list;
  for (const double s : file.s) {
    const double j = s * static_cast<double>(file.ns - 1) + 1.5;
    if (file.ns < 3 || std::abs(j - std::round(j)) > rounding || j < 1.5 || j > static_cast<double>(file.ns) + rounding)
      throw Error(
          ErrorKind::not_supported,
          fmt::format("{}: the surface s = {:.6g} is not on a half mesh of {} surfaces, which a boozmn file needs",
                      file.path, s, file.ns));
    list.push_back(static_cast<std::int32_t>(std::lround(j)));
  }
  return list;
}

/// Profiles on the whole half mesh, from wherever they are.
std::vector<double> on_half_mesh(const BoozerFile& file, const std::vector<double>& profile) {
  std::vector<double> values;
  for (Index j = 1; j < file.ns; ++j) {
    double s = (static_cast<double>(j) - 0.5) / static_cast<double>(file.ns - 1);
    for (const double own : file.profile_s)  // a rounded radius keeps its value
      if (std::abs(own - s) * static_cast<double>(file.ns - 1) < rounding) s = own;
    values.push_back(radial_rule(file.profile_s, s)(profile));
  }
  return values;
}

}  // namespace

BoozerFile read_boozmn(const std::string& path) {
  require_readable(path);
  const NetcdfFile file = NetcdfFile::open(path);
  BoozerFile boozer;
  boozer.path = path;
  boozer.periods = bounded_integer(file, "nfp_b", 1, 10000);
  boozer.ns = bounded_integer(file, "ns_b", 3, most_surfaces);
  boozer.asymmetric = read_asymmetric(file);
  boozer.psi_a = read_flux(file, boozer.ns);
  const Index ns = boozer.ns;
  for (Index j = 1; j < ns; ++j)
    boozer.profile_s.push_back((static_cast<double>(j) - 0.5) / static_cast<double>(ns - 1));
  boozer.iota = half_mesh(file, "iota_b", ns);
  boozer.b_theta = half_mesh(file, "buco_b", ns);
  boozer.b_zeta = half_mesh(file, "bvco_b", ns);
  if (file.has("pres_b")) boozer.pressure = half_mesh(file, "pres_b", ns);
  if (file.has("beta_b")) boozer.beta = half_mesh(file, "beta_b", ns);
  const auto optional_number = [&](const char* name) { return file.has(name) ? finite_number(file, name) : 0.0; };
  boozer.aspect = optional_number("aspect_b");
  boozer.r_max = optional_number("rmax_b");
  boozer.r_min = optional_number("rmin_b");
  boozer.beta_axis = optional_number("betaxis_b");

  boozer.s = read_radii(file, ns);
  boozer.modes = read_modes(file, "ixm_b", "ixn_b", boozer.periods);
  if (std::find(boozer.modes.begin(), boozer.modes.end(), Mode{}) == boozer.modes.end())
    throw Error(ErrorKind::bad_file, fmt::format("{}: ixm_b, ixn_b have no mode (0,0)", path));
  for (const Mode& mode : boozer.modes) {
    boozer.mboz = std::max(boozer.mboz, mode.m + 1);
    boozer.nboz = std::max(boozer.nboz, std::abs(mode.n));
  }
  const auto rows = static_cast<Index>(boozer.s.size()), columns = static_cast<Index>(boozer.modes.size());
  const auto table = [&](const std::string& symmetric, const std::string& other, bool even) {
    const std::string extra = boozer.asymmetric ? other : "";
    return even ? read_table(file, symmetric, extra, rows, columns) : read_table(file, extra, symmetric, rows, columns);
  };
  const auto optional_table = [&](const std::string& symmetric, const std::string& other, bool even) {
    return file.has(symmetric) && (!boozer.asymmetric || file.has(other)) ? table(symmetric, other, even)
                                                                          : HarmonicTable{};
  };
  boozer.b = table("bmnc_b", "bmns_b", true);
  boozer.r = optional_table("rmnc_b", "rmns_b", true);
  boozer.z = optional_table("zmns_b", "zmnc_b", false);
  boozer.zeta_shift = optional_table("pmns_b", "pmnc_b", false);
  for (std::vector<double>* shift : {&boozer.zeta_shift.cosine, &boozer.zeta_shift.sine})
    for (double& value : *shift) value = -value;  // p of the file is the geometric angle minus that of Boozer
  boozer.jacobian = optional_table("gmn_b", "gmns_b", true);
  return boozer;
}

void write_boozmn(const std::string& path, const BoozerFile& file) {
  Contents out;
  out.add("nfp_b", std::int32_t{file.periods});
  out.add("ns_b", static_cast<std::int32_t>(file.ns));
  out.add("aspect_b", file.aspect);
  out.add("rmax_b", file.r_max);
  out.add("rmin_b", file.r_min);
  out.add("betaxis_b", file.beta_axis);
  out.add("mboz_b", std::int32_t{file.mboz});
  out.add("nboz_b", std::int32_t{file.nboz});
  out.add("mnboz_b", static_cast<std::int32_t>(file.modes.size()));
  out.add_text("version", "sonde");
  out.add("lasym__logical__", std::int32_t{file.asymmetric ? 1 : 0});

  const auto profile = [&](const char* name, const std::vector<double>& values) {
    if (!values.empty()) out.add(name, {"radius"}, padded(on_half_mesh(file, values)));
  };
  profile("iota_b", file.iota);
  profile("pres_b", file.pressure);
  profile("beta_b", file.beta);
  if (file.psi_a) {
    const std::vector<double> slope(static_cast<std::size_t>(file.ns - 1), file.sign_jacobian * *file.psi_a);
    out.add("phip_b", {"radius"}, padded(slope));
    std::vector<double> flux;
    for (Index j = 0; j < file.ns; ++j)
      flux.push_back(2 * std::numbers::pi * *file.psi_a * (static_cast<double>(j) / static_cast<double>(file.ns - 1)));
    out.add("phi_b", {"radius"}, Array::from(flux, {file.ns}));
  }
  profile("bvco_b", file.b_zeta);
  profile("buco_b", file.b_theta);

  const auto rows = static_cast<Index>(file.s.size()), columns = static_cast<Index>(file.modes.size());
  out.add("jlist", {"comput_surfs"}, Array::from(jlist_of(file), {rows}));
  std::vector<std::int32_t> m, n;
  for (const Mode& mode : file.modes) {
    m.push_back(mode.m);
    n.push_back(-mode.n * file.periods);
  }
  out.add("ixm_b", {"mn_mode"}, Array::from(m, {columns}));
  out.add("ixn_b", {"mn_mode"}, Array::from(n, {columns}));
  const auto table = [&](const char* name, const std::vector<double>& values) {
    if (!values.empty()) out.add(name, {"pack_rad", "mn_modes"}, Array::from(values, {rows, columns}));
  };
  const auto negative = [](std::vector<double> values) {
    for (double& value : values) value = -value;
    return values;
  };
  table("bmnc_b", file.b.cosine);
  table("rmnc_b", file.r.cosine);
  table("zmns_b", file.z.sine);
  table("pmns_b", negative(file.zeta_shift.sine));
  table("gmn_b", file.jacobian.cosine);
  table("bmns_b", file.b.sine);
  table("rmns_b", file.r.sine);
  table("zmnc_b", file.z.cosine);
  table("pmnc_b", negative(file.zeta_shift.cosine));
  table("gmns_b", file.jacobian.sine);
  const auto per_surface = [&](const char* name, const std::vector<double>& values) {
    if (!values.empty()) out.add(name, {"comput_surfs"}, Array::from(values, {rows}));
  };
  per_surface("largest_defect", file.largest_defect);
  per_surface("jacobian_defect", file.jacobian_defect);
  out.attribute("schema", std::string("sonde.neoclassical.boozer/1"));
  write_netcdf(path, out, NetcdfFormat::classic);
}

}  // namespace sonde::neoclassical
