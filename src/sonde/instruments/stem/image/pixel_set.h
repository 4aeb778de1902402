// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// A set of pixels as one bit each: comparing two detectors costs one operation per 64 pixels.
class PixelSet {
 public:
  PixelSet() = default;
  explicit PixelSet(Index pixels) : words_(static_cast<std::size_t>((pixels + 63) / 64), 0) {}
  PixelSet(Index pixels, std::span<const Index> members) : PixelSet(pixels) {
    for (const Index pixel : members) insert(pixel);
  }

  void insert(Index pixel) { words_[static_cast<std::size_t>(pixel / 64)] |= std::uint64_t{1} << (pixel % 64); }
  [[nodiscard]] bool holds(Index pixel) const {
    return (words_[static_cast<std::size_t>(pixel / 64)] >> (pixel % 64) & 1) != 0;
  }

  [[nodiscard]] Index area() const {
    Index count = 0;
    for (const std::uint64_t word : words_) count += std::popcount(word);
    return count;
  }
  /// Number of pixels in one of two sets of one detector, but not in both.
  [[nodiscard]] Index distance(const PixelSet& other) const {
    Index count = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) count += std::popcount(words_[i] ^ other.words_[i]);
    return count;
  }
  [[nodiscard]] PixelSet intersection(const PixelSet& other) const {
    PixelSet both = *this;
    for (std::size_t i = 0; i < words_.size(); ++i) both.words_[i] &= other.words_[i];
    return both;
  }
  /// Pixels of this set that `other` lacks, ascending.
  [[nodiscard]] std::vector<Index> without(const PixelSet& other) const {
    std::vector<Index> pixels;
    for (std::size_t i = 0; i < words_.size(); ++i)
      for (std::uint64_t word = words_[i] & ~other.words_[i]; word != 0; word &= word - 1)
        pixels.push_back(static_cast<Index>(i) * 64 + std::countr_zero(word));
    return pixels;
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace sonde::stem
