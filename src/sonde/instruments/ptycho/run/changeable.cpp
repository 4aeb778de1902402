// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/changeable.h"

#include <fmt/format.h>

#include "sonde/engine/base/error.h"

namespace sonde::ptycho {
namespace {

/// How large groups of frames are, and what is held for them, follows from `support`.
bool may_change(const Field& field) { return field.type == FieldType::real && field.key != "support"; }

/// visit(table, index, item, field, path of the setting) for each of them.
template <class Visit>
void each(const RunFile& run, const Visit& visit) {
  for (const char* table : {"engine", "constraint"}) {
    const auto& items = run.tables().find(table)->items;
    for (std::size_t i = 0; i < items.size(); ++i)
      for (const Field& field : items[i].fields.all())
        if (may_change(field))
          visit(table, static_cast<Index>(i), items[i], field, fmt::format("{}.{}.{}", table, i, field.key));
  }
}

Value or_null(const std::optional<double>& limit) { return limit ? Value(*limit) : Value(); }

[[noreturn]] void refuse(const std::string& setting) {
  throw Error(ErrorKind::usage, fmt::format("\"{}\" cannot change while a run works", setting))
      .hint("what can are the real numbers of [[engine]] and [[constraint]] tables; begin a run for others");
}

}  // namespace

Value changeable_settings(const RunFile& run) {
  Value list = Value::list();
  each(run, [&](const char*, Index, const Tables::Item& item, const Field& field, const std::string& setting) {
    Value one;
    one["setting"] = setting;
    one["of"] = item.kind;
    one["key"] = field.key;
    one["help"] = field.info.help;
    one["unit"] = field.info.unit;
    one["min"] = or_null(field.info.min);
    one["max"] = or_null(field.info.max);
    one["optional"] = field.nullable;
    one["value"] = field.value();
    list.push_back(std::move(one));
  });
  return list;
}

void set_changeable(RunFile& run, const std::string& setting, const Value& value) {
  bool found = false;
  each(run, [&](const char* table, Index index, const Tables::Item&, const Field& field, const std::string& path) {
    if (found || path != setting) return;
    found = true;
    if (value.is_null() && !field.nullable) throw Error(ErrorKind::usage, setting + " needs a number");
    run.tables().assign(table, index, field.key, value, fmt::format("{}.{}", table, index), Origin::caller);
  });
  if (!found) refuse(setting);
}

Value changeable_value(const RunFile& run, const std::string& setting) {
  std::optional<Value> value;
  each(run, [&](const char*, Index, const Tables::Item&, const Field& field, const std::string& path) {
    if (path == setting) value = field.value();
  });
  if (!value) refuse(setting);
  return *value;
}

}  // namespace sonde::ptycho
