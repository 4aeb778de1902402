// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/options/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde {

void Tables::add(std::string name, Fields fields) {
  if (find(name) != nullptr) throw Error(ErrorKind::internal, fmt::format("table \"{}\" is described twice", name));
  Table table{.name = std::move(name)};
  table.items.push_back({.fields = std::move(fields)});
  tables_.push_back(std::move(table));
}

void Tables::add_list(std::string name, std::vector<std::string> kinds, Append append) {
  if (find(name) != nullptr) throw Error(ErrorKind::internal, fmt::format("table \"{}\" is described twice", name));
  tables_.push_back({.name = std::move(name), .list = true, .kinds = std::move(kinds), .append = std::move(append)});
}

const Tables::Table* Tables::find(std::string_view name) const {
  const auto found =
      std::find_if(tables_.begin(), tables_.end(), [&](const Table& table) { return table.name == name; });
  return found == tables_.end() ? nullptr : &*found;
}

const Tables::Table* Tables::find_in(const Table& table, std::string_view name) const {
  const Table* found = find(fmt::format("{}.{}", table.name, name));
  return found != nullptr && found->list ? found : nullptr;
}

Tables::Table& Tables::require(std::string_view name) {
  if (const Table* table = find(name)) return const_cast<Table&>(*table);
  throw Error(ErrorKind::internal, fmt::format("no table \"{}\"", name));
}

std::vector<std::string> Tables::names() const {
  std::vector<std::string> names;
  for (const Table& table : tables_) names.push_back(table.name);
  return names;
}

Index Tables::append(std::string_view list, const std::string& kind, std::string_view where) {
  Table& table = require(list);
  const bool known =
      table.kinds.empty() ? kind.empty() : std::find(table.kinds.begin(), table.kinds.end(), kind) != table.kinds.end();
  if (!known) {
    Error error(ErrorKind::usage, fmt::format("{}: \"{}\" is not a known {}{}", where, kind, table.name,
                                              did_you_mean(kind, table.kinds)));
    if (!table.kinds.empty()) error.hint("known: " + join_words(table.kinds));
    throw error;
  }
  table.items.push_back({kind, table.append(kind)});
  return static_cast<Index>(table.items.size()) - 1;
}

void Tables::assign(std::string_view table, Index item, std::string_view key, const Value& value,
                    std::string_view where, Origin origin) {
  Fields& fields = require(table).items.at(static_cast<std::size_t>(item)).fields;
  try {
    fields.assign(key, value, where, origin);
  } catch (Error& error) {
    if (fields.find(key) == nullptr) hint_elsewhere(error, key, fields);
    throw;
  }
}

void Tables::hint_elsewhere(Error& error, std::string_view key, const Fields& here) const {
  std::vector<std::string> known;
  for (const Table& other : tables_)
    if (!other.list)
      for (const std::string& name : other.items.front().fields.names()) known.push_back(name);
  const std::vector<std::string> near = nearest_names(key, known);
  if (near.empty() || (near.front() != key && !nearest_names(key, here.names()).empty())) return;
  for (const Table& other : tables_) {
    if (other.list || other.items.front().fields.find(near.front()) == nullptr) continue;
    error.hint(near.front() == key ? fmt::format("[{}] has a key of this name", other.name)
                                   : fmt::format("[{}] has \"{}\"", other.name, near.front()));
    return;
  }
}

void Tables::assign_text(std::string_view setting) {
  const auto refuse = [&](const std::string& why) {
    return Error(ErrorKind::usage, fmt::format("\"{}\": {}", setting, why));
  };
  const std::size_t equals = setting.find('=');
  std::vector<std::string> path = split(trim(setting.substr(0, equals)), '.');
  if (path.size() > 2 && find(path[0] + "." + path[1]) != nullptr) {  // a list that is part of a table
    path[1] = path[0] + "." + path[1];
    path.erase(path.begin());
  }
  if (equals == std::string_view::npos || path.size() < 2 || path.size() > 3)
    throw refuse("is not a setting").hint("write TABLE.KEY=VALUE, or TABLE.0.KEY=VALUE for the first of a list");
  const Table* found = find(path[0]);
  if (found == nullptr) throw refuse(fmt::format("unknown table [{}]{}", path[0], did_you_mean(path[0], names())));
  Table& table = require(path[0]);

  std::size_t item = 0;
  if (table.list != (path.size() == 3))
    throw refuse(table.list ? fmt::format("[[{}]] is a list", table.name)
                            : fmt::format("[{}] is not a list", table.name))
        .hint(fmt::format("write {}.{}KEY=VALUE", table.name, table.list ? "0." : ""));
  if (table.list) {
    const std::string& number = path[1];
    const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), item);
    if (status != std::errc() || end != number.data() + number.size() || item >= table.items.size())
      throw refuse(fmt::format("there are {} tables [[{}]], counted from 0", table.items.size(), table.name));
  }
  const std::string& key = path.back();
  if (!table.kinds.empty() && key == "name")
    throw refuse("the kind of a table cannot be changed").hint("write it into the file");
  Fields& fields = table.items[item].fields;
  if (fields.find(key) == nullptr) {
    const std::string place = !table.list ? fmt::format("[{}]", table.name)
                              : table.kinds.empty()
                                  ? fmt::format("[[{}]] {}", table.name, item)
                                  : fmt::format("[[{}]] {} ({})", table.name, item, table.items[item].kind);
    Error error = refuse(fmt::format("unknown key \"{}\" in {}{}", key, place, did_you_mean(key, fields.names())));
    hint_elsewhere(error, key, fields);
    throw error;
  }
  fields.assign_text(key, trim(setting.substr(equals + 1)), trim(setting.substr(0, equals)));
}

