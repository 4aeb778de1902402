// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/search_tables.h"

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {
namespace {

// Of the first level, each some two decades of seven or so. The last has 64 and 48.
constexpr int nu_steps = 8, field_steps = 6, finest = 1 << (SearchTables::levels - 1);

constexpr int stride(int level) { return finest >> level; }

}  // namespace

SearchTables::SearchTables(const SurfaceSource& source, const EnergyNodes& nodes, double least_field,
                           double largest_field)
    : source_(source) {
  double slowest = 1e300, fastest = 0;
  for (std::size_t a = 0; a < nodes.plasma().size(); ++a)
    for (std::size_t i = 0; i < nodes.rule().size(); ++i) {
      const double speed = nodes.speed(a)[i];
      reach_.emplace_back(std::log(nodes.nu_hat(a)[i]), std::log(largest_field / speed));
      slowest = std::min(slowest, speed);
      fastest = std::max(fastest, speed);
    }
  const auto [lowest, highest] = std::minmax_element(reach_.begin(), reach_.end());
  first_nu_ = lowest->first - 1e-6;
  last_nu_ = highest->first + 1e-6;
  last_field_ = std::log(largest_field / slowest);
  // Above what counts as no field (log_of_field), below the last.
  first_field_ = std::min(std::max(std::log(least_field / fastest), std::log(1e-7)), last_field_ - 1);
}

double SearchTables::nu_hat(int place) const {
  return std::exp(first_nu_ + (last_nu_ - first_nu_) * place / (nu_steps * finest));
}

double SearchTables::er_hat(int place) const {
  if (place == 0) return 0;
  return std::exp(first_field_ + (last_field_ - first_field_) * (place - finest) / (field_steps * finest));
}

/// Whether an energy of about this nu_hat feels such a field, two coarse steps wide for the slopes of the interpolants.
bool SearchTables::needed(const Place& place) const {
  if (place.second == 0) return true;
  const double step_nu = 2 * (last_nu_ - first_nu_) / nu_steps,
               step_field = 2 * (last_field_ - first_field_) / field_steps;
  const double log_nu = std::log(nu_hat(place.first)), log_field = std::log(er_hat(place.second));
  return std::any_of(reach_.begin(), reach_.end(), [&](const auto& energy) {
    return std::abs(energy.first - log_nu) <= step_nu && log_field <= energy.second + step_field;
  });
}

std::vector<SearchTables::Place> SearchTables::missing(int level) const {
  std::vector<Place> made;
  for (int nu = 0; nu <= nu_steps * finest; nu += stride(level)) {
    // Places of fields above 0 begin at `finest`, the first of every level.
    for (int field = 0; field <= (field_steps + 1) * finest; field += field == 0 ? finest : stride(level))
      if (!found_.contains({nu, field}) && needed({nu, field})) made.emplace_back(nu, field);
  }
  return made;
}

Index SearchTables::points_to_add(int level) const { return static_cast<Index>(missing(level).size()); }

SurfaceTable SearchTables::make(int level) {
  const std::vector<Place> places = missing(level);
  std::vector<double> nu, field;
  for (const auto& [i, j] : places) {
    nu.push_back(nu_hat(i));
    field.push_back(er_hat(j));
  }
  std::vector<SurfaceDij> made(places.size());
  source_.coefficients(nu, field, made);
  for (std::size_t i = 0; i < places.size(); ++i) found_[places[i]] = made[i];

  TableSlice slice;
  std::vector<double> log_nu;
  std::vector<int> columns;
  for (int j = 0; j <= (field_steps + 1) * finest; j += j == 0 ? finest : stride(level)) {
    columns.push_back(j);
    slice.log_field.push_back(log_of_field(er_hat(j), 1));
  }
  for (int i = 0; i <= nu_steps * finest; i += stride(level)) log_nu.push_back(std::log(nu_hat(i)));
  slice.values.resize(log_nu.size() * columns.size());
  for (std::size_t row = log_nu.size(); row-- > 0;)
    for (std::size_t column = 0; column < columns.size(); ++column) {
      TableQuantities& value = slice.values[row * columns.size() + column];
      const auto at = found_.find({static_cast<int>(row) * stride(level), columns[column]});
      if (at != found_.end() && at->second.unsolved.empty() && at->second.d.D11 > 0)
        value = table_quantities(at->second.d, std::exp(log_nu[row]));
      else if (at == found_.end())
        value = slice.values[row * columns.size() + column - 1];  // a field that nobody feels there
      else if (row + 1 < log_nu.size())
        value = slice.values[(row + 1) * columns.size() + column];
      else
        throw Error(ErrorKind::not_converged, "no answer at the most frequent collisions: " + at->second.unsolved);
    }
  slice.add_slopes();
  return {std::move(log_nu), std::move(slice), {1, source_.reference_field(), source_.b2_ratio(), source_.u2(), false}};
}

}  // namespace sonde::neoclassical
