// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/results/scan_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/convert/result_contents.h"

namespace sonde::neoclassical {

namespace {

std::string reason(Path path, const GridSpec& grid, bool symmetric) {
  switch (path) {
    case Path::spd:
      return symmetric ? "E_hat = 0 and stellarator symmetry: blocks of half the size" : "E_hat = 0";
    case Path::quasidefinite:
      return "E_hat != 0 and stellarator symmetry";
    case Path::krylov:
      return "weak fields: factors and vectors of one collisionality serve all of them";
    case Path::dense:
      break;
  }
  if (grid.discretisation == Discretisation::collocation) return "`collocation` has no structure to use";
  return symmetric ? "too large a residual of the quasi-definite blocks" : "E_hat != 0 without stellarator symmetry";
}

}  // namespace

std::vector<ScanResult::Share> ScanResult::shares(const GridSpec& grid) const {
  std::vector<Share> gone;
  for (const Path path : {Path::spd, Path::krylov, Path::quasidefinite, Path::dense}) {
    Share share{.path = path, .because = reason(path, grid, symmetric)};
    for (const Point& point : points) {
      if (point.status != PointStatus::ok || point.coefficients.path != path) continue;
      GridSpec of_point = grid;
      of_point.n_xi = point.coefficients.n_xi;
      ++share.points;
      share.core_seconds += point.seconds;
      share.flops += least_flops(path, of_point, symmetric);
    }
    if (share.points > 0) gone.push_back(std::move(share));
  }
  return gone;
}

Index ScanResult::by_dense_after_all() const {
  const auto went = [&](Path path) {
    return std::count_if(points.begin(), points.end(),
                         [path](const Point& point) { return point.coefficients.path == path; });
  };
  const bool by_parts = went(Path::quasidefinite) + went(Path::krylov) > 0;
  return by_parts ? static_cast<Index>(went(Path::dense)) : 0;
}

void ScanResult::require_answers() const {
  Index without = 0;
  std::string first;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].status == PointStatus::ok || without++ > 0) continue;
    const std::size_t fields = field.values.size(), nus = nu_v.size();
    first = fmt::format("nu_v = {:.3g}, {} = {:.3g} of radius {}: {}", nu_v[i / fields % nus], name(field.kind),
                        field.values[i % fields], i / fields / nus, points[i].message);
  }
  if (without > 0)
    throw Error(ErrorKind::not_converged,
                fmt::format("{} of {} points have no answer, the first at {}", without, points.size(), first))
        .hint("the file has them as NaN with their status; refine the grid");
}

Index ScanResult::fell_back() const {
  if (precision == Precision::f64) return 0;
  return std::count_if(points.begin(), points.end(),
                       [](const Point& point) { return point.coefficients.precision == Precision::f64; });
}

Index ScanResult::in_batches() const {
  return std::count_if(points.begin(), points.end(), [](const Point& point) { return point.in_batch; });
}

Contents scan_contents(const ScanResult& scan, const GridSpec& grid, const Provenance& provenance) {
  Contents contents = result_contents();
  const auto radii = static_cast<Index>(scan.rho.size()), nus = static_cast<Index>(scan.nu_v.size()),
             fields = static_cast<Index>(scan.field.values.size());
  const auto axis = [&](const char* name, const char* dimension, const std::vector<double>& values, const char* unit) {
    contents.add(name, {dimension}, Array::from(values, Shape{static_cast<Index>(values.size())})).unit(unit);
  };
  axis("rho", "rho", scan.rho, "1");
  axis("nu_v", "nu_v", scan.nu_v, "m^-1");
  axis("field", "field", scan.field.values, scan.field.kind == FieldKind::er_hat ? "T" : "1");
  contents.add_text("field_name", name(scan.field.kind));
  std::vector<double> all;
  for (const std::vector<double>& row : scan.epsi_hat) all.insert(all.end(), row.begin(), row.end());
  contents.add("epsi_hat", {"rho", "field"}, Array::from(all, Shape{radii, fields}));
  axis("iota", "rho", scan.iota, "1");
  axis("B0", "rho", scan.B0, "T");
  axis("G", "rho", scan.G, "T m");
  axis("I", "rho", scan.I, "T m");
  axis("signgs", "rho", scan.signgs, "1");
  contents.add("psi_scale", {"rho"}, Array::from(scan.psi_scale, Shape{radii}));
  if (!scan.R0.empty()) axis("R0", "rho", scan.R0, "m");
  if (scan.a_b > 0) contents.add("a_b", scan.a_b).unit("m");
  if (scan.psi_a != 0) contents.add("psi_a", scan.psi_a).unit("T m^2");
  contents.add("nfp", static_cast<std::int32_t>(scan.periods));
  contents.add("stellarator_symmetric", static_cast<std::int32_t>(scan.symmetric));
  contents.add_text("radial_label", scan.units.label);
  const auto table = [&](const char* name, auto&& value) {
    std::vector<double> values;
    for (const Point& point : scan.points) values.push_back(static_cast<double>(value(point)));
    return &contents.add(name, {"rho", "nu_v", "field"}, Array::from(values, Shape{radii, nus, fields}));
  };
  const auto coefficient = [&](const char* name, const std::string& unit, double Coefficients::*member) {
    table(name, [=](const Point& p) { return p.coefficients.*member; })
        ->unit(unit)
        .attributes.emplace_back("radial_label", scan.units.label);
  };
  coefficient("D11", scan.units.D11, &Coefficients::D11);
  coefficient("D31", scan.units.D31, &Coefficients::D31);
  coefficient("D13", scan.units.D31, &Coefficients::D13);
  coefficient("D33", "m", &Coefficients::D33);
  coefficient("D33_spitzer", "m", &Coefficients::D33_spitzer);
  table("residual", [](const Point& p) { return p.coefficients.residual; });
  Contents::Variable* onsager =
      table("onsager_residual", [](const Point& p) { return p.coefficients.onsager_residual; });
  if (!scan.symmetric)
    onsager->attributes.emplace_back("comment",
                                     std::string("says nothing where the field is not 0: no stellarator symmetry"));
  table("path_code", [](const Point& p) { return static_cast<int>(p.coefficients.path); });
  table("precision_code", [](const Point& p) { return static_cast<int>(p.coefficients.precision); });
  table("iterations", [](const Point& p) { return p.coefficients.iterations; });
  table("n_xi_used", [](const Point& p) { return p.coefficients.n_xi; });
  if (scan.searched) table("error_of_n_xi", [](const Point& p) { return p.error; });
  table("status", [](const Point& p) { return static_cast<int>(p.status); });
  table("run/seconds", [](const Point& p) { return p.seconds; })->unit("s");
  contents.add("n_theta", static_cast<std::int32_t>(grid.n_theta));
  contents.add("n_zeta", static_cast<std::int32_t>(grid.n_zeta));
  contents.add("n_xi", static_cast<std::int32_t>(grid.n_xi));
  add_provenance(contents, provenance, grid, {"see path_code", name(scan.precision)});
  return contents;
}

}  // namespace sonde::neoclassical
