// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/reconstruct/iteration_start.h"

#include <cstring>
#include <utility>

#include "sonde/instruments/ptycho/reconstruct/state_copy.h"

namespace sonde::ptycho {

void IterationStart::take(const State& state) { copy_state(state, state_); }

void IterationStart::take(std::vector<EngineMemory> pieces) {
  pieces_ = std::move(pieces);
  std::erase_if(pieces_, [](const EngineMemory& piece) { return piece.in_slots(); });
  remembered_.resize(pieces_.size());
  for (std::size_t i = 0; i < pieces_.size(); ++i) copy_into(*pieces_[i].array, remembered_[i]);
}

void IterationStart::bring_back() const {
  for (std::size_t i = 0; i < remembered_.size(); ++i)
    std::memcpy(pieces_[i].array->data(), remembered_[i].data(), remembered_[i].allocated_bytes());
}

}  // namespace sonde::ptycho
