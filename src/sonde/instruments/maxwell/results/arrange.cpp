// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/arrange.h"

#include <string>
#include <utility>

#include "sonde/instruments/maxwell/grid/component.h"

namespace sonde::maxwell {

std::vector<panel::ResultPanel> arrange(const panel::StoredResult&) {
  using Kind = panel::ResultPanel::Kind;
  std::vector<panel::ResultPanel> panels;
  for (const Component c : all_components)
    panels.push_back({.title = std::string(name(c)), .quantities = {std::string(name(c))}});
  panels.push_back({.kind = Kind::curves, .title = "Energy", .quantities = {"energy_electric", "energy_magnetic"}});
  for (const auto& [group, what] :
       {std::pair{"model", ""}, {"true", ", true"}, {"start", ", start"}, {"kept", ", on the way"}})
    for (const char* which : {"eps_r", "sigma"})
      panels.push_back({.title = std::string(which) + what, .quantities = {std::string(group) + "/" + which}});
  panels.push_back({.kind = Kind::curves, .title = "Objective over its start", .quantities = {"history/objective"}});
  // [time][shot][receiver]: a curve for each receiver, shots with a slider.
  for (const auto& [name, title] : {std::pair{"receivers/data", "Records"}, {"observed/data", "Records, measured"}})
    panels.push_back({.kind = Kind::curves, .title = title, .quantities = {name}, .along = 0, .family = 2});
  for (const auto& [name, title] :
       {std::pair{"source/given", "Source, given"}, {"source/estimated", "Source, estimated"}})
    panels.push_back({.kind = Kind::curves, .title = title, .quantities = {name}, .along = 2, .family = 1});
  return panels;
}

}  // namespace sonde::maxwell
