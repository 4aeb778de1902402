// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/options/changeable.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde {
namespace {

/// One of them, and where it is.
struct Place {
  const Tables::Table& table;
  Index item;
  const Field& field;

  /// "engine.0".
  [[nodiscard]] std::string where() const { return table.list ? fmt::format("{}.{}", table.name, item) : table.name; }
  [[nodiscard]] std::string setting() const { return where() + "." + field.key; }
};

std::vector<Place> all_of(const Tables& tables) {
  std::vector<Place> places;
  for (const Tables::Table& table : tables.all())
    for (std::size_t i = 0; i < table.items.size(); ++i)
      for (const Field& field : table.items[i].fields.all())
        if (field.info.changeable) places.push_back({table, static_cast<Index>(i), field});
  return places;
}

Place place_of(const Tables& tables, const std::string& setting) {
  std::vector<std::string> names;
  for (const Place& place : all_of(tables)) {
    names.push_back(place.setting());
    if (names.back() == setting) return place;
  }
  Error error(ErrorKind::usage, fmt::format("\"{}\" cannot change while the work runs", setting));
  if (!names.empty()) error.hint("these can: " + join_words(names));
  throw error;
}

Value or_null(const std::optional<double>& limit) { return limit ? Value(*limit) : Value(); }

}  // namespace

Value changeable_settings(const Tables& tables) {
  Value list = Value::list();
  for (const Place& place : all_of(tables)) {
    const Field& field = place.field;
    const std::string& kind = place.table.items[static_cast<std::size_t>(place.item)].kind;
    Value& one = list.push_back(Value::object());
    one["setting"] = place.setting();
    one["of"] = kind.empty() ? place.table.name : kind;
    one["key"] = field.key;
    one["help"] = field.info.help;
    one["unit"] = field.info.unit;
    one["min"] = or_null(field.info.min);
    one["max"] = or_null(field.info.max);
    one["optional"] = field.nullable;
    one["value"] = field.value();
  }
  return list;
}

void set_changeable(Tables& tables, const std::string& setting, const Value& value) {
  const Place place = place_of(tables, setting);
  if (value.is_null() && !place.field.nullable) throw Error(ErrorKind::usage, setting + " needs a number");
  tables.assign(place.table.name, place.item, place.field.key, value, place.where(), Origin::caller);
}

Value changeable_value(const Tables& tables, const std::string& setting) {
  return place_of(tables, setting).field.value();
}

}  // namespace sonde
