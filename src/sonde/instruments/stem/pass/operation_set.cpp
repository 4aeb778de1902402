// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/operation_set.h"

#include <utility>

namespace sonde::stem {

OperationSet::OperationSet(std::span<Operation* const> operations, PassShape shape) : shape_(std::move(shape)) {
  for (Operation* operation : operations) {
    const Abilities abilities = operation->abilities(shape_);
    if (abilities.copy) {
      if (copy_) throw Error(ErrorKind::internal, "two operations of a pass want copies");
      copy_ = abilities.copy;
      copier_ = operations_.size();
    }
    operations_.push_back({operation, abilities.sums_of_floats, {}});
    sums_of_floats_ |= abilities.sums_of_floats;
    takes_lists_ &= abilities.lists;
    tile_bytes_ += abilities.tile_bytes;
  }
  for (const Member& member : operations_) member.operation->start(shape_);
}

void OperationSet::make_states(std::size_t workers, std::size_t shares) {
  for (Member& member : operations_)
    for (std::size_t i = 0; i < (member.by_share ? shares : workers); ++i)
      member.states.push_back(member.operation->make_state(shape_));
}

void OperationSet::place_copies(std::span<const Index> positions, std::size_t worker, std::size_t share,
                                std::span<void*> places) {
  const Member& member = operations_[copier_];
  member.operation->place_copies(positions, member.state(worker, share), places);
}

void OperationSet::take(const Tile& tile, std::size_t worker, std::size_t share, StageClock& clock,
                        std::span<double> seconds) {
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    Member& member = operations_[i];
    member.operation->take(tile, member.state(worker, share));
    clock.mark(seconds[i]);
  }
}

void OperationSet::after_batch(std::span<const Index> positions) const {
  for (const Member& member : operations_) member.operation->after_batch(positions);
}

void OperationSet::finish() {
  for (Member& member : operations_) {
    Operation::State* total = member.states.front().get();
    for (std::size_t i = 1; i < member.states.size(); ++i)
      if (member.states[i]) member.operation->merge(*total, *member.states[i]);
    member.operation->finish(total);
    member.states.clear();
  }
}

}  // namespace sonde::stem
