// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/options/value.h"

namespace sonde::ptycho {

/// What a person changed while a run worked.
struct Change {
  Index after = 0;        ///< iterations that were done
  std::string setting{};  ///< "engine.0.step"; empty: the run began again
  Value before{}, now{};  ///< of the setting
  [[nodiscard]] bool restart() const { return setting.empty(); }
  friend bool operator==(const Change&, const Change&) = default;
};

/// {"after", "setting", "before", "now"}, or {"after", "restart": true}.
[[nodiscard]] Value to_value(const Change& change);
/// A list of them, in the order in which they happened.
[[nodiscard]] Value to_value(const std::vector<Change>& changes);
/// The same back; what is no change is left out.
[[nodiscard]] std::vector<Change> changes_of(const Value& list);
/// "engine.0.step from 0.5 to 0.3", "began again".
[[nodiscard]] std::string in_words(const Change& change);

}  // namespace sonde::ptycho
