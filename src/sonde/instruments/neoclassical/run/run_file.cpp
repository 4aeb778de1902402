// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/run/run_file.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/options/tables_page.h"
#include "sonde/engine/options/toml.h"

namespace sonde::neoclassical {
namespace {

/// The one of three ways that was taken.
template <class Value>
std::optional<std::pair<FieldKind, Value>> only_one(const std::string& table, const std::optional<Value>& epsi_hat,
                                                    const std::optional<Value>& er_hat,
                                                    const std::optional<Value>& er_tilde) {
  std::optional<std::pair<FieldKind, Value>> found;
  for (const auto& [kind, value] : {std::pair{FieldKind::epsi_hat, &epsi_hat}, std::pair{FieldKind::er_hat, &er_hat},
                                    std::pair{FieldKind::er_tilde, &er_tilde}}) {
    if (!*value) continue;
    if (found)
      throw Error(ErrorKind::bad_input,
                  fmt::format("[{}] gives the electric field twice: {} and {}", table, name(found->first), name(kind)))
          .hint("keep one of them");
    found.emplace(kind, **value);
  }
  return found;
}

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

void require_nu(double nu, const char* name) {
  if (!(nu > 0) || !std::isfinite(nu))
    throw Error(ErrorKind::bad_input, fmt::format("{} = {}: expected a collisionality above zero", name, nu));
}

const std::map<std::string, std::string>& about() {
  static const std::map<std::string, std::string> texts = {
      {"surface",
       "Where the magnetic field comes from. Files of several surfaces (boozmn, wout, .bc) need one of s, rho "
       "and surface_index; an analytic surface is given by its harmonics."},
      {"grid", "Angles of one field period and Legendre modes of the pitch."},
      {"case", "One collisionality, and one electric field given in one of three ways (none: 0)."},
      {"scan", "Lists in place of [case]: every collisionality with every field, on every radius."},
      {"solver", "How the equations are solved."},
      {"output", "What is written. Relative paths of a run file start at its folder."},
      {"logging", "What is said of the run."}};
  return texts;
}

}  // namespace

RunFile::RunFile() {
  tables_.add("surface", Fields(surface));
  tables_.add("grid", Fields(grid));
  tables_.add("case", Fields(at));
  tables_.add("scan", Fields(scan));
  tables_.add("solver", Fields(solver));
  tables_.add("output", Fields(output));
  tables_.add("logging", Fields(logging));
}

void RunFile::read(const std::string& path) {
  read_toml(path, tables_);
  if (surface.path != "analytic-demo") surface.path = path_from_file(surface.path, path);
  if (surface.wout) surface.wout = path_from_file(*surface.wout, path);
  output.path = path_from_file(output.path, path);
  if (output.report) output.report = path_from_file(*output.report, path);
}

void RunFile::parse(std::string_view text, const std::string& name) { parse_toml(text, name, tables_); }

std::string RunFile::text() const { return to_toml(tables_.echo()); }

FieldAxis RunFile::case_field() const {
  const auto given = only_one("case", at.epsi_hat, at.er_hat, at.er_tilde);
  return given ? FieldAxis{given->first, {given->second}} : FieldAxis{};
}

double RunFile::case_nu() const {
  if (!at.nu_hat)
    throw Error(ErrorKind::bad_input, "[case] has no nu_hat")
        .hint("give " + setting("nu_hat", "1e-3") + ", or nu_hat = 1e-3 in [case]");
  require_nu(*at.nu_hat, "nu_hat");
  return *at.nu_hat;
}

FieldAxis RunFile::scan_field() const {
  const auto given =
      only_one("scan", unless_empty(scan.epsi_hat), unless_empty(scan.er_hat), unless_empty(scan.er_tilde));
  return given ? FieldAxis{given->first, parse_numbers(given->second, name(given->first))} : FieldAxis{};
}

std::vector<double> RunFile::scan_nu() const {
  std::vector<double> nu = parse_numbers(scan.nu_v, "nu_v");
  if (nu.empty())
    throw Error(ErrorKind::bad_input, "[scan] has no nu_v")
        .hint("give " + setting("nu_v") + " 1e-5,1e-4,1e-3, or nu_v = [1e-5, 1e-4, 1e-3] in [scan]");
  for (const double value : nu) require_nu(value, "nu_v");
  return nu;
}

std::vector<double> RunFile::scan_rho() const {
  if (!scan.rho.empty()) return parse_numbers(scan.rho, "rho");
  if (surface.rho) return {*surface.rho};
  if (surface.s) return {std::sqrt(*surface.s)};
  return {};
}

std::string run_file_reference() {
  const std::string text =
      "# The run file of neoclassical transport\n\n"
      "Written by `sonde help --markdown` from the descriptions that read it. A run file is TOML; its tables are those "
      "of NTX. `--set TABLE.KEY=VALUE` changes one key.\n";
  RunFile unset;
  return text + tables_markdown(unset.tables(), {.about = about()});
}

}  // namespace sonde::neoclassical
