// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/panel/contents.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sonde/engine/base/text.h"

namespace sonde::panel {
namespace {

bool is_list_of_objects(const Value& value) {
  return value.is_list() && value.size() > 0 && value.items().front().is_object();
}

}  // namespace

void add_panel(Page& page, std::string id, std::string type, std::string title, Value options) {
  bool any = false;
  for (const char* content : {"facts", "bars", "rows"})
    if (const Value* list = options.find(content)) any = any || list->size() > 0;
  if (any) page.panels.push_back({std::move(id), std::move(type), std::move(title), std::move(options)});
}

void Facts::add(const std::string& name, const std::string& text) {
  if (text.empty()) return;
  Value fact;
  fact["name"] = name;
  fact["value"] = text;
  options_["facts"].push_back(std::move(fact));
}

void Facts::add_bytes(const std::string& name, double bytes) {
  if (bytes > 0) add(name, format_bytes(bytes));
}

void Facts::add_members(const Value& object, const std::string& prefix) {
  if (!object.is_object()) return;
  for (const auto& [key, value] : object.members()) {
    const std::string name = prefix + key;
    if (value.is_object())
      add_members(value, name + ".");
    else if (!is_list_of_objects(value))
      add(name, short_text(value));
  }
}

Value cell(const Value* value) {
  if (value == nullptr || value->is_null()) return "";
  return value->is_number() || value->is_bool() ? *value : Value(short_text(*value));
}

Value table_of(const Value::List& objects) {
  std::vector<std::string> columns;
  for (const Value& object : objects)
    if (object.is_object())
      for (const auto& member : object.members())
        if (std::find(columns.begin(), columns.end(), member.key) == columns.end()) columns.push_back(member.key);
  Value options;
  options["columns"] = columns;
  options["rows"] = Value::list();
  for (const Value& object : objects) {
    Value& row = options["rows"].push_back(Value::list());
    for (const std::string& column : columns) row.push_back(cell(object.find(column)));
  }
  return options;
}

void add_tree(Page& page, const std::string& id, const std::string& title, const Value& tree) {
  if (is_list_of_objects(tree)) return add_panel(page, id, "table", title, table_of(tree.items()));
  Facts facts;
  facts.add_members(tree);
  add_panel(page, id, "facts", title, facts.take());
  if (!tree.is_object()) return;
  for (const auto& [key, value] : tree.members())
    if (is_list_of_objects(value))
      add_panel(page, id + "." + key, "table", title + ": " + key, table_of(value.items()));
}

}  // namespace sonde::panel
