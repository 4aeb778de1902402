// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/gprmax_input.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sonde/instruments/maxwell/grid/constants.h"

namespace sonde::maxwell {
namespace {

/// gprMax floors the decimal expansion of the double, which is exact here too: a double has at most 1074 decimals.
double floored_to_27_decimals(double value) {
  std::array<char, 1500> digits{};
  char* const end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed, 1074).ptr;
  char* const point = std::find(digits.data(), end, '.');
  double floored = 0;
  std::from_chars(digits.data(), std::min(point + 28, end), floored);
  return floored;
}

}  // namespace

Index rounded_half_down(double value) {
  constexpr double most = 1e15;  // beyond it, and for what is not a number: no plane of any grid
  if (!(std::abs(value) < most)) return static_cast<Index>(value < 0 ? -most : most);
  const double whole = std::floor(std::abs(value));
  const auto rounded = static_cast<Index>(std::abs(value) - whole > 0.5 ? whole + 1 : whole);
  return value < 0 ? -rounded : rounded;
}

XyzIndex nearest_planes(const Xyz& position, const Xyz& spacing) {
  XyzIndex planes{};
  for (std::size_t u = 0; u < 3; ++u) planes[u] = rounded_half_down(position[u] / spacing[u]);
  return planes;
}

bool GprmaxMaterial::averaged() const { return std::isfinite(sigma) && poles.empty(); }

std::optional<std::size_t> GprmaxInput::flat_axis() const {
  const auto one = std::find(cells.begin(), cells.end(), 1);
  return one == cells.end() ? std::nullopt : std::optional(static_cast<std::size_t>(one - cells.begin()));
}

double GprmaxInput::time_step() const {
  double sum = 0;
  for (std::size_t u = 0; u < 3; ++u)
    if (u != flat_axis()) sum += 1 / spacing[u] * (1 / spacing[u]);
  return floored_to_27_decimals(1 / (c0 * std::sqrt(sum))) * stability_factor;
}

Index GprmaxInput::iterations() const {
  if (time_window.steps) return *time_window.steps;
  constexpr double most = 1e15;
  return static_cast<Index>(std::min(most, std::ceil(time_window.seconds / time_step()))) + 1;
}

double GprmaxInput::window() const {
  return time_window.steps ? static_cast<double>(*time_window.steps - 1) * time_step() : time_window.seconds;
}

Index GprmaxInput::snapshot_step(const GprmaxSnapshot& snapshot) const {
  return snapshot.time.steps ? *snapshot.time.steps : rounded_half_down(snapshot.time.seconds / time_step()) + 1;
}

}  // namespace sonde::maxwell
