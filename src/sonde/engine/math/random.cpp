// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/random.h"

#include <cassert>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "sonde/engine/math/philox.h"

namespace sonde {
namespace {

std::array<std::uint32_t, 4> block_of(std::uint64_t seed, std::uint64_t stream, std::uint64_t block) {
  return philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                 static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)},
                {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

struct Pair {
  double first, second;
};

Pair uniform_pair(RandomStream random, std::uint64_t block) {
  const auto bits = block_of(random.seed, random.stream, block);
  return {unit_interval(bits[0], bits[1]), unit_interval(bits[2], bits[3])};
}

Pair normal_pair(Pair uniform) {
  const double radius = std::sqrt(-2 * std::log(uniform.first)), angle = 2 * std::numbers::pi * uniform.second;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// values[2 k] and values[2 k + 1] come from block k.
template <class PairOf>
void draw_pairs(std::span<double> values, PairOf pair_of) {
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const Pair pair = pair_of(i / 2);
    values[i] = pair.first;
    if (i + 1 < values.size()) values[i + 1] = pair.second;
  }
}

}  // namespace

void draw_uniform(RandomStream random, std::span<double> values) {
  draw_pairs(values, [&](std::uint64_t block) { return uniform_pair(random, block); });
}

void draw_normal(RandomStream random, std::span<double> values) {
  draw_pairs(values, [&](std::uint64_t block) { return normal_pair(uniform_pair(random, block)); });
}

std::uint64_t Random::bits() {
  const auto block = block_of(state_.seed, state_.stream, state_.drawn / 2);
  const std::size_t at = state_.drawn++ % 2 == 0 ? 0 : 2;
  return std::uint64_t{block[at + 1]} << 32 | block[at];
}

double Random::uniform() {
  const std::uint64_t drawn = bits();
  return unit_interval(static_cast<std::uint32_t>(drawn), static_cast<std::uint32_t>(drawn >> 32));
}

double Random::normal() {
  const double first = uniform();
  return normal_pair({first, uniform()}).first;
}

Index Random::below(Index count) {
  assert(count >= 1);
  const auto n = static_cast<std::uint64_t>(count);
  // Numbers below 2^64 mod n are drawn again: what is left divides evenly among the n answers.
  const std::uint64_t uneven = (0 - n) % n;
  std::uint64_t drawn = bits();
  while (drawn < uneven) drawn = bits();
  return static_cast<Index>(drawn % n);
}

std::vector<Index> Random::permutation(Index count) {
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index{0});
  for (Index last = count - 1; last > 0; --last)
    std::swap(order[static_cast<std::size_t>(last)], order[static_cast<std::size_t>(below(last + 1))]);
  return order;
}

}  // namespace sonde
