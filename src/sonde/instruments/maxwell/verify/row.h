// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace sonde::maxwell {

enum class VerifySize {
  quick,  ///< small grids and few cases: all checks within seconds
  full    ///< every case, at the sizes that the limits were derived for: minutes
};

/// A number that a check has found, and its limit.
struct VerifyRow {
  std::string id;    ///< that of the check, a dot, and the case
  std::string what;  ///< the number in words, with its unit where it has one
  double value = 0, limit = 0;
  bool at_least = false;  ///< the limit is a lower one

  /// A value that is no number does not pass.
  [[nodiscard]] bool passes() const { return at_least ? value >= limit : value <= limit; }
};

}  // namespace sonde::maxwell
