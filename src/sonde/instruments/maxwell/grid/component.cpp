// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/grid/component.h"

#include <fmt/format.h>

#include "sonde/engine/base/error.h"

namespace sonde::maxwell {

Component parse_component(std::string_view word) {
  for (const Component c : all_components)
    if (name(c) == word) return c;
  throw Error(ErrorKind::bad_input, fmt::format("\"{}\": expected a field component, Ex to Hz", word));
}

}  // namespace sonde::maxwell
