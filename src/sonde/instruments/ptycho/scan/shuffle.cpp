// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/scan/shuffle.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/math/philox.h"

namespace sonde::ptycho {
namespace {

/// floor(r n / 2^64) for 64 random bits r and n < 2^32: uniform on [0, n) but for n / 2^64.
std::uint64_t below(std::uint64_t n, std::uint32_t low, std::uint32_t high) {
  return (high * n + (low * n >> 32)) >> 32;
}

}  // namespace

void shuffle(std::span<Index> elements, const ShuffleKey& key) {
  if (elements.size() >> 32 != 0)
    throw Error(ErrorKind::bad_input, fmt::format("{} positions are too many for a random order", elements.size()));
  const std::array<std::uint32_t, 2> seed = {static_cast<std::uint32_t>(key.seed),
                                             static_cast<std::uint32_t>(key.seed >> 32)};
  for (std::size_t left = elements.size(); left > 1; --left) {
    const auto bits = philox({static_cast<std::uint32_t>(left), key.use, static_cast<std::uint32_t>(key.iteration),
                              static_cast<std::uint32_t>(key.iteration >> 32)},
                             seed);
    std::swap(elements[left - 1], elements[static_cast<std::size_t>(below(left, bits[0], bits[1]))]);
  }
}

}  // namespace sonde::ptycho
