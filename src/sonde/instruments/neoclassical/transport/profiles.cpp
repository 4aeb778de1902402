// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/profiles.h"

#include <fmt/format.h>

#include <cmath>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {

std::vector<Population> standard_plasma(const StandardProfiles& profiles, double rho, double a_b) {
  if (!(rho >= 0 && rho <= 1)) throw Error(ErrorKind::bad_input, fmt::format("rho = {}: expected 0 <= rho <= 1", rho));
  const double kilo = 1e3 * elementary_charge;
  const double density = 1e20 * (profiles.n0 * (1 - std::pow(rho, 10)) + profiles.n_edge),
               density_slope = -1e21 * profiles.n0 * std::pow(rho, 9) / a_b,
               temperature = kilo * (profiles.T0 * (1 - rho * rho) + profiles.T_edge),
               temperature_slope = -2 * kilo * profiles.T0 * rho / a_b;
  return {{species("e"), density, temperature, density_slope, temperature_slope},
          {species("D"), density / 2, temperature, density_slope / 2, temperature_slope},
          {species("T"), density / 2, temperature, density_slope / 2, temperature_slope}};
}

TabulatedProfiles::TabulatedProfiles(std::vector<double> rho, const std::vector<Column>& columns,
                                     std::vector<double> er) {
  if (rho.size() < 2)
    throw Error(ErrorKind::bad_input, fmt::format("profiles at {} points of rho, expected two or more", rho.size()));
  if (columns.empty()) throw Error(ErrorKind::bad_input, "profiles without a species");
  if (!(rho.front() >= 0 && rho.back() <= 1))
    throw Error(ErrorKind::bad_input,
                fmt::format("profiles from rho = {} to {}: expected 0 <= rho <= 1", rho.front(), rho.back()));
  first_ = rho.front();
  last_ = rho.back();
  const auto curve = [&](const std::vector<double>& values, double unit, const std::string& name) {
    std::vector<double> scaled;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!(values[i] * unit > 0))  // also what is lost on the way to joules
        throw Error(ErrorKind::bad_input,
                    fmt::format("{} is {} in place {}, expected a number above zero", name, values[i], i + 1));
      scaled.push_back(values[i] * unit);
    }
    return MonotoneCubic(rho, std::move(scaled), name.c_str());
  };
  for (const Column& column : columns)
    curves_.push_back({column.species, curve(column.density, 1, "n_" + column.species.name),
                       curve(column.temperature, elementary_charge, "T_" + column.species.name)});
  if (!er.empty()) radial_field_.emplace(std::move(rho), std::move(er), "Er");
}

void TabulatedProfiles::require_within(double rho) const {
  if (!(rho >= first_ && rho <= last_))
    throw Error(ErrorKind::bad_input,
                fmt::format("rho = {}: the profiles are given from {} to {}", rho, first_, last_));
}

std::vector<Population> TabulatedProfiles::plasma(double rho, double a_b) const {
  require_within(rho);
  std::vector<Population> made;
  for (const Curves& curves : curves_)
    made.push_back({curves.species, curves.density.value(rho), curves.temperature.value(rho),
                    curves.density.slope(rho) / a_b, curves.temperature.slope(rho) / a_b});
  return made;
}

std::optional<double> TabulatedProfiles::radial_field(double rho) const {
  require_within(rho);
  if (!radial_field_) return std::nullopt;
  return radial_field_->value(rho);
}

}  // namespace sonde::neoclassical
