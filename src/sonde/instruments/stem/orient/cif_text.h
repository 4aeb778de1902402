// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::stem {

/// One data block of a CIF file (Hall, Allen and Brown 1991).
struct CifBlock {
  std::string name;
  /// By tag in lower case: one value, or the column of a loop. Unknown values (. and ?) are empty.
  std::map<std::string, std::vector<std::string>, std::less<>> values{};

  /// The first value of the first of these tags that has one; empty when none has.
  [[nodiscard]] std::string first(const std::vector<std::string_view>& tags) const;
  /// The column of the first of these tags that is there; nullptr when none is.
  [[nodiscard]] const std::vector<std::string>* column(const std::vector<std::string_view>& tags) const;
};

/// The data blocks of a text. Takes time and memory in proportion to its length, whatever is in it. Throws
/// Error(bad_file) that begins with `name` and the line.
[[nodiscard]] std::vector<CifBlock> parse_cif(std::string_view text, const std::string& name);

}  // namespace sonde::stem
