// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/options/fields.h"
#include "sonde/engine/options/value.h"

namespace sonde {

/// Settings in several named tables, as one configuration file holds them: [geometry] once; [[engine]] as often as
/// wanted, every time of the kind that its key `name` gives. Each table is described by Fields, and reading a file,
/// changing one setting by its path, the echo and the text of a file follow from that. See toml.h for reading.
///
///   Tables tables;
///   tables.add("geometry", Fields(run.geometry));
///   tables.add_list("engine", {"epie", "gd"}, [&](const std::string& kind) { return run.append_engine(kind); });
///   tables.add_list("geometry.stage", {}, [&](const std::string&) { return run.append_stage(); });
///
/// Items of a list without kinds have no `name`. A list may be part of a table: [[geometry.stage]].
///
/// What the fields are bound to must outlive this object and stay where it is.
class Tables {
 public:
  /// The fields of a new table of a list; whoever gives them keeps what they are bound to.
  using Append = std::function<Fields(const std::string& kind)>;

  /// One table as it stands; `kind` is empty for a table that is no item of a list.
  struct Item {
    std::string kind{};
    Fields fields;
  };
  struct Table {
    std::string name;
    bool list = false;
    std::vector<std::string> kinds{};  ///< that items of a list may have; none: its items are all alike
    Append append{};
    std::vector<Item> items{};  ///< exactly one unless a list
  };

  /// A table's name (lists that are part of one are not named by themselves), whether there may be several of it, and
  /// the keys that name files of arrays.
  struct Name {
    std::string name;
    bool list = false;
    std::vector<std::string> arrays{};
  };

  void add(std::string name, Fields fields);
  void add_list(std::string name, std::vector<std::string> kinds, Append append);

  [[nodiscard]] const std::vector<Table>& all() const { return tables_; }
  /// nullptr when unknown.
  [[nodiscard]] const Table* find(std::string_view name) const;
  /// The list `name` that is part of a table; nullptr when there is none.
  [[nodiscard]] const Table* find_in(const Table& table, std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] std::vector<Name> outline() const;

  /// Whether a setting of a table that is no list, "output.file", was set by anybody: it may have the value of its
  /// default all the same.
  [[nodiscard]] bool is_set(std::string_view setting) const;

  /// Adds an item to a list and returns its index; `kind` is empty where the list has none. Throws Error(usage)
  /// beginning with `where` for an unknown kind, naming the nearest.
  Index append(std::string_view list, const std::string& kind, std::string_view where);

  /// Sets one value. Throws what Fields::assign throws, an unknown key with the table that was meant; Error(internal)
  /// for tables that are not there.
  void assign(std::string_view table, Index item, std::string_view key, const Value& value, std::string_view where,
              Origin origin);
  /// Sets what a person wrote as "geometry.energy_keV=200" or, for an item of a list, "engine.0.iterations=200". Throws
  /// Error(usage) for another form, unknown tables and keys (naming the nearest, and the table that was meant), items
  /// that are not there and values that do not fit.
  void assign_text(std::string_view setting);

  /// Sets everything of an object of the form that echo() gives: an object per table, a list of objects with a `name`
  /// for a list (a single object is a list of one); a list that is part of a table may be a member of its object. Null
  /// leaves a setting as it is. Throws Error(usage) with all problems; `where` is what was given, "Reconstruction()".
  void assign_all(const Value& tables, std::string_view where, Origin origin = Origin::caller);

  /// The same, but a list that has items already, from a file, is not added to: Error(usage).
  void assign_over_file(const Value& tables, std::string_view where);

  /// A setting of a table that a verb has by itself too: a flag of the program, a keyword in Python.
  struct Lent {
    std::string setting;  ///< "grid.n_xi"
    std::string key{};    ///< of the verb, where that is another word: "output" for output.path
    char letter = 0;      ///< a one-letter flag
  };
  /// Adds these settings to the fields of a verb as they are described here, bound to these tables. The verb reads its
  /// file into tables of its own and then takes over what was given. Throws Error(internal) for a setting that is not
  /// there.
  void lend(Fields& fields, const std::vector<Lent>& settings) const;
  /// Sets what was given of the settings that a verb was lent. Throws what assign() throws.
  void take(const Fields& given);

  /// {"geometry": {"energy_keV": 200.0, ...}, "engine": [{"name": "epie", "iterations": 200, ...}], ...}: every
  /// setting with its present value. Lists without items are left out.
  [[nodiscard]] Value echo() const;

 private:
  Table& require(std::string_view name);
  /// Which other table has a key of that name, or one near it where `here` has none.
  void hint_elsewhere(Error& error, std::string_view key, const Fields& here) const;

  std::vector<Table> tables_;
};

}  // namespace sonde
