// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/options/value.h"

namespace sonde {

/// The number under `key` of an object of a report; 0 when there is none.
[[nodiscard]] inline double number_of(const Value& object, const char* key) {
  const Value* value = object.find(key);
  return value != nullptr && value->is_number() ? value->as_real() : 0;
}

}  // namespace sonde
