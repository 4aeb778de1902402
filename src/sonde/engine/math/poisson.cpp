// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/poisson.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/engine/math/philox.h"
#include "sonde/engine/math/poisson_kernels.h"

namespace sonde {
namespace {

constexpr double largest_rate = 1e9;

/// ln k! by Stirling's series; its first omitted term is below 10^-16 of the sum for k >= 16. (std::lgamma writes to a
/// global variable.)
double log_factorial(double k) {
  constexpr int small = 16;
  static const std::array<double, small> table = [] {
    std::array<double, small> values{};
    for (int i = 2; i < small; ++i)
      values[static_cast<std::size_t>(i)] = values[static_cast<std::size_t>(i - 1)] + std::log(static_cast<double>(i));
    return values;
  }();
  if (k < small) return table[static_cast<std::size_t>(k)];
  const double inverse = 1 / k, square = inverse * inverse;
  const double series = inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680))));
  return (k + 0.5) * std::log(k) - k + 0.5 * std::log(2 * std::numbers::pi) + series;
}

/// Algorithm PTRS. Attempt n of element i takes its two random numbers from counter (i, n): inversion uses n = 0.
std::uint32_t reject_poisson(RandomStream random, std::uint32_t element, double rate) {
  const double spread = 0.931 + 2.53 * std::sqrt(rate), slope = -0.059 + 0.02483 * spread;
  const double inverse_alpha = 1.1239 + 1.1328 / (spread - 3.4), sure = 0.9277 - 3.6224 / (spread - 2);
  const std::array<std::uint32_t, 2> key = {static_cast<std::uint32_t>(random.seed),
                                            static_cast<std::uint32_t>(random.seed >> 32)};
  for (std::uint32_t attempt = 1;; ++attempt) {
    const auto bits = philox(
        {element, attempt, static_cast<std::uint32_t>(random.stream), static_cast<std::uint32_t>(random.stream >> 32)},
        key);
    const double u = unit_interval(bits[0], bits[1]) - 0.5, v = unit_interval(bits[2], bits[3]);
    const double rim = 0.5 - std::abs(u);
    const double count = std::floor((2 * slope / rim + spread) * u + rate + 0.43);
    if (rim >= 0.07 && v <= sure) return static_cast<std::uint32_t>(count);
    if (count < 0 || (rim < 0.013 && v > rim)) continue;
    if (std::log(v * inverse_alpha / (slope / (rim * rim) + spread)) <=
        count * std::log(rate) - rate - log_factorial(count))
      return static_cast<std::uint32_t>(count);
  }
}

}  // namespace

void draw_poisson(RandomStream random, std::span<const double> rates, std::span<std::uint32_t> counts) {
  if (rates.size() != counts.size())
    throw Error(ErrorKind::bad_input, fmt::format("{} rates for {} counts", rates.size(), counts.size()));
  constexpr std::size_t group = cpu::poisson_group;
  std::array<double, group> inverted{};
  std::array<std::uint32_t, group> drawn{};
  for (std::size_t first = 0; first < rates.size(); first += group) {
    const std::size_t size = std::min(group, rates.size() - first);
    const std::span<const double> part = rates.subspan(first, size);
    double smallest = 0, largest = 0;
    bool number = true;
    for (const double rate : part) {
      number = number && rate == rate;
      smallest = std::min(smallest, rate);
      largest = std::max(largest, rate);
    }
    if (!number || smallest < 0 || largest > largest_rate)
      throw Error(ErrorKind::bad_input,
                  fmt::format("rates must be between 0 and {}, got {} to {}{}", largest_rate, smallest, largest,
                              number ? "" : " and values that are not numbers"));
    const auto element = static_cast<std::uint32_t>(first);
    if (size == group && largest <= cpu::largest_inverted_rate) {
      cpu::invert_poisson(random, element, part.data(), counts.data() + first);
      continue;
    }
    for (std::size_t i = 0; i < size; ++i) inverted[i] = part[i] <= cpu::largest_inverted_rate ? part[i] : 0;
    std::fill(inverted.begin() + static_cast<std::ptrdiff_t>(size), inverted.end(), 0.0);
    cpu::invert_poisson(random, element, inverted.data(), drawn.data());
    for (std::size_t i = 0; i < size; ++i)
      counts[first + i] = part[i] <= cpu::largest_inverted_rate
                              ? drawn[i]
                              : reject_poisson(random, element + static_cast<std::uint32_t>(i), part[i]);
  }
}

}  // namespace sonde
