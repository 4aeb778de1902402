// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/read/equilibrium.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/netcdf.h"
#include "sonde/instruments/neoclassical/read/analytic.h"
#include "sonde/instruments/neoclassical/read/bc.h"
#include "sonde/instruments/neoclassical/read/boozmn.h"
#include "sonde/instruments/neoclassical/read/dkes.h"
#include "sonde/instruments/neoclassical/read/fields_of_file.h"
#include "sonde/instruments/neoclassical/read/text_lines.h"

namespace sonde::neoclassical {
namespace {

constexpr const char* demo = "analytic-demo";

Error contradiction(const std::string& path, const std::string& what) {
  return Error(ErrorKind::bad_input, fmt::format("{}: {}", path, what));
}

bool differs(double given, double own) { return std::abs(given - own) > 1e-6 * std::abs(own); }

void check_against(const SurfaceOptions& options, const Wout& wout) {
  if (options.psi_a && differs(*options.psi_a, wout.psi_a))
    throw contradiction(wout.path,
                        fmt::format("psi_a = {:.8g} was given, but the file has {:.8g}", *options.psi_a, wout.psi_a));
  if (options.signgs && *options.signgs != wout.sign_jacobian)
    throw contradiction(wout.path,
                        fmt::format("signgs = {} was given, but the file has {}", *options.signgs, wout.sign_jacobian));
  if (options.wout) throw contradiction(wout.path, "wout is for boozmn files; this is a wout itself");
}

/// A Boozer file and the wout that it is said to be made from. Two files of one equilibrium agree in what VMEC gives on
/// both but for the digits they store; where one of them has another resolution, by less than this.
void require_same_equilibrium(const BoozerFile& file, const Wout& wout) {
  constexpr double tolerable = 1e-3;
  const auto require = [&](const std::string& what, double own, double given) {
    if (std::abs(own - given) <= tolerable * std::max(std::abs(own), std::abs(given))) return;
    throw contradiction(file.path, fmt::format("is not of the equilibrium {}: {} is {:.6g} here and {:.6g} there",
                                               wout.path, what, own, given))
        .hint("give the wout that this file was made from");
  };
  if (wout.periods != file.periods)
    throw contradiction(file.path,
                        fmt::format("has {} field periods, but {} has {}", file.periods, wout.path, wout.periods));
  if (file.psi_a) require("psi_a", *file.psi_a, wout.psi_a);
  // In the middle: near axis and edge meshes of another resolution differ most.
  const double s = file.profile_s[file.profile_s.size() / 2];
  const RadialProfile there = profile_at(wout, s);
  const RadialRule here = radial_rule(file.profile_s, s);
  require(fmt::format("iota at s = {:.4g}", s), here(file.iota), there.iota);
  require(fmt::format("G at s = {:.4g}", s), here(file.b_zeta), there.b_zeta);
}

/// A wrong flux scales every coefficient and shows in no residual: what is given may round what the file says, no more.
void require_same_flux(const std::string& path, double given, double own) {
  constexpr double tolerable = 1e-2;
  if (std::abs(given - own) <= tolerable * std::abs(own)) return;
  throw contradiction(path, fmt::format("psi_a = {:.8g} T m^2 was given, but the file has {:.8g}", given, own))
      .hint("leave out " + setting("psi_a") + ": it is for files that do not say it");
}

/// psi_a and the sign of sqrt(g), which Boozer files may lack.
void complete(const SurfaceOptions& options, BoozerFile& file, bool sign_known, Notes& notes) {
  const auto own_psi_a = file.psi_a;
  if (options.signgs) {
    if (std::abs(*options.signgs) != 1)
      throw contradiction(file.path, fmt::format("signgs = {}, expected 1 or -1", *options.signgs));
    if (sign_known && *options.signgs != file.sign_jacobian)
      throw contradiction(file.path, fmt::format("signgs = {} was given, but sqrtg(0,0) of the file has the other sign",
                                                 *options.signgs));
    file.sign_jacobian = static_cast<int>(*options.signgs);
  } else if (!sign_known && !options.wout) {
    notes.push_back("signgs = -1 (left-handed angles, as VMEC has them), which boozmn files do not say");
  }
  if (options.wout) {
    const Wout wout = read_wout(*options.wout);
    require_same_equilibrium(file, wout);
    if (options.psi_a && differs(*options.psi_a, wout.psi_a))
      throw contradiction(wout.path,
                          fmt::format("psi_a = {:.8g} was given, but the file has {:.8g}", *options.psi_a, wout.psi_a));
    file.psi_a = wout.psi_a;
    if (!options.signgs && !sign_known) file.sign_jacobian = wout.sign_jacobian;
    file.major_radius = wout.major_radius;
    file.minor_radius = wout.minor_radius;
  }
  if (options.psi_a && own_psi_a) require_same_flux(file.path, *options.psi_a, *own_psi_a);
  if (options.psi_a) file.psi_a = options.psi_a;
  if (own_psi_a && differs(*file.psi_a, *own_psi_a))
    notes.push_back(fmt::format("psi_a = {:.8g} T m^2 as given; the file has {:.8g}", *file.psi_a, *own_psi_a));
}

std::vector<double> numbers_of(const std::vector<std::string>& texts, const char* key) {
  std::vector<double> numbers;
  for (const std::string& text : texts) {
    const auto number = fortran_number(trim(text));
    if (!number)
      throw Error(ErrorKind::bad_input, fmt::format("[surface] {}: \"{}\" is not a finite number", key, text));
    numbers.push_back(*number);
  }
  return numbers;
}

template <class T>
T required(const std::optional<T>& value, const char* key) {
  if (!value) throw Error(ErrorKind::bad_input, fmt::format("[surface] {} is missing", key));
  return *value;
}

AnalyticSurface analytic_of(const SurfaceOptions& options) {
  const bool has_keys = !options.m.empty() || !options.n.empty() || !options.b_cos.empty() || options.nfp ||
                        options.iota || options.psi_p || options.b_theta || options.b_zeta;
  if (!has_keys && (options.path.empty() || options.path == demo)) return analytic_demo();
  if (!options.path.empty())
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: an analytic surface is described by keys, not by a file", options.path));
  AnalyticSurface made{"analytic",
                       static_cast<int>(required(options.nfp, "nfp")),
                       required(options.iota, "iota"),
                       required(options.psi_p, "psi_p"),
                       required(options.b_theta, "b_theta"),
                       required(options.b_zeta, "b_zeta"),
                       {}};
  const std::vector<double> m = numbers_of(options.m, "m"), n = numbers_of(options.n, "n");
  made.b.cosine = numbers_of(options.b_cos, "b_cos");
  made.b.sine = numbers_of(options.b_sin, "b_sin");
  if (n.size() != m.size() || made.b.cosine.size() != m.size() ||
      (!made.b.sine.empty() && made.b.sine.size() != m.size()))
    throw Error(ErrorKind::bad_input, fmt::format("[surface] m, n, b_cos and b_sin have {}, {}, {} and {} items",
                                                  m.size(), n.size(), made.b.cosine.size(), made.b.sine.size()));
  constexpr double most_mode = 10000;
  for (std::size_t i = 0; i < m.size(); ++i) {
    if (!(m[i] >= 0 && m[i] <= most_mode && std::abs(n[i]) <= most_mode) || m[i] != std::floor(m[i]) ||
        n[i] != std::floor(n[i]))
      throw Error(ErrorKind::bad_input,
                  fmt::format("[surface] m = {}, n = {}: expected whole numbers, m >= 0", m[i], n[i]));
    const Mode mode{static_cast<int>(m[i]), static_cast<int>(n[i])};
    if (std::find(made.b.modes.begin(), made.b.modes.end(), mode) != made.b.modes.end())
      throw Error(ErrorKind::bad_input,
                  fmt::format("[surface] the harmonic m = {}, n = {} is given twice", mode.m, mode.n));
    made.b.modes.push_back(mode);
  }
  return made;
}

struct Setting {
  const char* key;
  bool given;
};

void refuse(const std::string& source, const char* why, std::initializer_list<Setting> settings) {
  for (const auto& [key, given] : settings)
    if (given) throw contradiction(source, fmt::format("{}: {} has no meaning here", why, key));
}

void refuse_those_of_equilibria(const SurfaceOptions& options, const std::string& source) {
  refuse(source, "one surface in Boozer angles",
         {{"s", options.s.has_value()},
          {"rho", options.rho.has_value()},
          {"surface_index", options.surface_index.has_value()},
          {"psi_a", options.psi_a.has_value()},
          {"wout", options.wout.has_value()},
          {"signgs", options.signgs.has_value()},
          {"min_bmn", options.min_bmn > 0},
          {"snap", options.snap},
          {"vmec_radial_option", options.vmec_radial_option != 0}});
}

void refuse_those_of_analytic_surfaces(const SurfaceOptions& options) {
  refuse(options.path, "a file",
         {{"m", !options.m.empty()},
          {"n", !options.n.empty()},
          {"b_cos", !options.b_cos.empty()},
          {"b_sin", !options.b_sin.empty()},
          {"nfp", options.nfp.has_value()},
          {"iota", options.iota.has_value()},
          {"psi_p", options.psi_p.has_value()},
          {"b_theta", options.b_theta.has_value()},
          {"b_zeta", options.b_zeta.has_value()}});
}

/// What no equilibrium is recognised in.
AnalyticSurface read_harmonics(const std::string& path, Notes& notes) {
  const std::string text = read_text(path);
  if (is_namelist(text)) return parse_dkes(text, path, notes);
  try {
    return parse_table(text, path);
  } catch (const Error& error) {
    throw Error(
        error.kind(),
        fmt::format("{}: not an equilibrium (VMEC wout, boozmn, .bc), nor DKES input; as a table of harmonics: {}",
                    path, error.message()));
  }
}

ReadSurface read_one_surface(const SurfaceOptions& options, SurfaceType type) {
  if (type == SurfaceType::analytic) {
    const AnalyticSurface analytic = analytic_of(options);
    refuse_those_of_equilibria(options, analytic.name);
    return {make_surface(analytic), {}};
  }
  require_readable(options.path);
  Notes notes;
  const AnalyticSurface read = read_harmonics(options.path, notes);  // first: it may be nothing that has settings
  refuse_those_of_equilibria(options, options.path);
  refuse_those_of_analytic_surfaces(options);
  return {make_surface(read), std::move(notes)};
}

}  // namespace

struct Equilibrium::Contents {
  std::variant<Wout, BoozerFile> file;
  SurfaceType type = SurfaceType::vmec;
  BoozerChoice choice;
  Index radial_option = 0;
  Notes notes;
};

Equilibrium Equilibrium::open(const SurfaceOptions& options) {
  const SurfaceType type = surface_type(options);
  if (type == SurfaceType::analytic || type == SurfaceType::dkes)
    throw contradiction(options.path.empty() ? name(type) : options.path,
                        "no equilibrium of many surfaces (VMEC wout, boozmn, .bc)");
  refuse_those_of_analytic_surfaces(options);
  auto contents = std::make_shared<Contents>();
  contents->type = type;
  contents->choice = {options.snap, options.min_bmn};
  contents->radial_option = options.vmec_radial_option;
  if (type == SurfaceType::vmec) {
    contents->file = read_wout(options.path);
    check_against(options, std::get<Wout>(contents->file));
    if (options.snap) contents->radial_option = 2;
  } else {
    refuse(options.path, "Boozer angles", {{"vmec_radial_option", options.vmec_radial_option != 0}});
    const bool text = type == SurfaceType::bc;
    BoozerFile file = text ? read_bc(options.path) : read_boozmn(options.path);
    complete(options, file, text, contents->notes);
    contents->file = std::move(file);
  }
  return Equilibrium(std::move(contents));
}

const Wout* Equilibrium::wout() const { return std::get_if<Wout>(&contents_->file); }
const BoozerFile* Equilibrium::boozer() const { return std::get_if<BoozerFile>(&contents_->file); }
SurfaceType Equilibrium::type() const { return contents_->type; }
const Notes& Equilibrium::notes() const { return contents_->notes; }

const std::string& Equilibrium::path() const { return wout() != nullptr ? wout()->path : boozer()->path; }
int Equilibrium::periods() const { return wout() != nullptr ? wout()->periods : boozer()->periods; }
const std::vector<double>& Equilibrium::radii() const { return wout() != nullptr ? wout()->s : boozer()->s; }

double Equilibrium::psi_a() const {
  if (wout() != nullptr) return wout()->psi_a;
  return required_psi_a(*boozer());
}

/// vmec_radial_option.
double Equilibrium::nearest_radius(double s, Notes& notes) const {
  if (contents_->radial_option == 0) return s;
  const std::vector<double>& all = wout()->s;
  const bool interior = contents_->radial_option == 1 && all.size() > 2;
  const auto first = all.begin() + (interior ? 1 : 0), last = all.end() - (interior ? 1 : 0);
  const double nearest =
      *std::min_element(first, last, [&](double a, double b) { return std::abs(a - s) < std::abs(b - s); });
  if (nearest != s)
    notes.push_back(fmt::format("s = {:.6g} was asked for; the nearest half surface has s = {:.6g}", s, nearest));
  return nearest;
}

ReadSurface Equilibrium::surface(double s) const {
  ReadSurface read;
  read.notes = contents_->notes;
  const double min_bmn = contents_->choice.min_bmn;
  read.surface = wout() != nullptr ? surface_at(*wout(), nearest_radius(s, read.notes), min_bmn, read.notes)
                                   : surface_at(*boozer(), s, contents_->choice, read.notes);
  return read;
}

RadialProfile Equilibrium::profile(double s) const {
  Notes notes;
  if (boozer() != nullptr) return profile_at(*boozer(), s, contents_->choice, notes);
  return profile_at(*wout(), nearest_radius(s, notes));
}

SurfaceType recognise_surface(const std::string& path) {
  require_readable(path);
  const File file(path);
  std::vector<char> first(std::min<std::uint64_t>(file.size(), 4096));
  file.read_at(0, std::as_writable_bytes(std::span(first)));
  const std::string_view text(first.data(), first.size());
  if (text.starts_with("CDF") || text.starts_with("\x89HDF")) {
    const NetcdfFile netcdf = NetcdfFile::open(path);
    if (netcdf.has("bmnc_b")) return SurfaceType::boozmn;
    if (netcdf.has("bmnc") || netcdf.has("xm_nyq")) return SurfaceType::vmec;
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: a NetCDF file with neither bmnc_b (boozmn) nor bmnc (wout)", path));
  }
  if (text.starts_with("CC")) return SurfaceType::bc;
  if (text.find('\0') != std::string_view::npos)
    throw Error(ErrorKind::bad_file, fmt::format("{}: neither NetCDF nor text", path));
  return SurfaceType::dkes;
}

SurfaceType surface_type(const SurfaceOptions& options) {
  if (options.type != SurfaceType::automatic) return options.type;
  if (options.path == demo || (options.path.empty() && !options.m.empty())) return SurfaceType::analytic;
  if (options.path.empty())
    throw Error(ErrorKind::bad_input, "[surface] path is missing").hint("analytic-demo is a built-in surface");
  return recognise_surface(options.path);
}

double chosen_s(const SurfaceOptions& options, const Equilibrium& equilibrium) {
  const int given = (options.s ? 1 : 0) + (options.rho ? 1 : 0) + (options.surface_index ? 1 : 0);
  if (given != 1)
    throw contradiction(equilibrium.path(),
                        fmt::format("{} of s, rho and surface_index are given, expected one of them",
                                    given == 0 ? "none" : fmt::format("{}", given)))
        .hint("give " + setting("s", "0.25") + ", or rho or surface_index, in [surface] of a run file");
  if (options.s) return *options.s;
  if (options.rho) return *options.rho * *options.rho;
  const std::vector<double>& radii = equilibrium.radii();
  if (*options.surface_index < 0 || *options.surface_index >= static_cast<Index>(radii.size()))
    throw contradiction(equilibrium.path(),
                        fmt::format("surface_index = {}, expected 0 to {}", *options.surface_index, radii.size() - 1));
  return radii[static_cast<std::size_t>(*options.surface_index)];
}

ReadSurface read_surface(const SurfaceOptions& options) {
  const SurfaceType type = surface_type(options);
  if (type == SurfaceType::analytic || type == SurfaceType::dkes) return read_one_surface(options, type);
  const Equilibrium equilibrium = Equilibrium::open(options);
  return equilibrium.surface(chosen_s(options, equilibrium));
}

}  // namespace sonde::neoclassical
