// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::separate {

/// A node of a YAML file. Scalars are texts: who needs a number reads it, and says which.
struct Yaml {
  enum class Kind { null, text, list, map };
  Kind kind = Kind::null;
  Index line = 0;  ///< from 1
  std::string text{};
  std::vector<Yaml> items{};
  std::map<std::string, Yaml, std::less<>> members{};

  /// The member, or nullptr when this is no map, or has none, or it is null.
  [[nodiscard]] const Yaml* find(std::string_view key) const;
};

/// Reads one document of at most 1 MiB and 32 levels. The tags !!python/tuple and !!python/list mean lists; other
/// !!python tags, anchors, aliases, keys that are no text and keys given twice are errors. Throws Error(bad_file) with
/// `name` and line; Error(not_supported) when yaml-cpp is not installed.
[[nodiscard]] Yaml read_yaml(std::string_view text, const std::string& name);

}  // namespace sonde::separate
