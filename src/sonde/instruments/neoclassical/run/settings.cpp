// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/run/settings.h"

#include <fmt/format.h>

#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/device.h"

namespace sonde::neoclassical {
namespace {

/// Whether it is there is another question, and another status.
void require_device_name(std::string_view text, std::string_view where) {
  try {
    (void)Device::parse(text);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) return;
    throw Error(ErrorKind::usage, fmt::format("{}: {}", where, error.message())).hint(error.marked_hint());
  }
}

Index odd(Index count) { return count % 2 == 0 ? count + 1 : count; }

}  // namespace

GridSpec GridSettings::spec() const {
  if (round_odd) return {odd(n_theta), odd(n_zeta), n_xi, discretisation};
  require_odd({n_theta, n_zeta, 1});
  return {n_theta, n_zeta, n_xi, discretisation};
}

void GridSettings::describe(Fields& fields) {
  fields.add("n_theta", n_theta, {.help = "poloidal angles, odd", .min = 1, .max = 1e4});
  fields.add("n_zeta", n_zeta, {.help = "toroidal angles of one field period, odd", .min = 1, .max = 1e4});
  fields.add("n_xi", n_xi, {.help = "largest Legendre index of the pitch", .min = 2, .max = 1e4});
  fields.choice("discretisation", discretisation,
                {{"skew", Discretisation::skew}, {"collocation", Discretisation::collocation}},
                {.help = "skew: Onsager symmetric on every grid; collocation: point by point, as MONKES and NTX"});
  fields.add("round_odd", round_odd, {.help = "take the next odd count of angles for an even one"});
}

const char* name(FieldKind kind) {
  switch (kind) {
    case FieldKind::epsi_hat:
      return "epsi_hat";
    case FieldKind::er_hat:
      return "er_hat";
    case FieldKind::er_tilde:
      return "er_tilde";
  }
  return "";
}

void CaseSettings::describe(Fields& fields) {
  fields.add("nu_hat", nu_hat, {.help = "collisionality nu/v", .unit = "1/m"});
  fields.add("epsi_hat", epsi_hat, {.help = "electric field E_psi/v in the label of the surface"});
  fields.add("er_hat", er_hat, {.help = "electric field E_r/v instead", .unit = "T"});
  fields.add("er_tilde", er_tilde, {.help = "electric field as databases have it, instead"});
}

void ScanSettings::describe(Fields& fields) {
  fields.add("nu_v", nu_v,
             {.help = "collisionalities nu/v", .unit = "1/m", .metavar = "LIST", .check = require_numbers});
  fields.add("epsi_hat", epsi_hat,
             {.help = "electric fields E_psi/v (0 when none is given)", .metavar = "LIST", .check = require_numbers});
  fields.add("er_hat", er_hat,
             {.help = "electric fields E_r/v instead", .unit = "T", .metavar = "LIST", .check = require_numbers});
  fields.add("er_tilde", er_tilde,
             {.help = "electric fields as databases have them, instead", .metavar = "LIST", .check = require_numbers});
  fields.add("rho", rho,
             {.help = "radii sqrt(s); empty: the one of the surface", .metavar = "LIST", .check = require_numbers});
}

SolverOptions SolverSettings::solver() const {
  return {
      .path = path, .tolerance = tol, .precision = precision.value_or(Precision::f64), .krylov_reuse = krylov_reuse};
}

std::optional<LegendreSearch> SolverSettings::search() const {
  if (!adapt_n_xi) return std::nullopt;
  return LegendreSearch{.tolerance = *adapt_n_xi};
}

void SolverSettings::describe(Fields& fields) {
  fields.choice(
      "path", path,
      {{"auto", std::nullopt}, {"dense", Path::dense}, {"spd", Path::spd}, {"quasidefinite", Path::quasidefinite}},
      {.help = "elimination; auto takes the fastest that the case allows"});
  fields.choice(
      "precision", precision, {{"auto", std::nullopt}, {"f64", Precision::f64}, {"f32-refine", Precision::f32_refine}},
      {.help = "f32-refine: eliminate in single precision and refine in double, faster for nu_hat above some "
               "1e-4; points that it does not suffice for are solved in double; auto: what took less time when "
               "`sonde bench neoclassical-crossover` measured this machine"});
  fields.add("device", device,
             {.help = "as " + setting("device"), .metavar = "auto|cpu|cuda|cuda:N", .check = require_device_name});
  fields.add("threads", threads, {.help = "as " + setting("threads"), .min = 1, .max = 4096});
  fields.add("scan_batch_size", scan_batch_size, {.help = "points in memory at a time, at most", .min = 1});
  fields.add("tol", tol, {.help = "largest residual of an answer", .min = 0});
  fields.add("adapt_n_xi", adapt_n_xi,
             {.help = "find the Legendre modes of each point: relative change that is small enough", .min = 0});
  fields.add(
      "krylov_reuse", krylov_reuse,
      {.help = "weak fields at one collisionality share factors; without it each is eliminated by itself, with less "
               "memory"});
}

void SolverSettings::describe_only(const std::vector<std::string>& keys, Fields& fields) {
  const Fields all(*this);
  for (const std::string& key : keys) fields.add(*all.find(key));
}

void OutputSettings::describe(Fields& fields) {
  fields.add("path", path, {.help = "result file", .metavar = "FILE.nc|.h5|.npz", .alias = "npz"});
  fields.add("include_modes", include_modes, {.help = "store the Legendre coefficients 0 to 2 of both solutions"});
  fields.add("plot", plot, {.help = "draw the result beside the file"});
  fields.add("report", report,
             {.help = "report of a run that came to its end; " + setting("report") + " takes its place",
              .metavar = "FILE.json"});
}

void LoggingSettings::describe(Fields& fields) {
  fields.add("verbose", verbose, {.help = "say the table of phases at the end"});
}

}  // namespace sonde::neoclassical
