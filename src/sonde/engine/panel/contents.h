// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/engine/options/value.h"
#include "sonde/engine/panel/page.h"

// The contents of panels that are only text: facts, charts and tables, as docs/viewer-protocol.md describes their
// options.

namespace sonde::panel {

/// Appends a panel, unless it is empty.
void add_panel(Page& page, std::string id, std::string type, std::string title, Value options);

/// The options of a panel of facts: names with their values, both as text.
class Facts {
 public:
  /// Leaves an empty text out.
  void add(const std::string& name, const std::string& text);
  void add_bytes(const std::string& name, double bytes);
  /// Every member, those of inner objects under "outer.inner". Lists of objects are left for tables.
  void add_members(const Value& object, const std::string& prefix = "");
  [[nodiscard]] Value take() { return std::move(options_); }

 private:
  Value options_ = Value::object();
};

/// A cell of a table: numbers and truth as they are, all else as text.
[[nodiscard]] Value cell(const Value* value);
/// The options of a table with an object in each row. Columns are the members of all rows in the order in which they
/// first appear.
[[nodiscard]] Value table_of(const Value::List& objects);

/// A tree of data as panels: its members as facts, and a table for each list of objects. A list of objects by itself is
/// one table.
void add_tree(Page& page, const std::string& id, const std::string& title, const Value& tree);

}  // namespace sonde::panel
