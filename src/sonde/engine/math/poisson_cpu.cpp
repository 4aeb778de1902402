// SPDX-License-Identifier: Apache-2.0
// Loops that the compiler turns into vectors; compiled without contraction, so that every clone gives the same counts.
#include <array>
#include <bit>

#include "sonde/engine/device/multiversion.h"
#include "sonde/engine/math/poisson_kernels.h"

namespace sonde::cpu {
namespace {

constexpr std::size_t lanes = 16;
// P(count > 160 | rate 32) < 10^-60; the bound ends the search when rounding keeps the sum below the random number.
constexpr std::size_t most_steps = 160;

constexpr std::array<double, most_steps + 1> reciprocals() {
  std::array<double, most_steps + 1> table{};
  for (std::size_t k = 1; k <= most_steps; ++k) table[k] = 1.0 / static_cast<double>(k);
  return table;
}
constexpr std::array<double, most_steps + 1> reciprocal = reciprocals();

}  // namespace

// A search from zero: sum = P(count <= k), term = P(count = k) = term (k - 1) rate / k, until sum reaches the random
// number. Sixteen elements go together and take as many steps as the largest count among them.
SONDE_MULTIVERSION
void invert_poisson(RandomStream random, std::uint32_t first, const double* rates, std::uint32_t* counts) {
  constexpr std::size_t pairs = poisson_group / 2;
  std::uint32_t a[pairs], b[pairs], c[pairs], d[pairs];
  for (std::size_t j = 0; j < pairs; ++j) {
    a[j] = first / 2 + static_cast<std::uint32_t>(j);
    b[j] = 0;
    c[j] = static_cast<std::uint32_t>(random.stream);
    d[j] = static_cast<std::uint32_t>(random.stream >> 32);
  }
  auto key0 = static_cast<std::uint32_t>(random.seed), key1 = static_cast<std::uint32_t>(random.seed >> 32);
  for (int round = 0; round < 10; ++round) {  // philox() of philox.h on all counters at once
    for (std::size_t j = 0; j < pairs; ++j) {
      const std::uint64_t left = std::uint64_t{0xD2511F53} * a[j], right = std::uint64_t{0xCD9E8D57} * c[j];
      a[j] = static_cast<std::uint32_t>(right >> 32) ^ b[j] ^ key0;
      b[j] = static_cast<std::uint32_t>(right);
      c[j] = static_cast<std::uint32_t>(left >> 32) ^ d[j] ^ key1;
      d[j] = static_cast<std::uint32_t>(left);
    }
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  // unit_interval() of philox.h without a conversion from 64-bit integers: the bits become the fraction of a number
  // between 1 and 2.
  double uniform[poisson_group];
  for (std::size_t j = 0; j < pairs; ++j) {
    const std::uint64_t even = (std::uint64_t{b[j]} << 32 | a[j]) >> 12, odd = (std::uint64_t{d[j]} << 32 | c[j]) >> 12;
    uniform[2 * j] = std::bit_cast<double>(even | 0x3FF0000000000000u) - (1 - 0x1p-53);
    uniform[2 * j + 1] = std::bit_cast<double>(odd | 0x3FF0000000000000u) - (1 - 0x1p-53);
  }

  // exp(-rate) = 2^-n exp(-r) with |r| <= ln 2 / 2: Taylor's series to 13th order is exact to 2^-53.
  double none[poisson_group];
  for (std::size_t i = 0; i < poisson_group; ++i) {
    constexpr double round_to_integer = 0x1.8p52;
    const double shifted = rates[i] * 1.4426950408889634 + round_to_integer;
    const double n = shifted - round_to_integer;
    const double r = (n * 0x1.62e42fee00000p-1 - rates[i]) + n * 0x1.a39ef35793c76p-33;
    double sum = 1.0 / 6227020800.0;
    sum = sum * r + 1.0 / 479001600.0;
    sum = sum * r + 1.0 / 39916800.0;
    sum = sum * r + 1.0 / 3628800.0;
    sum = sum * r + 1.0 / 362880.0;
    sum = sum * r + 1.0 / 40320.0;
    sum = sum * r + 1.0 / 5040.0;
    sum = sum * r + 1.0 / 720.0;
    sum = sum * r + 1.0 / 120.0;
    sum = sum * r + 1.0 / 24.0;
    sum = sum * r + 1.0 / 6.0;
    sum = sum * r + 0.5;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    const std::uint64_t exponent = 1023u - (std::bit_cast<std::uint64_t>(shifted) & 0x7FFu);
    none[i] = sum * std::bit_cast<double>(exponent << 52);
  }

  for (std::size_t group = 0; group < poisson_group; group += lanes) {
    double term[lanes], sum[lanes];
    std::uint64_t count[lanes];
    for (std::size_t i = 0; i < lanes; ++i) {
      term[i] = sum[i] = none[group + i];
      count[i] = 0;
    }
    for (std::size_t step = 1; step <= most_steps; ++step) {
      std::uint64_t open = 0;
      for (std::size_t i = 0; i < lanes; ++i) {
        const std::uint64_t more = uniform[group + i] > sum[i] ? 1 : 0;
        count[i] += more;
        open |= more;
        term[i] = term[i] * (rates[group + i] * reciprocal[step]);
        sum[i] = sum[i] + term[i];
      }
      if (open == 0) break;
    }
    for (std::size_t i = 0; i < lanes; ++i) counts[group + i] = static_cast<std::uint32_t>(count[i]);
  }
}

}  // namespace sonde::cpu
