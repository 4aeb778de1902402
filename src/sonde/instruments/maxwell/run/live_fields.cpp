// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/live_fields.h"

#include <fmt/format.h>

#include <string>

#include "sonde/engine/base/error.h"

namespace sonde::maxwell {

void LiveFields::require(Component c) const {
  if (grid().has(c)) return;
  std::string there;
  for (const Component each : grid().components()) there += fmt::format("{}{}", there.empty() ? "" : ", ", name(each));
  throw Error(ErrorKind::bad_input, fmt::format("{}: the fields of this run are {}", name(c), there));
}

void LiveFields::require_editable() const {
  if (!state_) throw Error(ErrorKind::not_supported, "the fields of a sweep backwards cannot be changed");
}

}  // namespace sonde::maxwell
