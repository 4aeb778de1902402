// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/panel/page.h"

#include <algorithm>

namespace sonde::panel {

Value Page::describe() const {
  Value page;
  page["title"] = title;
  page["view"] = view;
  if (!ended.empty()) page["ended"] = ended;
  page["panels"] = Value::list();
  for (const Panel& panel : panels) {
    Value& entry = page["panels"].push_back(Value::object());
    entry["id"] = panel.id;
    entry["type"] = panel.type;
    entry["title"] = panel.title;
    if (!panel.place.empty()) entry["place"] = panel.place;
    entry["options"] = panel.options;
  }
  page["actions"] = Value::list();
  for (const Action& action : actions) {
    Value& entry = page["actions"].push_back(Value::object());
    entry["name"] = action.name;
    entry["help"] = action.help;
  }
  page["state"] = state ? state() : Value();
  return page;
}

const Action* Page::find_action(std::string_view name) const {
  const auto found = std::find_if(actions.begin(), actions.end(), [&](const Action& a) { return a.name == name; });
  return found == actions.end() ? nullptr : &*found;
}

}  // namespace sonde::panel
