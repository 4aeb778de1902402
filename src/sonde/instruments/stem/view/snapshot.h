// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace sonde::stem {

/// A self-contained page: pictures, facts and the state it was made from, nothing outside of it.
struct Snapshot {
  std::string title;
  std::vector<std::pair<std::string, std::vector<std::byte>>> pictures;  ///< caption, PNG
  std::vector<std::pair<std::string, std::string>> facts;
  std::string state;  ///< JSON
};

[[nodiscard]] std::string to_html(const Snapshot& snapshot);

}  // namespace sonde::stem
