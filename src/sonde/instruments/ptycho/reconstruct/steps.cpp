// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/reconstruct/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/log.h"
#include "sonde/instruments/ptycho/reconstruct/change.h"
#include "sonde/instruments/ptycho/reconstruct/finite.h"
#include "sonde/instruments/ptycho/reconstruct/state_copy.h"

namespace sonde::ptycho {

template <class Real>
Steps<Real>::Steps(const Measurement& measurement, State state, Array propagators, Schedule schedule,
                   const std::string& wisdom)
    : measurement_(&measurement),
      state_(std::move(state)),
      propagators_(std::move(propagators)),
      schedule_(std::move(schedule)),
      judge_(schedule_.stop),
      initial_positions_(state_.positions) {
  frames_ = judged_frames(measurement, schedule_);
  choose_transforms(wisdom);
  for (const EngineRun& run : schedule_.engines) iterations_ += run.iterations;
  known_ = schedule_.known;
  if (!known_) {
    auto counts_alone = std::make_shared<ConstraintContext>();
    counts_alone->mean_counts = measurement.mean_counts();
    known_ = std::move(counts_alone);
  }
  if (schedule_.opr.modes > 0) make_opr_room(state_, schedule_.opr.modes);
  if (!schedule_.constraints.empty()) constraints_.emplace(schedule_.constraints, *known_, state_);
  fit_.resize(static_cast<std::size_t>(measurement.count()));
  if (schedule_.kernels) there_.emplace(*schedule_.kernels, measurement, schedule_.patterns);
  begin_engine(0);
}

/// Those of rank 0 are for all, and those that it begins with for all its engines: plans that are measured again may
/// round differently.
template <class Real>
void Steps<Real>::choose_transforms(const std::string& wisdom) {
  const FftKey key{.rows = measurement_->rows(), .cols = measurement_->cols(), .effort = schedule_.transforms};
  const auto prepare = [&](const std::string& known) {
    fft_ = std::make_shared<const Fft2d<Real>>(Fft2d<Real>::prepare(key, known));
  };
  const bool follows = schedule_.share && schedule_.share->ranks().rank() != 0;
  if (!follows) prepare(wisdom);
  if (!schedule_.share) return;
  const std::string of_first = schedule_.share->of_first(follows ? "" : fft_->wisdom());
  if (follows) prepare(of_first);
}

template <class Real>
void Steps<Real>::begin_engine(Index which) {
  which_ = which;
  done_in_engine_ = 0;
  const EngineRun& run = schedule_.engines[static_cast<std::size_t>(which)];
  // What the engine before has reached stays the best until this one does better. Only R_I of exit waves that are kept
  // is of another kind.
  if (which > 0 && traits(which).keeps_waves != traits(which - 1).keeps_waves) best_.r_intensity = 0;
  start_.forget_pieces();
  correction_.reset();
  relaxation_.reset();
  engine_.reset();
  bench_.reset();
  model_.emplace(*measurement_, state_.slices(), state_.modes(), propagators_, run.setup->loss(), fft_);
  WorkLimits limits = schedule_.limits;
  limits.most_batch = run.most_batch;
  bench_.emplace(*model_, state_, frames_.active, schedule_.seed, std::move(limits), schedule_.share.get(),
                 there_ ? &*there_ : nullptr);
  if (schedule_.positions.method != PositionMethod::none) {
    bench_->keep_spectrum();
    correction_.emplace(schedule_.positions, initial_positions_, *bench_);
  }
  if (schedule_.opr.modes > 0) relaxation_.emplace(schedule_.opr, *bench_);
  engine_ = run.setup->make(*bench_);
  begin_window(static_cast<Index>(history_.size()) + 1);
}

/// What an engine has reached is judged before another one changes it: where R_I is that of the estimate before an
/// iteration, nobody has seen the last one's.
template <class Real>
void Steps<Real>::end_engine() {
  if (traits(which_).judges_result || traits(which_ + 1).keeps_waves != traits(which_).keeps_waves) return;
  bench_->compare(bench_->active(), fit_);
  const double r_intensity = fit_of_active(fit_).r_intensity;
  if (!best_.is_beaten_by(r_intensity)) return;
  copy_state(state_, best_.state);
  note_best(r_intensity, r_free_now_, static_cast<Index>(history_.size()));
}

template <class Real>
void Steps<Real>::settings_changed() {
  if (!schedule_.constraints.empty()) {
    Constraints<Real> renewed(schedule_.constraints, *known_, state_);
    constraints_.emplace(std::move(renewed));
  }
  if (engine_) schedule_.engines[static_cast<std::size_t>(which_)].setup->renew(*engine_, *bench_);
  begin_window(static_cast<Index>(history_.size()) + 1);
}

template <class Real>
void Steps<Real>::restore_best() {
  if (best_.empty()) return;
  copy_state(best_.state, state_);
  outcome_.r_intensity = best_.r_intensity;
  outcome_.r_free = r_free_now_ = best_.r_free;
}

/// What is left of an iteration that did not end: work that was asked to stop keeps what the iterations before have
/// reached, unless an earlier one was better.
template <class Real>
void Steps<Real>::restore_after(const Error& error) {
  const std::vector<Placement> were = state_.placements;
  const bool stopped = error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::terminated;
  const bool still_better = outcome_.best == static_cast<Index>(history_.size());
  if (best_.empty() || (stopped && still_better))
    copy_state(start_.state(), state_);
  else
    restore_best();
  if (!stopped) return;
  start_.bring_back();  // the same iteration may be asked for again
  state_changed();
  engine_->positions_changed(*bench_, were);
}

/// What the engine and the corrections bring from the iteration before, as it is now. On a GPU an iteration that is
/// interrupted and asked for again begins with that of the interruption.
template <class Real>
void Steps<Real>::remember() {
  if (bench_->device_pass() != nullptr) return;  // there it would have to come to the host in every iteration
  std::vector<EngineMemory> pieces = engine_->memory();
  if (correction_)
    for (const EngineMemory& piece : correction_->memory()) pieces.push_back(piece);
  start_.take(std::move(pieces));
}

/// The first time that positions are kept from where they would move.
template <class Real>
void Steps<Real>::warn_of_limit(const IterationRecord& record) const {
  const auto at_limit = [](const IterationRecord& each) { return each.positions && each.positions->at_limit > 0; };
  if (!at_limit(record) || std::any_of(history_.begin(), history_.end(), at_limit)) return;
  log_warning(fmt::format(
      "{} of {} positions are at their limit at iteration {}: {} px from where they began "
      "(positions.max_move_px), or the edge of the object. Raise it, or check the scan's step and orientation",
      record.positions->at_limit, bench_->active().size(), record.number, schedule_.positions.max_move));
}

/// Whether something is estimated from this iteration on that was fixed before.
template <class Real>
bool Steps<Real>::becomes_free(Index number) const {
  return number == schedule_.object_start || number == schedule_.probe_start ||
         (schedule_.positions.method != PositionMethod::none && number == schedule_.positions.start) ||
         (schedule_.opr.modes > 0 && number == schedule_.opr.start);
}

template <class Real>
const IterationRecord& Steps<Real>::iterate() {
  if (outcome_.kind != Outcome::Kind::running) throw Error(ErrorKind::internal, "the reconstruction is over");
  if (worker_limit() > workers_)
    throw Error(ErrorKind::usage,
                fmt::format("{} threads; the reconstruction was prepared for up to {}", worker_limit(), workers_))
        .hint("set the number of threads before a reconstruction is prepared");
  const auto over = [&] { return done_in_engine_ >= schedule_.engines[static_cast<std::size_t>(which_)].iterations; };
  // Here, where a request to stop leaves everything as it is: the next call tries again.
  if (!engine_) begin_engine(which_);
  if (over()) {
    end_engine();
    begin_engine(which_ + 1);
  }
  IterationRecord record;
  record.number = static_cast<Index>(history_.size()) + 1;
  record.engine = which_;
  const Iteration iteration{record.number, record.number >= schedule_.object_start,
                            record.number >= schedule_.probe_start};
  if (becomes_free(record.number)) begin_window(record.number);
  start_.take(state_);
  remember();
  const double power_before = probe_power();
  std::optional<double> best_r_free;

  const Stopwatch watch;
  try {
    if (!r_free_now_) r_free_now_ = r_free_of_state();
    best_r_free = r_free_now_;
    engine_->iterate(*bench_, iteration);
    record.power_ratio = probe_power() / power_before;
    require_finite_state<Real>(state_, schedule_.share.get());
    record.fit = fit_of_active(bench_->fit());
    if (traits(which_).judges_result && best_.is_beaten_by(record.fit.r_intensity)) {
      copy_state(state_, best_.state);
      best_r_free = r_free_of_state();
    }
    if (relaxation_ && iteration.probe_free && relaxation_->due(record.number)) {
      record.opr_share = relaxation_->relax(*bench_);
      require_finite<Real>(state_.opr_modes, "variation of the probe");
      engine_->state_changed();
    }
    if (correction_ && correction_->due(record.number)) {
      record.positions = correction_->correct(*bench_, record.number, iterations_);
      warn_of_limit(record);
      engine_->positions_changed(*bench_, start_.state().placements);
    }
    if (constraints_) {
      const auto changed = constraints_->apply(state_, *known_, record.number);
      if (changed.object || changed.probe) state_changed();
    }
    record.r_free = r_free_now_ = r_free_of_state();
  } catch (const Error& error) {
    restore_after(error);
    throw;
  }
  record.object_change = object_change<Real>(state_.object, start_.state().object, schedule_.share.get());
  record.probe_change = relative_change<Real>(state_.probe, start_.state().probe);
  record.phase_roughness = roughness(*bench_, state_);
  power_total_ *= record.power_ratio;
  record.power_total = power_total_;
  record.seconds = watch.seconds();
  history_.push_back(record);
  if (best_.is_beaten_by(record.fit.r_intensity)) {
    // R_I is that of the estimate that the iteration began with, unless its engine judges what it ends with.
    if (!traits(which_).judges_result) std::swap(start_.state(), best_.state);
    note_best(record.fit.r_intensity, best_r_free, record.number);
  }
  outcome_.r_intensity = record.fit.r_intensity;
  outcome_.r_free = record.r_free;
  ++done_in_engine_;
  finish(record);
  if (outcome_.kind == Outcome::Kind::running && over() && which_ + 1 == static_cast<Index>(schedule_.engines.size())) {
    outcome_.kind = Outcome::Kind::finished;
    outcome_.because = "all iterations are done";
  }
  return history_.back();
}

template <class Real>
void Steps<Real>::finish(const IterationRecord& record) {
  if (const std::string warning = judge_.power_warning(record.number); !warning.empty()) log_warning(warning);
  const auto& engines = schedule_.engines;
  const bool last = which_ + 1 == static_cast<Index>(engines.size());
  const auto make_room = [&] { done_in_engine_ = engines[static_cast<std::size_t>(which_)].iterations; };
  switch (judge_.judge(record.fit.r_intensity, record.power_ratio, record.power_total)) {
    case StopJudge::Verdict::converged:
      if (!last) return make_room();
      outcome_.kind = Outcome::Kind::converged;
      outcome_.because = judge_.because();
      return;
    case StopJudge::Verdict::diverged:
      // Projections wander about their answer: another engine may well go on from the best of it.
      if (!last && std::isfinite(record.fit.r_intensity)) {
        log_warning(
            fmt::format("{} diverged at iteration {} ({}): {} continues from its best estimate, that of iteration {}",
                        engines[static_cast<std::size_t>(which_)].name, record.number, judge_.because(),
                        engines[static_cast<std::size_t>(which_) + 1].name, outcome_.best));
        restore_best();
        state_changed();
        return make_room();
      }
      outcome_.kind = Outcome::Kind::diverged;
      outcome_.because =
          std::isfinite(record.fit.r_intensity)
              ? judge_.because()
              : judge_.because() + why_not_finite<Real>(state_, bench_->active(), bench_->fit(), schedule_.share.get());
      restore_best();
      return;
    default:
      return;
  }
}

template class Steps<float>;
template class Steps<double>;

}  // namespace sonde::ptycho
