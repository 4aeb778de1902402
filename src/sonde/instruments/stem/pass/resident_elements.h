// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/pass/ledger_sum.h"
#include "sonde/instruments/stem/pass/operation.h"

namespace sonde::stem {

/// Where a pass puts the resident elements.
enum class Destination { none, frames, planes };

/// What becomes of clean frames in memory.
struct ResidentSettings {
  DType out = DType::u16;  ///< u8, u16, u32 or f32
  bool saturate = false;   ///< values beyond `out` are clipped and counted; else the pass reports overflow
  Destination destination = Destination::none;
};

/// Writes every frame in the resident type to its place in frames or planes of host memory, or only looks whether it
/// would fit.
class ResidentElements final : public Operation {
 public:
  /// `destination` is made by make_frames or make_planes with type `out`, ignored for Destination::none; it must
  /// outlive the pass.
  ResidentElements(const ResidentSettings& settings, Array& destination);

  [[nodiscard]] Abilities abilities(const PassShape& shape) const override;
  void start(const PassShape& shape) override;
  [[nodiscard]] std::unique_ptr<State> make_state(const PassShape& shape) const override;
  void place_copies(std::span<const Index> positions, State* state, std::span<void*> places) override;
  void take(const Tile& tile, State* state) override;
  void merge(State& total, State& part) const override;
  void finish(State* total) override;

  bool overflow = false;      ///< a value does not fit into `out` and nothing was clipped: elements are not usable
  std::uint64_t clipped = 0;  ///< resident values set to the maximum of `out`
  LedgerSum clipped_counts;   ///< by how much they exceeded it, together

 private:
  struct Block;
  [[nodiscard]] std::size_t slots_bytes(const PassShape& shape) const;
  template <class T>
  void take_frames(const Tile& tile, Block& block);
  void take_lists(const Tile& tile, Block& block);
  [[nodiscard]] void* place_of(Index position, Block& block) const;

  ResidentSettings settings_;
  Array& destination_;
  std::size_t frame_bytes_ = 0;  // of a resident frame
  std::atomic<bool> overflowed_{false};
};

}  // namespace sonde::stem
