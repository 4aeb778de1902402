// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "sonde/instruments/ptycho/reconstruct/checkpointed.h"
#include "sonde/instruments/ptycho/reconstruct/history.h"
#include "sonde/instruments/ptycho/reconstruct/steps.h"

namespace sonde::ptycho {
namespace {

Array counters_of(const CheckpointReader& checkpoint) { return checkpoint.array("counters", DType::i64, Shape{5}); }

}  // namespace

template <class Real>
void Steps<Real>::save_together(CheckpointWriter* checkpoint) {
  if (!engine_) begin_engine(which_);
  const Share* share = schedule_.share.get();
  save_state(checkpoint, "", state_, share);
  if (!best_.empty()) save_state(checkpoint, "best_", best_.state, share);
  save_places(checkpoint, "initial_positions", initial_positions_, share);
  for (const EngineMemory& piece : engine_->memory())
    save_memory(checkpoint, "engine_" + std::string(piece.name), piece, share);
  if (correction_)
    for (const EngineMemory& piece : correction_->memory())
      save_memory(checkpoint, "correction_" + std::string(piece.name), piece, share);
  if (checkpoint == nullptr) return;
  checkpoint->array("history", table_of(history_));
  checkpoint->array("run/seconds", seconds_of(history_));
  Array counters(Device::cpu(), Shape{5}, DType::i64);
  const std::int64_t values[] = {which_, done_in_engine_, window_began_, outcome_.best,
                                 static_cast<std::int64_t>(outcome_.kind)};
  std::copy(std::begin(values), std::end(values), counters.view<std::int64_t, 1>().data);
  checkpoint->array("counters", counters);
  const auto numbers_of = [](std::initializer_list<double> all) {
    Array numbers(Device::cpu(), Shape{static_cast<Index>(all.size())}, DType::f64);
    std::copy(all.begin(), all.end(), numbers.view<double, 1>().data);
    return numbers;
  };
  checkpoint->array("numbers", numbers_of({best_.r_intensity, power_total_}));
  if (best_.r_free) checkpoint->array("best_r_free", numbers_of({*best_.r_free}));
  checkpoint->text("because", outcome_.because);
  checkpoint->text("fft_wisdom", fft_->wisdom());
}

template <class Real>
void Steps<Real>::restore(const CheckpointReader& checkpoint) {
  const Share* share = schedule_.share.get();
  initial_positions_ = restored_places(checkpoint, "initial_positions", share);
  history_ = history_of(checkpoint.array("history"), checkpoint.array("run/seconds"));
  const Array counters = counters_of(checkpoint);
  const auto counter = counters.view<std::int64_t, 1>();
  if (counter[0] >= static_cast<Index>(schedule_.engines.size()))
    throw Error(ErrorKind::bad_file, fmt::format("{}: the checkpoint is in engine {}, the run has {}",
                                                 checkpoint.path(), counter[0] + 1, schedule_.engines.size()));
  begin_engine(counter[0]);
  done_in_engine_ = counter[1];
  outcome_.kind = static_cast<Outcome::Kind>(counter[4]);
  outcome_.because = checkpoint.text("because");
  outcome_.best = counter[3];
  const bool has_more = done_in_engine_ < schedule_.engines.back().iterations;
  if (has_more && (outcome_.kind == Outcome::Kind::finished ||
                   (outcome_.kind == Outcome::Kind::converged && schedule_.stop.rule == StopRule::off)))
    outcome_ = {.kind = Outcome::Kind::running, .because = "", .best = outcome_.best};
  if (!history_.empty()) {
    outcome_.r_intensity = history_.back().fit.r_intensity;
    outcome_.r_free = history_.back().r_free;
  }
  const Array numbers = checkpoint.array("numbers", DType::f64, Shape{2});
  best_.r_intensity = numbers.view<double, 1>()[0];
  power_total_ = numbers.view<double, 1>()[1];
  if (checkpoint.has("best_object")) restore_state(checkpoint, "best_", best_.state, share);
  if (checkpoint.has("best_r_free"))
    best_.r_free = checkpoint.array("best_r_free", DType::f64, Shape{1}).view<double, 1>()[0];
  if (outcome_.kind == Outcome::Kind::diverged) restore_best();
  for (const EngineMemory& piece : engine_->memory())
    restore_memory(checkpoint, "engine_" + std::string(piece.name), piece, share);
  if (correction_)
    for (const EngineMemory& piece : correction_->memory())
      restore_memory(checkpoint, "correction_" + std::string(piece.name), piece, share);
  // The stop rule sees again what it had seen.
  begin_window(counter[2]);
  for (const IterationRecord& record : history_)
    if (record.number >= window_began_)
      (void)judge_.judge(record.fit.r_intensity, record.power_ratio, record.power_total);
  state_changed();
}

template void Steps<float>::save_together(CheckpointWriter*);
template void Steps<double>::save_together(CheckpointWriter*);
template void Steps<float>::restore(const CheckpointReader&);
template void Steps<double>::restore(const CheckpointReader&);

Reached reached_by(const CheckpointReader& checkpoint) {
  const Array counters = counters_of(checkpoint);
  return {counters.view<std::int64_t, 1>()[0], counters.view<std::int64_t, 1>()[1]};
}

}  // namespace sonde::ptycho
