// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/lattice/strain_page.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sonde::stem {

std::vector<panel::ResultPanel> arrange_strain(const panel::StoredResult& result) {
  const auto frame = std::ranges::find(result.texts(), std::string("strain/frame"), &panel::Text::name);
  const std::string axes = frame != result.texts().end() ? ", axes of the " + frame->text : "";
  std::vector<panel::ResultPanel> panels;
  for (const char* name : {"e_xx", "e_yy", "e_xy"})
    panels.push_back({.title = name + axes, .quantities = {std::string("strain/") + name}, .range = "strain"});
  panels.push_back({.title = "theta" + axes, .quantities = {"strain/theta"}});
  for (const auto& [name, of] : {std::pair{"sigma_exx", "e_xx"}, {"sigma_eyy", "e_yy"}, {"sigma_exy", "e_xy"}})
    panels.push_back({.title = std::string("Standard error of ") + of,
                      .quantities = {std::string("strain/") + name},
                      .range = "error"});
  panels.push_back({.title = "Standard error of theta", .quantities = {"strain/sigma_theta"}});
  panels.push_back({.title = "Disks on the lattice", .quantities = {"strain/n_peaks"}});
  panels.push_back({.title = "Residual of the fit", .quantities = {"strain/residual"}});
  return panels;
}

}  // namespace sonde::stem
