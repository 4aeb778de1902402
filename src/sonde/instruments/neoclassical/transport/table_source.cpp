// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/table_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/database/derived_fields.h"

namespace sonde::neoclassical {

TableSource::TableSource(const Database& database)
    : a_b_(database.a_b), symmetric_(database.symmetric), rho_(database.axes.rho) {
  require_valid(database);
  if (const Index bad = points_without_positive_d11(database); bad > 0)
    throw Error(ErrorKind::bad_input, fmt::format("D11 of {} points of the database is not above zero", bad))
        .hint("those points were not resolved: make the database anew at a higher resolution");
  const Axes& axes = database.axes;
  if (axes.collisionalities() < 2)
    throw Error(ErrorKind::bad_input, "the database has one nu_v only: nothing can be interpolated");
  for (const double nu : axes.nu_v) log_nu_.push_back(std::log(nu));
  const DerivedFields derived = derived_fields(database);
  const auto fields = static_cast<std::size_t>(axes.fields());
  er_hat_.assign(derived.Er.begin(), derived.Er.begin() + static_cast<std::ptrdiff_t>(fields));
  reference_field_ = database.geometry.B0_solver.empty() ? database.geometry.B00 : database.geometry.B0_solver;
  for (Index r = 0; r < axes.radii(); ++r) {
    b2_ratio_.push_back(database.b2_ratio(r));
    const double slope = derived.drds[static_cast<std::size_t>(r)];
    TableSlice slice;
    for (const double er_hat : er_hat_)
      slice.log_field.push_back(log_of_field(er_hat, a_b_ * rho_[static_cast<std::size_t>(r)]));
    for (std::size_t e = 1; e < fields; ++e)
      if (!(slice.log_field[e] > slice.log_field[e - 1]))
        throw Error(ErrorKind::bad_input,
                    fmt::format("Er_tilde = {} and {} are both below 1e-8 T/m of E_r/(v r): they fall together",
                                axes.Er_tilde[e - 1], axes.Er_tilde[e]));
    for (Index n = 0; n < axes.collisionalities(); ++n)
      for (Index e = 0; e < axes.fields(); ++e) {
        const std::size_t at = axes.index(r, n, e);
        const Dij d = relabelled({database.D11[at], database.D31[at], database.D13[at], database.D33[at]}, slope);
        slice.values.push_back(table_quantities(d, axes.nu_v[static_cast<std::size_t>(n)]));
      }
    slice.add_slopes();
    const auto frequent = [&](Index n) {  // at the weakest field
      const double nu = axes.nu_v[static_cast<std::size_t>(n)];
      return FrequentD11{nu, std::exp(slice.values[static_cast<std::size_t>(n) * fields][0])};
    };
    const auto u2 = u2_between(frequent(axes.collisionalities() - 2), frequent(axes.collisionalities() - 1));
    if (u2) u2_.push_back(*u2);
    slices_.push_back(std::move(slice));
  }
}

TableSlice TableSource::resampled(double rho, const std::vector<double>& log_field) const {
  AxisPlace place = place_on(rho_, rho);
  const AxisNeighbours radii(rho_, place);
  const std::size_t fields = log_field.size();
  TableSlice made{log_field, std::vector<TableQuantities>(log_nu_.size() * fields), {}};
  std::array<TableQuantities, 4> at_radius{};
  for (std::size_t e = 0; e < fields; ++e)
    for (std::size_t row = 0; row < log_nu_.size(); ++row) {
      for (std::size_t k = 0; k < radii.axis.size(); ++k) {
        const TableSlice& slice = slices_[radii.first + k];
        at_radius[k] = slice.along_field(row, place_on(slice.log_field, log_field[e]));
      }
      made.values[row * fields + e] = radii.between(at_radius, place);
    }
  made.add_slopes();
  return made;
}

std::unique_ptr<SurfaceSource> TableSource::at(double rho) const {
  if (!(rho > 0 && rho <= 1)) throw Error(ErrorKind::bad_input, fmt::format("rho = {}: expected 0 < rho <= 1", rho));
  const double held = std::clamp(rho, rho_.front(), rho_.back());
  const bool reaches_far = u2_.size() == rho_.size();
  const auto exact = std::find(rho_.begin(), rho_.end(), held);
  if (exact != rho_.end()) {
    const auto i = static_cast<std::size_t>(exact - rho_.begin());
    return std::make_unique<SurfaceTable>(
        log_nu_, slices_[i],
        SurfaceTable::Surroundings{a_b_ * rho, reference_field_[i], b2_ratio_[i],
                                   reaches_far ? std::optional(u2_[i]) : std::nullopt, held != rho, symmetric_});
  }
  std::vector<double> log_field;
  for (const double er_hat : er_hat_) log_field.push_back(log_of_field(er_hat, a_b_ * rho));
  const AxisPlace place = place_on(rho_, rho);
  return std::make_unique<SurfaceTable>(
      log_nu_, resampled(rho, log_field),
      SurfaceTable::Surroundings{
          a_b_ * rho, monotone_between(rho_, reference_field_, place), monotone_between(rho_, b2_ratio_, place),
          reaches_far ? std::optional(monotone_between(rho_, u2_, place)) : std::nullopt, false, symmetric_});
}

}  // namespace sonde::neoclassical
