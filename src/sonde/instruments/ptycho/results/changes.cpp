// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/results/changes.h"

#include <fmt/format.h>

#include "sonde/engine/report/json.h"

namespace sonde::ptycho {

Value to_value(const Change& change) {
  Value value;
  value["after"] = change.after;
  if (change.restart()) {
    value["restart"] = true;
    return value;
  }
  value["setting"] = change.setting;
  value["before"] = change.before;
  value["now"] = change.now;
  return value;
}

Value to_value(const std::vector<Change>& changes) {
  Value list = Value::list();
  for (const Change& change : changes) list.push_back(to_value(change));
  return list;
}

std::vector<Change> changes_of(const Value& list) {
  std::vector<Change> changes;
  if (!list.is_list()) return changes;
  for (const Value& item : list.items()) {
    const Value* after = item.find("after");
    if (after == nullptr || !after->is_number()) continue;
    Change change{.after = after->as_whole()};
    const Value *setting = item.find("setting"), *before = item.find("before"), *now = item.find("now");
    if (setting != nullptr && setting->is_text() && before != nullptr && now != nullptr) {
      change.setting = setting->as_text();
      change.before = *before;
      change.now = *now;
    } else if (item.find("restart") == nullptr) {
      continue;
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

std::string in_words(const Change& change) {
  if (change.restart()) return "began again";
  const auto shown = [](const Value& value) { return value.is_null() ? std::string("unset") : to_json(value, -1); };
  return fmt::format("{} from {} to {}", change.setting, shown(change.before), shown(change.now));
}

}  // namespace sonde::ptycho
