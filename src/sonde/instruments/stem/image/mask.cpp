// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/image/mask.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "sonde/engine/base/error.h"

namespace sonde::stem {
namespace {

void check_inside(Index rows, Index cols, Index first, Index last) {
  const Index outside = first < 0 ? first : last;
  if (first < 0 || last >= rows * cols)
    throw Error(ErrorKind::bad_input,
                fmt::format("mask: pixel {} is outside a detector of {} x {} pixels", outside, rows, cols));
}

/// Sorts pixels and weights together, leaves out weights of zero, and forgets the weights when all are one.
void normalise_weights(std::vector<Index>& pixels, std::vector<float>& weights) {
  std::vector<std::pair<Index, float>> both(pixels.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    if (!std::isfinite(weights[i]))
      throw Error(ErrorKind::bad_input, fmt::format("mask: the weight of pixel {} is not a number", pixels[i]));
    both[i] = {pixels[i], weights[i]};
  }
  std::sort(both.begin(), both.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  pixels.clear();
  weights.clear();
  for (std::size_t i = 0; i < both.size(); ++i) {
    if (i > 0 && both[i].first == both[i - 1].first)
      throw Error(ErrorKind::bad_input, fmt::format("mask: pixel {} has two weights", both[i].first));
    if (both[i].second == 0) continue;
    pixels.push_back(both[i].first);
    weights.push_back(both[i].second);
  }
  if (std::all_of(weights.begin(), weights.end(), [](float weight) { return weight == 1; })) weights.clear();
}

std::uint64_t content_hash(const Mask& mask) {
  const auto hash = [](const void* bytes, std::size_t count, std::uint64_t seed) {
    return static_cast<std::uint64_t>(XXH3_64bits_withSeed(bytes, count, seed));
  };
  const Index shape[2] = {mask.rows, mask.cols};
  std::uint64_t value = hash(shape, sizeof shape, 0);
  value = hash(mask.pixels.data(), mask.pixels.size() * sizeof(Index), value);
  return hash(mask.weights.data(), mask.weights.size() * sizeof(float), value);
}

}  // namespace

Mask make_mask(Index rows, Index cols, std::vector<Index> pixels, std::vector<float> weights) {
  if (rows < 0 || cols < 0)
    throw Error(ErrorKind::bad_input, fmt::format("mask: a detector of {} x {} pixels", rows, cols));
  if (!weights.empty() && weights.size() != pixels.size())
    throw Error(ErrorKind::bad_input, fmt::format("mask: {} pixels, but {} weights", pixels.size(), weights.size()));
  if (!weights.empty()) {
    normalise_weights(pixels, weights);
  } else if (!std::is_sorted(pixels.begin(), pixels.end(), std::less_equal<>())) {
    std::sort(pixels.begin(), pixels.end());
    pixels.erase(std::unique(pixels.begin(), pixels.end()), pixels.end());
  }
  if (!pixels.empty()) check_inside(rows, cols, pixels.front(), pixels.back());
  Mask mask;
  mask.rows = rows;
  mask.cols = cols;
  mask.pixels = std::move(pixels);
  mask.weights = std::move(weights);
  mask.hash = content_hash(mask);
  return mask;
}

DType accumulator(DType counts, Index pixels) {
  const std::uint64_t largest = max_value(counts), most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint64_t>(pixels) <= most / largest ? DType::u32 : DType::u64;
}

}  // namespace sonde::stem