void Tables::lend(Fields& fields, const std::vector<Lent>& settings) const {
  for (const Lent& lent : settings) {
    const std::vector<std::string> path = split(lent.setting, '.');
    const Table* table = find(path.front());
    const Field* described = table != nullptr && !table->list ? table->items.front().fields.find(path.back()) : nullptr;
    if (described == nullptr) throw Error(ErrorKind::internal, fmt::format("no setting \"{}\"", lent.setting));
    Field field = *described;
    if (!lent.key.empty()) field.key = lent.key;
    field.info.letter = lent.letter;
    field.info.alias.clear();  // a second word for the files of other programs
    field.info.stands_for = lent.setting;
    fields.add(field);
  }
}

void Tables::take(const Fields& given) {
  for (const Field& field : given.all()) {
    if (field.info.stands_for.empty() || field.origin == Origin::built_in) continue;
    const std::vector<std::string> path = split(field.info.stands_for, '.');
    assign(path.front(), 0, path.back(), field.value(), "what was given", Origin::caller);
  }
}

void Tables::assign_all(const Value& tables, std::string_view where, Origin origin) {
  if (!tables.is_object())
    throw Error(ErrorKind::usage, fmt::format("{}: expected tables, found {}", where, tables.type_name()));
  Problems problems;
  std::function<void(const Table&, const Value&)> give;
  const auto set = [&](const Table& table, std::size_t item, const Value& values) {
    const std::string place = fmt::format("[{}] of {}", table.name, where);
    if (!values.is_object())
      throw Error(ErrorKind::usage, fmt::format("{}: expected settings, found {}", place, values.type_name()));
    for (const auto& [key, value] : values.members())
      if (!value.is_null() && (table.kinds.empty() || key != "name"))
        problems.collect([&, &name = key, &setting = value] {
          if (const Table* part = find_in(table, name)) return give(*part, setting);
          assign(table.name, static_cast<Index>(item), name, setting, place, origin);
        });
  };
  const auto kind_of = [&](const Table& table, const Value& values) -> std::string {
    if (table.kinds.empty()) return {};
    const Value* kind = values.find("name");
    if (kind != nullptr && kind->is_text()) return kind->as_text();
    throw Error(ErrorKind::usage, fmt::format("[[{}]] of {} has no name", table.name, where))
        .hint("its name is one of " + join_words(table.kinds, " or "));
  };
  const auto add = [&](const Table& table, const Value& values) {
    const Index item = append(table.name, kind_of(table, values), fmt::format("name in {}", where));
    set(table, static_cast<std::size_t>(item), values);
  };
  give = [&](const Table& table, const Value& value) {
    if (value.is_null()) return;
    if (!table.list) return set(table, 0, value);
    if (!value.is_list()) return add(table, value);
    for (const Value& item : value.items()) problems.collect([&] { add(table, item); });
  };
  for (const auto& [word, value] : tables.members())
    problems.collect([&, &name = word, &given = value] {
      const Table* table = find(name);
      if (table == nullptr)
        throw Error(ErrorKind::usage,
                    fmt::format("unknown table [{}] in {}{}", name, where, did_you_mean(name, names())));
      give(*table, given);
    });
  problems.throw_if_any(fmt::format("{} settings in {} cannot be used", problems.errors().size(), where));
}

bool Tables::is_set(std::string_view setting) const {
  const std::size_t dot = setting.find('.');
  const Table* table = find(setting.substr(0, dot));
  return table != nullptr && !table->list && table->items.front().fields.is_set(setting.substr(dot + 1));
}

std::vector<Tables::Name> Tables::outline() const {
  std::vector<Name> all;
  for (const Table& table : tables_) {
    if (table.name.find('.') != std::string::npos) continue;  // a member of its table
    Name& name = all.emplace_back(Name{table.name, table.list});
    if (!table.list)
      for (const Field& field : table.items.front().fields.all())
        if (field.info.array) name.arrays.push_back(field.key);
  }
  return all;
}

void Tables::assign_over_file(const Value& tables, std::string_view where) {
  for (const auto& [name, value] : tables.members())
    if (const Table* table = find(name); table != nullptr && table->list && !table->items.empty())
      throw Error(ErrorKind::usage, fmt::format("[[{}]] is given twice: in the run file and in {}", name, where))
          .hint("leave one of them out; " + setting("set") + " changes single settings of those of the file");
  assign_all(tables, where);
}

Value Tables::echo() const {
  Value all = Value::object();
  for (const Table& table : tables_)
    for (const Item& item : table.items) {
      Value settings = item.fields.echo();
      if (!table.list) {
        all[table.name] = std::move(settings);
        continue;
      }
      Value named = Value::object();
      if (!table.kinds.empty()) named["name"] = item.kind;
      for (const auto& [key, value] : settings.members()) named[key] = value;
      all[table.name].push_back(std::move(named));
    }
  return all;
}

}  // namespace sonde
