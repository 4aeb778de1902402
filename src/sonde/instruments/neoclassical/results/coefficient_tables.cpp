// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/results/coefficient_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {
namespace {

/// |D13 + D31| / |D31| of tables that nobody wrote it down for.
std::vector<double> onsager_of(const std::vector<double>& D13, const std::vector<double>& D31) {
  std::vector<double> residual;
  for (std::size_t i = 0; i < std::min(D13.size(), D31.size()); ++i)
    residual.push_back(std::abs(D13[i] + D31[i]) / std::abs(D31[i]));
  return residual;
}

std::string title_at(const CoefficientTables& tables, std::size_t radius,
                     const std::optional<ConversionGeometry>& geometry) {
  if (std::isnan(tables.rho[radius])) return "Monoenergetic coefficients";
  std::string title = fmt::format("Monoenergetic coefficients at rho = {:.4g}", tables.rho[radius]);
  if (geometry)
    title += fmt::format(" (r = {:.4g} m, R0 = {:.4g} m, ι = {:.4g}, B0 = {:.4g} T)", geometry->r, geometry->R0,
                         geometry->iota, geometry->B0);
  return title;
}

}  // namespace

CoefficientTables tables_of(const ScanResult& scan) {
  CoefficientTables tables{.field_name = name(scan.field.kind),
                           .rho = scan.rho,
                           .nu_v = scan.nu_v,
                           .fields = scan.field.values,
                           .D11_unit = scan.units.D11,
                           .D31_unit = scan.units.D31,
                           .iota = scan.iota,
                           .B0 = scan.B0,
                           .R0 = scan.R0,
                           .a_b = scan.a_b,
                           .symmetric = scan.symmetric};
  for (const Point& point : scan.points) {
    const Coefficients& c = point.coefficients;
    tables.D11.push_back(c.D11);
    tables.D31.push_back(c.D31);
    tables.D13.push_back(c.D13);
    tables.D33.push_back(c.D33);
    tables.onsager_residual.push_back(c.onsager_residual);
  }
  return tables;
}

CoefficientTables tables_of(const Database& database) {
  const RadialGeometry& geometry = database.geometry;
  return {.field_name = "Er_tilde",
          .rho = database.axes.rho,
          .nu_v = database.axes.nu_v,
          .fields = database.axes.Er_tilde,
          .D11 = database.D11,
          .D31 = database.D31,
          .D13 = database.D13,
          .D33 = database.D33,
          .onsager_residual =
              database.onsager_residual.empty() ? onsager_of(database.D13, database.D31) : database.onsager_residual,
          .D11_unit = "m^-3 T^-2",
          .D31_unit = "m^-1 T^-1",
          .iota = geometry.iota,
          .B0 = geometry.B0_solver.empty() ? geometry.B00 : geometry.B0_solver,
          .R0 = geometry.R00,
          .a_b = database.a_b,
          .symmetric = database.symmetric};
}

CoefficientTables tables_of(const ResultFile& file) {
  CoefficientTables tables{.field_name = file.text("field_name"),
                           .rho = file.numbers("rho"),
                           .nu_v = file.numbers("nu_v"),
                           .fields = file.numbers("field"),
                           .D11 = file.numbers("D11"),
                           .D31 = file.numbers("D31"),
                           .D13 = file.numbers("D13"),
                           .D33 = file.numbers("D33"),
                           .onsager_residual = file.numbers("onsager_residual"),
                           .iota = file.numbers("iota"),
                           .B0 = file.numbers("B0")};
  // Scans of before say none of this.
  if (file.has("radial_label")) {
    const CoefficientUnits units = coefficient_units(file.text("radial_label"));
    tables.D11_unit = units.D11;
    tables.D31_unit = units.D31;
  }
  if (file.has("R0")) tables.R0 = file.numbers("R0");
  if (file.has("a_b")) tables.a_b = file.number("a_b");
  if (file.has("stellarator_symmetric")) tables.symmetric = file.number("stellarator_symmetric") != 0;
  return tables;
}

CoefficientCurves curves_at(const CoefficientTables& tables, Index radius) {
  const std::size_t radii = tables.rho.size(), points = tables.nu_v.size() * tables.fields.size();
  if (radius < 0 || radius >= static_cast<Index>(radii))
    throw Error(ErrorKind::bad_input, fmt::format("radius {}: there are {}, counted from 0", radius, radii));
  const auto first = static_cast<std::size_t>(radius);
  const auto part = [&](const char* name, const std::vector<double>& table) {
    if (table.size() != points * radii)
      throw Error(ErrorKind::bad_input,
                  fmt::format("{} holds {} numbers, expected {} by its axes", name, table.size(), points * radii));
    const auto begin = table.begin() + static_cast<std::ptrdiff_t>(points * first);
    return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(points));
  };
  CoefficientCurves curves{.field_name = tables.field_name,
                           .nu_v = tables.nu_v,
                           .fields = tables.fields,
                           .D11 = part("D11", tables.D11),
                           .D31 = part("D31", tables.D31),
                           .D13 = part("D13", tables.D13),
                           .D33 = part("D33", tables.D33),
                           .onsager_residual = part("onsager_residual", tables.onsager_residual),
                           .D11_unit = tables.D11_unit,
                           .D31_unit = tables.D31_unit,
                           .symmetric = tables.symmetric};
  const double rho = tables.rho[first];
  if (tables.a_b > 0 && rho > 0 && tables.iota.size() == radii && tables.B0.size() == radii &&
      tables.R0.size() == radii && tables.iota[first] != 0 && tables.R0[first] > 0)
    curves.geometry = ConversionGeometry{.B0 = tables.B0[first],
                                         .iota = tables.iota[first],
                                         .psi_p = 2 * rho / tables.a_b,  // ds/dr: the label of the tables is s
                                         .r = tables.a_b * rho,
                                         .R0 = tables.R0[first]};
  curves.title = title_at(tables, first, curves.geometry);
  return curves;
}

}  // namespace sonde::neoclassical
