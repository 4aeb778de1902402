// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/radial/radial_page.h"

#include <algorithm>
#include <string>

namespace sonde::stem {

std::vector<panel::ResultPanel> arrange_radial(const panel::StoredResult& result) {
  using Kind = panel::ResultPanel::Kind;
  const bool sectors = std::ranges::any_of(result.quantities(), [](const panel::Quantity& quantity) {
    return quantity.name == "radial/mean_of_scan" && quantity.axes.size() == 2;
  });
  // [radius][angle]: a map; without sectors a curve. [scan row][scan column][radius]: the scan, radii with a slider.
  return {{.kind = sectors ? Kind::image : Kind::curves,
           .title = "Mean pattern of the scan",
           .quantities = {"radial/mean_of_scan"}},
          {.title = "Scan", .quantities = {"radial/mean"}, .along = 1, .family = 0}};
}

}  // namespace sonde::stem
