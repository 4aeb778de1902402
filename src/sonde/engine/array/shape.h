// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <initializer_list>
#include <string>

#include "sonde/engine/base/index.h"

namespace sonde {

/// Extents of an array, slowest dimension first; up to eight dimensions.
class Shape {
 public:
  static constexpr int max_rank = 8;

  Shape() = default;
  Shape(std::initializer_list<Index> extents);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] Index operator[](int dimension) const { return extents_[static_cast<std::size_t>(dimension)]; }
  void append(Index extent);
  /// Number of elements. Throws Error(bad_input) when it does not fit into 63 bits.
  [[nodiscard]] Index count() const;
  /// The last (fastest) `dimensions` extents; the first ones.
  [[nodiscard]] Shape last(int dimensions) const;
  [[nodiscard]] Shape first(int dimensions) const;
  /// "(512, 512, 192, 192)".
  [[nodiscard]] std::string text() const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  int rank_ = 0;
  std::array<Index, max_rank> extents_{};
};

}  // namespace sonde
