// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/database/database.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/error.h"

namespace sonde::neoclassical {
namespace {

void require_table(const Axes& axes, const char* name, const std::vector<double>& table) {
  if (static_cast<Index>(table.size()) != axes.count())
    throw Error(ErrorKind::bad_input, fmt::format("{} has {} values, expected {} x {} x {}", name, table.size(),
                                                  axes.radii(), axes.collisionalities(), axes.fields()));
  for (Index r = 0; r < axes.radii(); ++r)
    for (Index n = 0; n < axes.collisionalities(); ++n)
      for (Index e = 0; e < axes.fields(); ++e)
        if (const double value = table[axes.index(r, n, e)]; !std::isfinite(value))
          throw Error(ErrorKind::bad_input,
                      fmt::format("{} is {} at rho = {}, nu_v = {}, Er_tilde = {}", name, value,
                                  axes.rho[static_cast<std::size_t>(r)], axes.nu_v[static_cast<std::size_t>(n)],
                                  axes.Er_tilde[static_cast<std::size_t>(e)]));
}

void require_radial(const Axes& axes, const char* name, const std::vector<double>& values) {
  if (values.size() != axes.rho.size())
    throw Error(ErrorKind::bad_input,
                fmt::format("{} has {} values, expected one per radius: {}", name, values.size(), axes.rho.size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      throw Error(ErrorKind::bad_input, fmt::format("{} is {} at rho = {}", name, values[i], axes.rho[i]));
}

}  // namespace

double Database::largest_onsager_residual() const {
  double largest = 0;
  for (std::size_t i = 0; i < onsager_residual.size(); ++i)
    if (symmetric || axes.Er_tilde[i % axes.Er_tilde.size()] == 0) largest = std::max(largest, onsager_residual[i]);
  return largest;
}

double Database::b2_ratio(Index radius) const {
  const Index highest = axes.collisionalities() - 1;
  const std::size_t at = axes.index(radius, highest, 0);
  return 1.5 * axes.nu_v.back() * (D33_spitzer.empty() ? D33[at] : D33_spitzer[at]);
}

void require_valid(const Database& database) {
  const Axes& axes = database.axes;
  require_valid(axes);
  for (const auto& [name, value] : {std::pair{"psia", database.psia}, std::pair{"a_b", database.a_b}})
    if (!(value > 0) || !std::isfinite(value))
      throw Error(ErrorKind::bad_input, fmt::format("{} = {}: expected a number above zero", name, value));
  require_table(axes, "D11", database.D11);
  require_table(axes, "D31", database.D31);
  require_table(axes, "D13", database.D13);
  require_table(axes, "D33", database.D33);
  if (!database.D33_spitzer.empty()) require_table(axes, "D33_spitzer", database.D33_spitzer);
  const RadialGeometry& geometry = database.geometry;
  require_radial(axes, "B00", geometry.B00);
  // Files of the older layout have none of these.
  for (const auto& [name, values] :
       {std::pair{"R00", &geometry.R00}, std::pair{"G", &geometry.G}, std::pair{"I", &geometry.I},
        std::pair{"iota", &geometry.iota}, std::pair{"B0_solver", &geometry.B0_solver},
        std::pair{"signgs", &geometry.signgs}})
    if (!values->empty()) require_radial(axes, name, *values);
  for (Index r = 0; r < axes.radii(); ++r)
    if (!(database.b2_ratio(r) > 0))
      throw Error(ErrorKind::bad_input, fmt::format("D33 is not above zero at rho = {}, nu_v = {}",
                                                    axes.rho[static_cast<std::size_t>(r)], axes.nu_v.back()));
}

Index points_without_positive_d11(const Database& database) {
  return std::count_if(database.D11.begin(), database.D11.end(), [](double value) { return !(value > 0); });
}

}  // namespace sonde::neoclassical
