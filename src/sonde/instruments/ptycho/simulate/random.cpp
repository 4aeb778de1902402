// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/simulate/random.h"

#include <cmath>
#include <numbers>

#include "sonde/engine/math/philox.h"

namespace sonde::ptycho {

std::array<double, 2> uniform_pair(std::uint64_t seed, Use use, Index i, Index k) {
  // The counter keeps 32 bits of each index; its last word keeps these streams apart from those of the frames.
  const auto bits =
      philox({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(use), ~0u},
             {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return {unit_interval(bits[0], bits[1]), unit_interval(bits[2], bits[3])};
}

std::array<double, 2> normal_pair(std::uint64_t seed, Use use, Index i, Index k) {
  // Box and Muller.
  const auto [u, v] = uniform_pair(seed, use, i, k);
  const double radius = std::sqrt(-2 * std::log(u)), angle = 2 * std::numbers::pi * v;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

}  // namespace sonde::ptycho
