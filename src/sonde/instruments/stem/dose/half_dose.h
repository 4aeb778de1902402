// SPDX-License-Identifier: Apache-2.0
// Private to the room: patterns of half the dose, and their disks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sonde/engine/math/random.h"
#include "sonde/instruments/stem/bragg/bragg_disks.h"

namespace sonde::stem {

/// How many of `counts` electrons of element `element` of a stream are in its first half: each by a fair bit of its
/// own, so that the number is binomial with p = 1/2, and of Poisson counts both halves are Poisson and independent.
/// Exact. Costs a draw of philox for 128 electrons.
[[nodiscard]] std::uint64_t first_half(RandomStream random, std::uint32_t element, std::uint64_t counts);

/// Which electrons of each pattern are kept.
enum class DosePart { whole, first_half, second_half };

/// The Bragg disks of the electrons of every frame of a pass, or of one of two halves of them. Halves depend on the
/// scan position, the pixel and its counts, on nothing else.
class PartialDoseDisks final : public Operation {
 public:
  /// The plan is borrowed. `positions`: the scan position of each frame of the pass.
  PartialDoseDisks(const BraggPlan& plan, DosePart part, double gain, std::vector<Index> positions)
      : disks_(plan), part_(part), gain_(gain), positions_(std::move(positions)) {}

  [[nodiscard]] BraggVectors& vectors() { return disks_.vectors; }
  /// Share of the values, over the gain, that are neither whole numbers nor zero, or are below zero.
  [[nodiscard]] double not_counts() const { return not_counts_; }

  [[nodiscard]] Abilities abilities(const PassShape& shape) const override;
  void start(const PassShape& shape) override;
  [[nodiscard]] std::unique_ptr<State> make_state(const PassShape& shape) const override;
  void take(const Tile& tile, State* state) override;
  void merge(State& total, State& part) const override;
  void finish(State* total) override;

 private:
  BraggDisks disks_;
  DosePart part_;
  double gain_;
  std::vector<Index> positions_;
  PassShape shape_;  // of electrons
  double not_counts_ = 0;
};

}  // namespace sonde::stem
