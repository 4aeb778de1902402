// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/table_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/database/derived_fields.h"
#include "sonde/instruments/neoclassical/transport/monotone_cubic.h"

namespace sonde::neoclassical {
namespace {

constexpr double least_field = 1e-8;  // E_hat/r, T/m

double log_of_field(double er_hat, double r) { return std::log(std::max(least_field, std::abs(er_hat) / r)); }

/// The up to four points of an axis that decide between two of them; `place` then counts from the first of these.
struct Neighbours {
  Neighbours(const std::vector<double>& whole, AxisPlace& place) : first(place.left > 0 ? place.left - 1 : 0) {
    const std::size_t last = std::min(whole.size() - 1, place.left + 2);
    axis = std::span(whole).subspan(first, last - first + 1);
    place.left -= first;
  }
  std::size_t first;
  std::span<const double> axis;
};

template <class Quantities>
Quantities between(const Neighbours& points, const std::array<Quantities, 4>& values, const AxisPlace& place) {
  Quantities made{};
  std::array<double, 4> line{};
  for (std::size_t q = 0; q < made.size(); ++q) {
    for (std::size_t k = 0; k < points.axis.size(); ++k) line[k] = values[k][q];
    made[q] = monotone_between(points.axis, std::span(line).first(points.axis.size()), place);
  }
  return made;
}

}  // namespace

void TableSource::Slice::add_slopes() {
  const std::size_t fields = log_field.size();
  slopes.resize(values.size());
  std::vector<double> line(fields);
  for (std::size_t row = 0; row * fields < values.size(); ++row)
    for (std::size_t q = 0; q < Quantities{}.size(); ++q) {
      for (std::size_t e = 0; e < fields; ++e) line[e] = values[row * fields + e][q];
      const std::vector<double> made = monotone_slopes(log_field, line);
      for (std::size_t e = 0; e < fields; ++e) slopes[row * fields + e][q] = made[e];
    }
}

TableSource::Quantities TableSource::Slice::along_field(std::size_t row, const AxisPlace& place) const {
  const std::size_t at = row * log_field.size() + place.left;
  if (log_field.size() == 1) return values[at];
  Quantities made{};
  if (place.part > 1) {
    for (std::size_t q = 0; q < made.size(); ++q)
      made[q] = values[at + 1][q] + (place.part - 1) * place.width * slopes[at + 1][q];
    return made;
  }
  const HermiteWeights weight(place.part);
  for (std::size_t q = 0; q < made.size(); ++q)
    made[q] = weight.value_left * values[at][q] + weight.value_right * values[at + 1][q] +
              place.width * (weight.slope_left * slopes[at][q] + weight.slope_right * slopes[at + 1][q]);
  return made;
}

/// The table at one radius.
class TableSource::Surface : public SurfaceSource {
 public:
  Surface(const std::vector<double>& log_nu, Slice slice, double r, double b0, double b2_ratio, bool outside)
      : log_nu_(log_nu),
        slice_(std::move(slice)),
        r_(r),
        reference_field_(b0),
        b2_ratio_(b2_ratio),
        outside_(outside) {}

  [[nodiscard]] double reference_field() const override { return reference_field_; }
  [[nodiscard]] double b2_ratio() const override { return b2_ratio_; }

  void coefficients(std::span<const double> nu_hat, std::span<const double> er_hat,
                    std::span<SurfaceDij> made) const override {
    for (std::size_t i = 0; i < nu_hat.size(); ++i) {
      const double log_nu = std::log(nu_hat[i]), log_field = log_of_field(er_hat[i], r_);
      const double held_nu = std::clamp(log_nu, log_nu_.front(), log_nu_.back());
      const double held_field = std::min(log_field, slice_.log_field.back());
      made[i] = {physical(at(held_nu, held_field, log_nu), log_nu, held_nu, nu_hat[i]),
                 outside_ || held_nu != log_nu || held_field != log_field};
    }
  }

 private:
  /// Monotone along nu_hat through the four rows around it, each taken at the field first.
  [[nodiscard]] Quantities at(double held_nu, double log_field, double log_nu) const {
    AxisPlace nu = place_on(log_nu_, held_nu);
    const AxisPlace field = place_on(slice_.log_field, log_field);
    const Neighbours rows(log_nu_, nu);
    std::array<Quantities, 4> row{};
    for (std::size_t k = 0; k < rows.axis.size(); ++k) row[k] = slice_.along_field(rows.first + k, field);
    Quantities made = between(rows, row, nu);
    if (log_nu < held_nu) made[0] += std::clamp((row[1][0] - row[0][0]) / nu.width, -1.0, 1.0) * (log_nu - held_nu);
    return made;
  }

  [[nodiscard]] static Dij physical(const Quantities& q, double log_nu, double held_nu, double nu_hat) {
    const double above = std::max(0.0, log_nu - held_nu);
    if (above == 0) return {std::exp(q[0]), q[1], q[2], q[3] / nu_hat};
    const double rise = std::exp(above);
    return {std::exp(q[0]) * rise, q[1] / (rise * rise), q[2] / (rise * rise), q[3] / nu_hat};
  }

  const std::vector<double>& log_nu_;  // of the TableSource
  Slice slice_;
  double r_, reference_field_, b2_ratio_;
  bool outside_;
};

TableSource::TableSource(const Database& database) : a_b_(database.a_b), rho_(database.axes.rho) {
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
    Slice slice;
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
        slice.values.push_back({std::log(d.D11), d.D31, d.D13, d.D33 * axes.nu_v[static_cast<std::size_t>(n)]});
      }
    slice.add_slopes();
    slices_.push_back(std::move(slice));
  }
}

TableSource::Slice TableSource::resampled(double rho, const std::vector<double>& log_field) const {
  AxisPlace place = place_on(rho_, rho);
  const Neighbours radii(rho_, place);
  const std::size_t fields = log_field.size();
  Slice made{log_field, std::vector<Quantities>(log_nu_.size() * fields), {}};
  std::array<Quantities, 4> at_radius{};
  for (std::size_t e = 0; e < fields; ++e)
    for (std::size_t row = 0; row < log_nu_.size(); ++row) {
      for (std::size_t k = 0; k < radii.axis.size(); ++k) {
        const Slice& slice = slices_[radii.first + k];
        at_radius[k] = slice.along_field(row, place_on(slice.log_field, log_field[e]));
      }
      made.values[row * fields + e] = between(radii, at_radius, place);
    }
  made.add_slopes();
  return made;
}

std::unique_ptr<SurfaceSource> TableSource::at(double rho) const {
  if (!(rho > 0 && rho <= 1)) throw Error(ErrorKind::bad_input, fmt::format("rho = {}: expected 0 < rho <= 1", rho));
  const double held = std::clamp(rho, rho_.front(), rho_.back());
  const auto exact = std::find(rho_.begin(), rho_.end(), held);
  if (exact != rho_.end()) {
    const auto i = static_cast<std::size_t>(exact - rho_.begin());
    return std::make_unique<Surface>(log_nu_, slices_[i], a_b_ * rho, reference_field_[i], b2_ratio_[i], held != rho);
  }
  std::vector<double> log_field;
  for (const double er_hat : er_hat_) log_field.push_back(log_of_field(er_hat, a_b_ * rho));
  const AxisPlace place = place_on(rho_, rho);
  return std::make_unique<Surface>(log_nu_, resampled(rho, log_field), a_b_ * rho,
                                   monotone_between(rho_, reference_field_, place),
                                   monotone_between(rho_, b2_ratio_, place), false);
}

}  // namespace sonde::neoclassical
