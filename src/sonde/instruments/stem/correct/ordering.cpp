// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/correct/ordering.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace sonde::stem {

double median_of_nine(std::array<double, 9> v) {
  const auto order = [&](std::size_t a, std::size_t b) {
    const double low = v[b] < v[a] ? v[b] : v[a], high = v[b] < v[a] ? v[a] : v[b];
    v[a] = low;
    v[b] = high;
  };
  for (const std::size_t row : {0u, 3u, 6u}) {  // each row of three ascends
    order(row + 1, row + 2);
    order(row, row + 1);
    order(row + 1, row + 2);
  }
  // The largest of the least, the median of the medians and the least of the largest: the median is among them.
  order(0, 3);
  order(3, 6);
  order(5, 8);
  order(2, 5);
  order(4, 7);
  order(1, 4);
  order(4, 7);
  order(4, 2);
  order(6, 4);
  order(4, 2);
  return v[4];
}

void sort_values(std::vector<double>& values) {
  constexpr int digit_bits = 11;
  constexpr std::uint64_t digits = std::uint64_t{1} << digit_bits, sign = std::uint64_t{1} << 63;
  std::vector<std::uint64_t> keys(values.size()), sorted(values.size());
  std::transform(values.begin(), values.end(), keys.begin(), [](double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    return (bits & sign) != 0 ? ~bits : bits | sign;
  });
  const std::uint64_t differing = std::accumulate(keys.begin(), keys.end(), std::uint64_t{0},
                                                  [&](auto all, auto key) { return all | (key ^ keys.front()); });
  for (int shift = 0; shift < 64; shift += digit_bits) {
    if ((differing >> shift & (digits - 1)) == 0) continue;
    std::array<std::size_t, digits> start{};
    for (const std::uint64_t key : keys) ++start[key >> shift & (digits - 1)];
    std::exclusive_scan(start.begin(), start.end(), start.begin(), std::size_t{0});
    for (const std::uint64_t key : keys) sorted[start[key >> shift & (digits - 1)]++] = key;
    keys.swap(sorted);
  }
  std::transform(keys.begin(), keys.end(), values.begin(),
                 [](std::uint64_t key) { return std::bit_cast<double>((key & sign) != 0 ? key ^ sign : ~key); });
}

}  // namespace sonde::stem
