// SPDX-License-Identifier: Apache-2.0
// Arrays whose every element is known from its place.
#pragma once

#include <cstddef>
#include <vector>

#include "sonde/engine/array/array.h"

namespace sonde::testing {

/// Element i is i * step, wrapped to the range of T.
template <class T>
Array ramp(Shape shape, unsigned step) {
  std::vector<T> elements(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<T>(i * step);
  return Array::from(elements, shape);
}

}  // namespace sonde::testing
