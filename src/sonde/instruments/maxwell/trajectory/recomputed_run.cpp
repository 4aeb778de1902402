// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/trajectory/recomputed_run.h"

#include "sonde/instruments/maxwell/trajectory/checkpointing.h"

namespace sonde::maxwell {

template <class T>
RecomputedRun<T>::RecomputedRun(const StoragePlan& plan, const TierBudgets& budgets, Device device)
    : states_(plan.states),
      block_steps_(plan.block_steps),
      host_(budgets.host),
      state_bytes_(plan.state_bytes),
      held_(host_.reserve(static_cast<std::size_t>(plan.states) * plan.state_bytes, "saved states of the run")),
      samples_(plan.layout, plan.block_steps, device.is_cpu() ? Tier::host : Tier::device, plan.encoding, budgets,
               device) {}

template <class T>
void RecomputedRun<T>::run(Propagator<T>& fields, const Acquisition& shot, Index steps,
                           std::span<const double> amplitudes, std::span<double> record,
                           const std::function<void()>& stepped) {
  run_.emplace(RecordedRun<T>{fields, shot, amplitudes, stepped});
  steps_ = steps;
  while (!saved_.empty()) {
    idle_.push_back(std::move(saved_.back().state));
    saved_.pop_back();
  }
  save(0);
  reach(0, (steps + block_steps_ - 1) / block_steps_ - 1, record);
}

template <class T>
void RecomputedRun<T>::save(Index block) {
  std::vector<std::byte> state;
  if (!idle_.empty()) {
    state = std::move(idle_.back());
    idle_.pop_back();
  }
  state.resize(state_bytes_);
  run_->fields.save(state);
  saved_.push_back({block, std::move(state)});
}

template <class T>
void RecomputedRun<T>::reach(Index at, Index block, std::span<double> record) {
  const auto part = [&](Index first, Index count) {
    const std::size_t receivers = run_->shot.receivers.size();
    return record.empty() ? record
                          : record.subspan(static_cast<std::size_t>(first) * receivers,
                                           static_cast<std::size_t>(count) * receivers);
  };
  while (at < block) {
    const Index free = states_ - static_cast<Index>(saved_.size()), left = block - at + 1;
    const Index next = at + (free > 0 ? blocks_to_next_state(left, free) : left - 1);
    const Index first = first_step(at), count = first_step(next) - first;
    run_->advance(first, count, part(first, count));
    at = next;
    if (free > 0 && at < block) save(at);
  }
  const Index first = first_step(block), count = steps_of(block);
  samples_.record(*run_, first, count, part(first, count));
  recorded_ = block;
}

template <class T>
bool RecomputedRun<T>::begin_step(Index n) {
  const Index block = n / block_steps_;
  if (block != recorded_) {
    while (saved_.back().block > block) {
      idle_.push_back(std::move(saved_.back().state));
      saved_.pop_back();
    }
    run_->fields.restore(saved_.back().state);
    reach(saved_.back().block, block, {});
  }
  return samples_.begin_step(n);
}

template class RecomputedRun<float>;
template class RecomputedRun<double>;

}  // namespace sonde::maxwell
