// SPDX-License-Identifier: Apache-2.0
// Private to the room: how everything was as an iteration began, for one that does not end.
#pragma once

#include <vector>

#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/model/state.h"

namespace sonde::ptycho {

/// The state, and what engine and corrections bring from the iteration before. Exit waves are too many to be
/// remembered: those that have been moved stay so, each on its own way to where it goes, and follow their frames.
class IterationStart {
 public:
  /// The state as it is now.
  void take(const State& state);
  /// The pieces as they are now; those in slots are left out.
  void take(std::vector<EngineMemory> pieces);
  /// Pieces are as they were.
  void bring_back() const;
  /// Another engine begins: there are no pieces any more.
  void forget_pieces() { remembered_.clear(); }
  [[nodiscard]] State& state() { return state_; }
  [[nodiscard]] const State& state() const { return state_; }

 private:
  State state_;
  std::vector<EngineMemory> pieces_;
  std::vector<Array> remembered_;  // what they were
};

}  // namespace sonde::ptycho
