// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/tabulate/build_database.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/neoclassical/database/derived_fields.h"
#include "sonde/instruments/neoclassical/geometry/resolution.h"
#include "sonde/instruments/neoclassical/scan/scan_surfaces.h"
#include "sonde/instruments/neoclassical/tabulate/fingerprint.h"

namespace sonde::neoclassical {
namespace {

FinishedPoint finished(const Point& point, Index radius, Index nu, Index field) {
  const Coefficients& c = point.coefficients;
  return {.radius = radius,
          .nu = nu,
          .field = field,
          .D11 = c.D11,
          .D31 = c.D31,
          .D13 = c.D13,
          .D33 = c.D33,
          .D33_spitzer = c.D33_spitzer,
          .residual = c.residual,
          .onsager_residual = c.onsager_residual,
          .n_xi_used = static_cast<int>(c.n_xi),
          .path_code = static_cast<int>(c.path),
          .status = static_cast<int>(point.status),
          .seconds = point.seconds,
          .precision_code = static_cast<int>(c.precision)};
}

}  // namespace

DatabaseBuild::DatabaseBuild(const Equilibrium& equilibrium, const std::optional<Equilibrium>& boozer,
                             DatabaseRequest request)
    : request_(std::move(request)) {
  const Axes& axes = request_.axes;
  require_valid(axes);
  for (const double rho : axes.rho) {
    ReadSurface read = equilibrium.surface(rho * rho);
    for (const std::string& note : read.notes) notes_.push_back(fmt::format("rho = {:.6g}: {}", rho, note));
    if (const auto note = resolution_note(read.surface, request_.grid.n_theta, request_.grid.n_zeta))
      notes_.push_back(fmt::format("rho = {:.6g}: {}", rho, *note));
    surfaces_.push_back(std::move(read.surface));
  }
  if (const auto note = asymmetry_note(surfaces_.front())) notes_.push_back(*note);
  RadialScales scales = radial_scales(equilibrium, boozer, axes.rho, notes_);
  database_.axes = axes;
  database_.source_name = fmt::format("sonde {}", build_info().version);
  database_.equilibrium = geometry_source(equilibrium.path());
  const GridSpec& grid = request_.grid;
  database_.grid = fmt::format("{} x {} x {}, {}", grid.n_theta, grid.n_zeta, grid.n_xi, name(grid.discretisation));
  database_.psia = scales.psia;
  database_.a_b = scales.a_b;
  database_.symmetric = std::all_of(surfaces_.begin(), surfaces_.end(), [](const Surface& s) { return s.symmetric(); });
  database_.geometry = std::move(scales.geometry);
  for (const Surface& surface : surfaces_) {
    database_.geometry.B0_solver.push_back(surface.reference_field());
    database_.geometry.signgs.push_back(surface.signgs());
  }
  fields_ = derived_fields(database_).Es;
  const auto count = static_cast<std::size_t>(axes.count());
  for (std::vector<double>* table :
       {&database_.D11, &database_.D31, &database_.D13, &database_.D33, &database_.D33_spitzer, &database_.residual,
        &database_.onsager_residual, &database_.n_xi_used})
    table->resize(count);
  if (request_.solver.precision != Precision::f64) database_.precision_code.resize(count);
}

std::string DatabaseBuild::key() const {
  const GridSpec& grid = request_.grid;
  std::vector<std::string> surfaces;
  for (const Surface& surface : surfaces_) surfaces.push_back(fingerprint(surface));
  return fmt::format(
      "rho = {}\nequilibrium = {}\nnu_v = {}\nEr_tilde = {}\nE_hat = {}\ngrid = {}x{}x{}\ndiscretisation = {}\n"
      "path = {}\nkrylov_reuse = {}\nadapt_n_xi = {}\nprecision = {}\nprocessor = {}",
      fmt::join(request_.axes.rho, ","), fmt::join(surfaces, ","), fmt::join(request_.axes.nu_v, ","),
      fmt::join(request_.axes.Er_tilde, ","), fmt::join(fields_, ","), grid.n_theta, grid.n_zeta, grid.n_xi,
      name(grid.discretisation), request_.solver.path ? name(*request_.solver.path) : "auto",
      request_.solver.krylov_reuse, request_.adapt ? request_.adapt->tolerance : 0, name(request_.solver.precision),
      batches_ ? "GPU" : "CPU");
}

std::vector<Case> DatabaseBuild::cases(Index radius) const {
  const auto fields = static_cast<std::size_t>(request_.axes.fields());
  return grid_of_cases(request_.axes.nu_v,
                       std::span(fields_).subspan(static_cast<std::size_t>(radius) * fields, fields));
}

Plan DatabaseBuild::plan(Index radius) const { return Plan::prepare(surface(radius), request_.grid, request_.solver); }

ScanOptions DatabaseBuild::scan_options() const {
  return {.batch_size = request_.batch_size, .adapt = request_.adapt, .batches = batches_};
}

std::string DatabaseBuild::why_not_in_batches() const {
  return neoclassical::why_not_in_batches(plan(0), cases(0), scan_options());
}

std::string DatabaseBuild::place(Index radius, Index nu, Index field) const {
  const auto at = [](const std::vector<double>& axis, Index i) { return axis[static_cast<std::size_t>(i)]; };
  return fmt::format("rho = {:.6g}, nu_v = {:.3g}, Er_tilde = {:.3g}", at(request_.axes.rho, radius),
                     at(request_.axes.nu_v, nu), at(request_.axes.Er_tilde, field));
}

void DatabaseBuild::keep(const FinishedPoint& point, const std::string& part) {
  if (!(point.D11 > 0))  // `skew` never comes here: no other point need be waited for
    throw Error(ErrorKind::not_converged, fmt::format("{}: D11 = {:.3g}, and readers of a database take its logarithm",
                                                      place(point.radius, point.nu, point.field), point.D11))
        .hint(fmt::format("discretisation skew, whose D11 is above zero on any grid, or more angles or n_xi: that is "
                          "another table, so remove {} first; a scan file holds such points as they are",
                          part));
  const std::size_t at = request_.axes.index(point.radius, point.nu, point.field);
  database_.D11[at] = point.D11;
  database_.D31[at] = point.D31;
  database_.D13[at] = point.D13;
  database_.D33[at] = point.D33;
  database_.D33_spitzer[at] = point.D33_spitzer;
  database_.residual[at] = point.residual;
  database_.onsager_residual[at] = point.onsager_residual;
  database_.n_xi_used[at] = point.n_xi_used;
  if (!database_.precision_code.empty()) database_.precision_code[at] = point.precision_code;
  if (listener_) listener_(point);
}

Database DatabaseBuild::run(PartFile& part, const Budget& budget) { return *run(Ranks::alone(), &part, budget); }

std::optional<Database> DatabaseBuild::run(const Ranks& ranks, PartFile* part, const Budget& budget) {
  const Axes& axes = request_.axes;
  SurfacesScan work;
  work.prepare = [&](Index radius) { return plan(radius); };
  for (Index radius = 0; radius < axes.radii(); ++radius) work.cases.push_back(cases(radius));
  const ScanOptions options = scan_options();
  if (ranks.rank() != 0) {
    (void)scan_surfaces(ranks, work, budget, options);
    return std::nullopt;
  }

  std::vector<bool> done(static_cast<std::size_t>(axes.count()));
  const std::string where = part != nullptr ? part->path() : std::string("this run");
  for (const FinishedPoint& point : part != nullptr ? part->earlier() : std::vector<FinishedPoint>{}) {
    if (point.residual > request_.solver.tolerance) continue;  // was solved to a larger one
    done[axes.index(point.radius, point.nu, point.field)] = true;
    keep(point, where);
    ++resumed_;
  }
  ProgressMeter progress("solving", axes.count() - resumed_, "points");
  Index without = 0;
  std::string first;
  work.skip = [&](Index radius, Index which) { return done[axes.index(radius, 0, which)]; };
  work.finished = [&](Index radius, Index which, const Point& point) {
    point_seconds_ += point.seconds;
    if (point.in_batch) ++in_batches_;
    if (point.status == PointStatus::ok) {
      const FinishedPoint record = finished(point, radius, which / axes.fields(), which % axes.fields());
      if (part != nullptr) part->append(record);
      keep(record, where);
    } else if (without++ == 0) {
      first = fmt::format("{}: {}", place(radius, which / axes.fields(), which % axes.fields()), point.message);
    }
    progress.advance();  // the last: a pause or a stop leaves no point that is half known
  };
  points_of_rank_ = scan_surfaces(ranks, work, budget, options);
  if (without > 0)
    throw Error(ErrorKind::not_converged,
                fmt::format("{} of {} points have no answer, the first at {}", without, axes.count(), first))
        .hint(request_.grid.discretisation == Discretisation::skew
                  ? "refine the grid, or accept a larger tol; finished points are kept"
                  : "refine the grid, or take discretisation = \"skew\"; finished points are kept");
  return database_;
}

}  // namespace sonde::neoclassical
