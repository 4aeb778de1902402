// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "sonde/engine/options/tables.h"

namespace sonde {

/// What explains tables of settings beside their fields.
struct TablesGuide {
  std::map<std::string, std::string> about{};  ///< a sentence or more for each table
  /// A sentence for a kind of a list.
  std::function<std::string(const std::string& list, const std::string& kind)> about_kind{};
  /// Lists whose kinds that are not chosen are only named, under this head; of others their settings are given too.
  std::map<std::string, std::string> named_only{};
  Index comment_column = 36;
};

/// The tables with all their keys, in Markdown. `unset` has the defaults; each list gets an item of every kind. Throws
/// Error(internal) for a table that the guide does not know.
[[nodiscard]] std::string tables_markdown(Tables& unset, const TablesGuide& guide);

/// A file to begin with: every table and key with its meaning, keys that nobody set behind #. Settings named in
/// `missing` ("time.nt") are marked to be filled in. `unset` as above.
[[nodiscard]] std::string commented_tables(const Tables& known, Tables& unset, const TablesGuide& guide,
                                           const std::set<std::string>& missing = {});

}  // namespace sonde
