// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/orient_page.h"

#include <algorithm>
#include <string>

namespace sonde::stem {

std::vector<panel::ResultPanel> arrange_orientation(const panel::StoredResult& result) {
  using Kind = panel::ResultPanel::Kind;
  const auto colours = std::ranges::find(result.texts(), std::string("orientation/colours_are"), &panel::Text::name);
  const std::string along = colours != result.texts().end() ? ": " + colours->text : "";
  return {{.kind = Kind::colours,
           .title = "Beam along" + along,
           .quantities = {"orientation/colours", "orientation/legend", "orientation/zone"}},
          {.kind = Kind::labels, .title = "Grains", .quantities = {"orientation/grain"}},
          {.title = "Misorientation to the neighbours", .quantities = {"orientation/boundary"}},
          {.title = "Misorientation to the mean of the grain", .quantities = {"orientation/from_mean"}},
          {.title = "Correlation", .quantities = {"orientation/corr"}, .along = 1, .family = 0},
          {.title = "Reliability", .quantities = {"orientation/reliability"}},
          {.title = "Share of the disks explained", .quantities = {"orientation/explained"}},
          {.title = "Standard error", .quantities = {"orientation/misorientation_error"}, .along = 1, .family = 0},
          {.title = "Neighbours settle: 0 one orientation, 1 the first kept, 2 the other, 3 open",
           .quantities = {"orientation/settled"}}};
}

}  // namespace sonde::stem
