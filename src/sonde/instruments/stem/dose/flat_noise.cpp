// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/dose/flat_noise.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sonde::stem {
namespace {

constexpr Index strip_rows = 12;
constexpr double weights[3][3] = {{1, -2, 1}, {-2, 4, -2}, {1, -2, 1}};

}  // namespace

void FlatNoise::add(View<const float, 2> pattern, std::span<const std::uint8_t> flat) {
  const Index rows = pattern.extent[0], cols = pattern.extent[1];
  const auto is_flat = [&](Index row, Index col) {
    for (Index i = -1; i <= 1; ++i)
      for (Index j = -1; j <= 1; ++j)
        if (flat[static_cast<std::size_t>((row + i) * cols + col + j)] == 0) return false;
    return true;
  };
  for (Index first = 1; first < rows - 1; first += strip_rows) {
    Sums sums;
    for (Index row = first; row < std::min(first + strip_rows, rows - 1); ++row)
      for (Index col = 1; col < cols - 1; ++col) {
        if (!is_flat(row, col)) continue;
        ++squares_;
        double difference = 0;
        for (Index i = 0; i < 3; ++i)
          for (Index j = 0; j < 3; ++j) {
            const double w = weights[i][j], counts = static_cast<double>(pattern(row + i - 1, col + j - 1));
            difference += w * counts;
            sums.of_counts += w * w * counts;
          }
        sums.of_squares += difference * difference;
      }
    if (sums.of_counts > 0) strips_.push_back(sums);
  }
}

bool FlatNoise::known() const {
  // Sums of w^2 are 36 for a count in each of nine pixels, and single counts among zeros do not scatter at all.
  constexpr double fewest = 100 * 36;
  double counts = 0;
  for (const Sums& strip : strips_) counts += strip.of_counts;
  return counts >= fewest && sigma() <= 0.05 * ratio();
}

double FlatNoise::ratio() const {
  Sums total;
  for (const Sums& strip : strips_) {
    total.of_squares += strip.of_squares;
    total.of_counts += strip.of_counts;
  }
  return total.of_squares / total.of_counts;
}

double FlatNoise::sigma() const {
  if (strips_.size() < 2) return std::numeric_limits<double>::infinity();
  const double middle = ratio();
  double squares = 0, counts = 0;
  for (const Sums& strip : strips_) {
    squares += std::pow(strip.of_squares - middle * strip.of_counts, 2);
    counts += strip.of_counts;
  }
  const auto strips = static_cast<double>(strips_.size());
  return std::sqrt(squares * strips / (strips - 1)) / counts;
}

bool FlatNoise::not_poisson() const { return known() && std::abs(ratio() - 1) > 0.2; }

}  // namespace sonde::stem
