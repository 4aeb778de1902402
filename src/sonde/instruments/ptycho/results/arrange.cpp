// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/results/arrange.h"

namespace sonde::ptycho {

std::vector<panel::ResultPanel> arrange(const panel::StoredResult&) {
  using Kind = panel::ResultPanel::Kind;
  return {{.title = "Object", .quantities = {"object"}},
          {.title = "Phase of the object", .quantities = {"object_phase"}},
          {.title = "Probe", .quantities = {"probe"}},
          {.kind = Kind::curves, .title = "Errors", .quantities = {"metrics/R_I", "metrics/R_A", "metrics/R_free"}},
          {.kind = Kind::points, .title = "Positions", .quantities = {"positions_initial_A", "positions_A"}},
          {.kind = Kind::points, .title = "Positions", .quantities = {"positions_initial_px", "positions_px"}}};
}

}  // namespace sonde::ptycho
