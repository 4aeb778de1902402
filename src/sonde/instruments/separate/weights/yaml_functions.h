// SPDX-License-Identifier: Apache-2.0
// Private to this room: what sonde_yaml.so exports.
#pragma once

#include <string>
#include <string_view>

#include "sonde/engine/base/index.h"

namespace sonde::separate {

/// What the parser meets, in the order of the text. Containers are closed by `end`.
struct YamlEvent {
  enum class Kind { document, null, scalar, list, map, end, alias };
  Kind kind = Kind::null;
  Index line = 0;  ///< from 1; 0 where it is not known
  std::string_view tag{}, text{};
  bool anchored = false;
};

struct YamlFunctions {
  /// Calls `take` for each event; what that throws reaches the caller. Returns what is wrong with the text, with its
  /// line, or an empty text.
  std::string (*parse)(std::string_view text, void* context, void (*take)(void* context, const YamlEvent& event));
};

}  // namespace sonde::separate
