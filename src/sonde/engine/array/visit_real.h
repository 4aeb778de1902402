// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sonde/engine/array/array.h"

namespace sonde {

/// Calls body(elements), a pointer to const of their type, for host arrays of real numbers; false for complex ones.
template <class Body>
bool visit_real(const Array& array, const Body& body) {
  const void* data = array.data();
  switch (array.dtype()) {
    case DType::u8:
      return body(static_cast<const std::uint8_t*>(data)), true;
    case DType::u16:
      return body(static_cast<const std::uint16_t*>(data)), true;
    case DType::u32:
      return body(static_cast<const std::uint32_t*>(data)), true;
    case DType::u64:
      return body(static_cast<const std::uint64_t*>(data)), true;
    case DType::i8:
      return body(static_cast<const std::int8_t*>(data)), true;
    case DType::i16:
      return body(static_cast<const std::int16_t*>(data)), true;
    case DType::i32:
      return body(static_cast<const std::int32_t*>(data)), true;
    case DType::i64:
      return body(static_cast<const std::int64_t*>(data)), true;
    case DType::f32:
      return body(static_cast<const float*>(data)), true;
    case DType::f64:
      return body(static_cast<const double*>(data)), true;
    default:
      return false;
  }
}

/// The elements of a contiguous host array as float64; nothing for complex ones.
[[nodiscard]] inline std::optional<std::vector<double>> real_values(const Array& array) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(array.count()));
  const bool real = visit_real(array, [&](const auto* from) {
    for (Index i = 0; i < array.count(); ++i) values.push_back(static_cast<double>(from[i]));
  });
  if (!real) return std::nullopt;
  return values;
}

}  // namespace sonde
