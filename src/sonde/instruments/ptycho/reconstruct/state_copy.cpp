// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/reconstruct/state_copy.h"

#include <cstring>

namespace sonde::ptycho {

void copy_into(const Array& from, Array& to) {
  if (to.empty())
    to = from.clone();
  else
    std::memcpy(to.data(), from.data(), from.allocated_bytes());
}

void copy_state(const State& from, State& to) {
  to.type = from.type;
  copy_into(from.object, to.object);
  if (!from.phase.empty()) copy_into(from.phase, to.phase);
  copy_into(from.probe, to.probe);
  if (from.components() > 0) {
    copy_into(from.opr_modes, to.opr_modes);
    copy_into(from.opr_weights, to.opr_weights);
  }
  to.positions = from.positions;
  to.placements = from.placements;
}

}  // namespace sonde::ptycho
