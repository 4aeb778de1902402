// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/array/shape.h"
#include "sonde/engine/io/hdf5/bytes.h"

namespace sonde::hdf5 {

/// The extents of a data set or an attribute (section IV.A.2.b).
struct Dataspace {
  static constexpr std::uint64_t unlimited = ~std::uint64_t{0};

  bool null = false;                   ///< holds no element at all
  std::vector<std::uint64_t> extents;  ///< rank 0: a scalar
  std::vector<std::uint64_t> largest;  ///< what they may grow to

  /// Number of elements; a Fault when it does not fit into 62 bits.
  [[nodiscard]] std::uint64_t count() const;
  /// A Fault(not_supported) above Shape::max_rank dimensions. A null space has the shape (0).
  [[nodiscard]] Shape shape() const;
};

[[nodiscard]] Dataspace read_dataspace(ByteSpan message, Widths widths);

}  // namespace sonde::hdf5
