// SPDX-License-Identifier: Apache-2.0
// For tests: a small list of events and its file.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "sonde/engine/run/write_contents.h"
#include "sonde/instruments/stem/count/event_file.h"

namespace sonde::stem::testing {

/// Three events, none and two in frames that are not square, of a scan of 3 x 2 positions of which one has no frame and
/// one has two.
inline EventList few_events() {
  EventList list{.scan_rows = 3, .scan_cols = 2, .rows = 40, .cols = 52};
  list.offsets = {0, 3, 3, 3, 5, 5, 5};
  list.frames = {2, 1, 0, 1, 1, 1};
  list.index = {0, 2079, 1040, 7, 51};
  list.parameters = R"({"background":4})";
  return list;
}

/// The file of a list, one variable left out, another one in its place.
inline void write_events(const std::string& path, EventList list, const std::string& without = "", Array instead = {}) {
  const Contents whole = event_contents(std::make_shared<const EventList>(std::move(list)), "sonde stem count");
  Contents contents;
  for (const auto& [name, value] : whole.attributes()) contents.attribute(name, value);
  for (const Contents::Variable& variable : whole.variables())
    if (variable.name != without) contents.add(variable.name, variable.dimensions, alias(variable.values));
  if (!instead.empty()) contents.add(without, {"event"}, std::move(instead));
  write_contents(path, contents);
}

}  // namespace sonde::stem::testing
