// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace sonde::maxwell {

/// Of the fields.
enum class Precision { f32, f64 };
[[nodiscard]] constexpr std::size_t element_bytes(Precision precision) {
  return precision == Precision::f32 ? sizeof(float) : sizeof(double);
}

}  // namespace sonde::maxwell
