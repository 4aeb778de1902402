// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/fft.h"
#include "sonde/instruments/ptycho/engines/workbench.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"
#include "sonde/instruments/ptycho/model/phase_roughness.h"
#include "sonde/instruments/ptycho/reconstruct/checkpointed.h"
#include "sonde/instruments/ptycho/reconstruct/divergence_hint.h"
#include "sonde/instruments/ptycho/reconstruct/history.h"
#include "sonde/instruments/ptycho/reconstruct/holdout.h"
#include "sonde/instruments/ptycho/reconstruct/parts.h"

namespace sonde::ptycho {
namespace {

/// Elements of an array that is not empty, into one of equal shape.
void copy_into(const Array& from, Array& to) {
  if (to.empty())
    to = from.clone();
  else
    std::memcpy(to.data(), from.data(), from.allocated_bytes());
}

/// A state of one shape into another, or into one that is empty.
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

/// Elements of a piece that one thread looks at: the same for any number of threads, so that sums are too.
constexpr Index piece_size = 8192;

/// sum |a - b|^2 over sum |b|^2 of complex arrays.
template <class Real>
double relative_change(const Array& now, const Array& before) {
  const auto *a = static_cast<const Real*>(now.data()), *b = static_cast<const Real*>(before.data());
  struct Sums {
    double change = 0, power = 0;
  };
  const Index count = now.count();
  std::vector<Sums> pieces(static_cast<std::size_t>((count + piece_size - 1) / piece_size));
  parallel_for(static_cast<Index>(pieces.size()), 1, [&](Index first, Index last, Worker&) {
    for (Index p = first; p < last; ++p) {
      // Lanes of their own, because one sum after the other takes four times as long.
      constexpr Index lanes = 8;
      double change[lanes] = {}, power[lanes] = {};
      const Index end = 2 * std::min(count, (p + 1) * piece_size);
      for (Index i = 2 * p * piece_size; i < end; i += lanes)
        for (Index k = 0; k < std::min(lanes, end - i); ++k) {
          const double was = static_cast<double>(b[i + k]), moved = static_cast<double>(a[i + k]) - was;
          change[k] += moved * moved;
          power[k] += was * was;
        }
      Sums& sums = pieces[static_cast<std::size_t>(p)];
      for (Index k = 0; k < lanes; ++k) {
        sums.change += change[k];
        sums.power += power[k];
      }
    }
  });
  Sums total;
  for (const Sums& sums : pieces) {
    total.change += sums.change;
    total.power += sums.power;
  }
  return total.power > 0 ? total.change / total.power : 0;
}

/// "[0, 12, 7]" of an array of three dimensions.
std::string place_in(const Shape& shape, Index i) {
  return fmt::format("[{}, {}, {}]", i / (shape[1] * shape[2]), i / shape[2] % shape[1], i % shape[2]);
}

template <class Real>
void require_finite(const Array& array, const char* what) {
  // A number times nothing is nothing, unless it is none: several at a time, which a way out in between would forbid.
  const auto* numbers = static_cast<const Real*>(array.data());
  const Index count = 2 * array.count();
  constexpr Index lanes = 16;
  Real nothing[lanes] = {};
  for (Index i = 0; i < count; i += lanes)
    for (Index k = 0; k < std::min(lanes, count - i); ++k) nothing[k] += Real(0) * numbers[i + k];
  if (std::all_of(std::begin(nothing), std::end(nothing), [](Real lane) { return lane == 0; })) return;
  const auto first = std::find_if_not(numbers, numbers + count, [](Real number) { return std::isfinite(number); });
  throw Error(ErrorKind::not_converged, fmt::format("the {} is not finite any more, first at {}", what,
                                                    place_in(array.shape(), (first - numbers) / 2)))
      .hint(std::string(divergence_hint));
}

template <class Real>
class Steps final : public Reconstruction {
 public:
  /// `wisdom`: of the transforms of a checkpoint.
  Steps(const Measurement& measurement, State state, Array propagators, Schedule schedule, const std::string& wisdom)
      : measurement_(&measurement),
        state_(std::move(state)),
        propagators_(std::move(propagators)),
        schedule_(std::move(schedule)),
        judge_(schedule_.stop),
        initial_positions_(state_.positions) {
    choose_frames();
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

  const IterationRecord& iterate() override;
  /// Goes on where a checkpoint was written.
  void restore(const CheckpointReader& checkpoint);
  State& state() override { return state_; }
  const std::vector<Point>& initial_positions() const override { return initial_positions_; }
  void state_changed() override {
    bench_->renew_spectrum();
    if (engine_) engine_->state_changed();
    r_free_now_.reset();
  }
  void settings_changed() override;

 protected:
  void save_together(CheckpointWriter* checkpoint) override;

 private:
  void choose_frames();
  void choose_transforms(const std::string& wisdom);
  [[nodiscard]] CountSums counts_of(const std::vector<Index>& frames) const;
  [[nodiscard]] Metrics judged(const std::vector<FrameSums>& fit, const std::vector<Index>& frames,
                               const CountSums& counts) const;
  [[nodiscard]] std::optional<double> judged_by_held_out();
  [[nodiscard]] double object_change() const;
  [[nodiscard]] double roughness() const;
  void require_finite_state() const;
  [[nodiscard]] std::string why_not_finite();
  void begin_engine(Index which);
  void end_engine();
  [[nodiscard]] double probe_power() const {
    return cpu::power<Real>(static_cast<const std::complex<Real>*>(state_.probe.data()), state_.probe.count());
  }
  void begin_window(Index iteration) {
    judge_.begin_window();
    window_began_ = iteration;
  }
  [[nodiscard]] const EngineTraits& traits(Index which) const {
    return schedule_.engines[static_cast<std::size_t>(which)].setup->traits();
  }
  [[nodiscard]] bool is_best(double r_intensity) const { return !(best_r_ > 0) || r_intensity < best_r_; }
  void note_best(double r_intensity, std::optional<double> r_free, Index iteration) {
    best_r_ = r_intensity;
    best_r_free_ = r_free;
    outcome_.best = iteration;
  }
  void restore_best();
  void restore_after(const Error& error);
  void remember();
  [[nodiscard]] bool becomes_free(Index number) const;
  void warn_of_limit(const IterationRecord& record) const;
  void finish(const IterationRecord& record);

  const Measurement* measurement_;
  State state_;
  Array propagators_;
  Schedule schedule_;
  StopJudge judge_;
  std::optional<DevicePatterns> there_;  // where kernels compute; they stay for all engines
  std::shared_ptr<const Fft2d<Real>> fft_;
  std::optional<Model<Real>> model_;
  std::optional<Workbench<Real>> bench_;
  std::unique_ptr<Engine<Real>> engine_;  // nullptr when it was asked to stop while it began
  std::optional<PositionCorrection<Real>> correction_;
  std::optional<ProbeRelaxation<Real>> relaxation_;
  std::shared_ptr<const ConstraintContext> known_;
  std::optional<Constraints<Real>> constraints_;
  std::vector<Point> initial_positions_;
  std::vector<FrameSums> fit_;
  std::vector<Index> held_here_;  // by own numbers
  Index which_ = 0, done_in_engine_ = 0;
  Index iterations_ = 0;               // of all engines
  Index window_began_ = 1;             // iteration from which the stop rule looks
  State before_;                       // the iteration that is worked on, or was last
  std::vector<EngineMemory> pieces_;   // of what an iteration brings to the next,
  std::vector<Array> remembered_;      // and what they were before it
  State best_;                         // with the lowest R_I
  double best_r_ = 0;                  // 0: not known of this kind of engine
  std::optional<double> best_r_free_;  // of best_
  std::optional<double> r_free_now_;   // of state_; nothing: not known, or no frame is held out
  double power_total_ = 1;
};

/// Over all processes.
template <class Real>
CountSums Steps<Real>::counts_of(const std::vector<Index>& frames) const {
  CountSums total;
  const auto add = [&](Index own) { total += measurement_->sums()[static_cast<std::size_t>(own)]; };
  if (!schedule_.share) {
    for (const Index j : frames) add(j);
    return total;
  }
  for (const Index j : schedule_.share->own(frames)) add(j);
  double values[] = {total.counts, total.counts2, total.amplitudes, total.lit, total.pixels};
  schedule_.share->sum(values);
  return {values[0], values[1], values[2], values[3], values[4]};
}

template <class Real>
void Steps<Real>::choose_frames() {
  const Index frames =
      schedule_.share ? static_cast<Index>(schedule_.share->placements().size()) : measurement_->count();
  HeldOut chosen = hold_out(frames, schedule_.skip, schedule_.holdout, schedule_.seed).value;
  active_ = std::move(chosen.active);
  held_ = std::move(chosen.held);
  held_here_ = schedule_.share ? schedule_.share->own(held_) : held_;
  counts_ = counts_of(active_);
  held_counts_ = counts_of(held_);
  if (active_.empty() || counts_.counts <= 0) throw Error(ErrorKind::bad_input, "no frame with counts takes part");
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
  if (which > 0 && traits(which).keeps_waves != traits(which - 1).keeps_waves) best_r_ = 0;
  remembered_.clear();
  correction_.reset();
  relaxation_.reset();
  engine_.reset();
  bench_.reset();
  model_.emplace(*measurement_, state_.slices(), state_.modes(), propagators_, run.setup->loss(), fft_);
  WorkLimits limits = schedule_.limits;
  limits.most_batch = run.most_batch;
  bench_.emplace(*model_, state_, active_, schedule_.seed, std::move(limits), schedule_.share.get(),
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
  const double r_intensity = judged(fit_, bench_->active(), counts_).r_intensity;
  if (!is_best(r_intensity)) return;
  copy_state(state_, best_);
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

/// The sums of frames of this process, over all processes.
template <class Real>
Metrics Steps<Real>::judged(const std::vector<FrameSums>& fit, const std::vector<Index>& frames,
                            const CountSums& counts) const {
  FrameSums total;
  for (const Index j : frames) total += fit[static_cast<std::size_t>(j)];
  double values[] = {total.loss, total.intensity_error2, total.amplitude_error, total.amplitude_error2, total.deviance};
  bench_->sum(values);
  total = {values[0], values[1], values[2], values[3], values[4]};
  return metrics_of(std::span<const FrameSums>(&total, 1), counts);
}

/// R_free of the state as it is.
template <class Real>
std::optional<double> Steps<Real>::judged_by_held_out() {
  if (held_.empty()) return std::nullopt;
  bench_->compare(held_here_, fit_);
  return judged(fit_, held_here_, held_counts_).r_intensity;
}

template <class Real>
double Steps<Real>::object_change() const {
  if (!schedule_.share) return relative_change<Real>(state_.object, before_.object);
  const auto [change, power] = schedule_.share->template change<Real>(state_.object, before_.object);
  return power > 0 ? change / power : 0;
}

/// Of all processes by their frames: each looks at the field of view of its own.
template <class Real>
double Steps<Real>::roughness() const {
  if (!schedule_.share) return phase_roughness(state_);
  const auto frames = static_cast<double>(state_.positions.size());
  double sums[] = {phase_roughness(state_) * frames, frames};
  bench_->sum(sums);
  return sums[0] / sums[1];
}

/// What one process finds, all end with: the others would wait for it.
template <class Real>
void Steps<Real>::require_finite_state() const {
  std::optional<Error> found;
  try {
    require_finite<Real>(state_.object, "object");
    require_finite<Real>(state_.probe, "probe");
  } catch (const Error& error) {
    if (!schedule_.share) throw;
    found = error;
  }
  if (!schedule_.share || !schedule_.share->any(found.has_value())) return;
  if (found) throw Error(*found);
  throw Error(ErrorKind::not_converged, "another process has found numbers that are not finite")
      .hint(std::string(divergence_hint));
}

/// Of finite arrays whose products are too large: the first frame that shows it, and where the largest numbers are.
template <class Real>
std::string Steps<Real>::why_not_finite() {
  std::string why;
  for (const Index j : bench_->active()) {
    if (std::isfinite(bench_->fit()[static_cast<std::size_t>(j)].intensity_error2)) continue;
    const Index frame = schedule_.share ? schedule_.share->frames()[static_cast<std::size_t>(j)] : j;
    why = fmt::format(": the modelled pattern of frame {} is the first that is not", frame);
    break;
  }
  for (const auto& [what, array] : {std::pair("object", &state_.object), std::pair("probe", &state_.probe)}) {
    const auto* elements = static_cast<const std::complex<Real>*>(array->data());
    const auto* most = std::max_element(elements, elements + array->count(),
                                        [](const auto& a, const auto& b) { return std::abs(a) < std::abs(b); });
    why +=
        fmt::format(", the {} reaches {:.3g} at {}", what, std::abs(*most), place_in(array->shape(), most - elements));
  }
  return why;
}

template <class Real>
void Steps<Real>::restore_best() {
  if (best_.object.empty()) return;
  copy_state(best_, state_);
  outcome_.r_intensity = best_r_;
  outcome_.r_free = r_free_now_ = best_r_free_;
}

/// What is left of an iteration that did not end: work that was asked to stop keeps what the iterations before have
/// reached, unless an earlier one was better.
template <class Real>
void Steps<Real>::restore_after(const Error& error) {
  const std::vector<Placement> were = state_.placements;
  const bool stopped = error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::terminated;
  const bool still_better = outcome_.best == static_cast<Index>(history_.size());
  if (best_.object.empty() || (stopped && still_better))
    copy_state(before_, state_);
  else
    restore_best();
  if (!stopped) return;
  // The same iteration may be asked for again. Exit waves are too many to be remembered: those that have been moved
  // stay so, each on its own way to where it goes, and follow their frames.
  for (std::size_t i = 0; i < remembered_.size(); ++i)
    std::memcpy(pieces_[i].array->data(), remembered_[i].data(), remembered_[i].allocated_bytes());
  state_changed();
  engine_->positions_changed(*bench_, were);
}

/// What the engine and the corrections bring from the iteration before, as it is now. On a GPU an iteration that is
/// interrupted and asked for again begins with that of the interruption.
template <class Real>
void Steps<Real>::remember() {
  if (bench_->device_pass() != nullptr) return;  // there it would have to come to the host in every iteration
  pieces_ = engine_->memory();
  if (correction_)
    for (const EngineMemory& piece : correction_->memory()) pieces_.push_back(piece);
  std::erase_if(pieces_, [](const EngineMemory& piece) { return piece.in_slots(); });
  remembered_.resize(pieces_.size());
  for (std::size_t i = 0; i < pieces_.size(); ++i) copy_into(*pieces_[i].array, remembered_[i]);
}

/// The first time that positions are kept from where they would move.
template <class Real>
void Steps<Real>::warn_of_limit(const IterationRecord& record) const {
  const auto at_limit = [](const IterationRecord& each) { return each.positions && each.positions->at_limit > 0; };
  if (!at_limit(record) || std::any_of(history_.begin(), history_.end(), at_limit)) return;
  log_warning(fmt::format(
      "{} of {} positions stand at their limit at iteration {}: {} px from where they began "
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
  copy_state(state_, before_);
  remember();
  const double power_before = probe_power();
  std::optional<double> best_r_free;

  const Stopwatch watch;
  try {
    if (!r_free_now_) r_free_now_ = judged_by_held_out();
    best_r_free = r_free_now_;
    engine_->iterate(*bench_, iteration);
    record.power_ratio = probe_power() / power_before;
    require_finite_state();
    record.fit = judged(bench_->fit(), bench_->active(), counts_);
    if (traits(which_).judges_result && is_best(record.fit.r_intensity)) {
      copy_state(state_, best_);
      best_r_free = judged_by_held_out();
    }
    if (relaxation_ && iteration.probe_free && relaxation_->due(record.number)) {
      record.opr_share = relaxation_->relax(*bench_);
      require_finite<Real>(state_.opr_modes, "variation of the probe");
      engine_->state_changed();
    }
    if (correction_ && correction_->due(record.number)) {
      record.positions = correction_->correct(*bench_, record.number, iterations_);
      warn_of_limit(record);
      engine_->positions_changed(*bench_, before_.placements);
    }
    if (constraints_) {
      const auto changed = constraints_->apply(state_, *known_, record.number);
      if (changed.object || changed.probe) state_changed();
    }
    record.r_free = r_free_now_ = judged_by_held_out();
  } catch (const Error& error) {
    restore_after(error);
    throw;
  }
  record.object_change = object_change();
  record.probe_change = relative_change<Real>(state_.probe, before_.probe);
  record.phase_roughness = roughness();
  power_total_ *= record.power_ratio;
  record.power_total = power_total_;
  record.seconds = watch.seconds();
  history_.push_back(record);
  if (is_best(record.fit.r_intensity)) {
    // R_I is that of the estimate that the iteration began with, unless its engine judges what it ends with.
    if (!traits(which_).judges_result) std::swap(before_, best_);
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
void Steps<Real>::save_together(CheckpointWriter* checkpoint) {
  if (!engine_) begin_engine(which_);
  const Share* share = schedule_.share.get();
  save_state(checkpoint, "", state_, share);
  if (!best_.object.empty()) save_state(checkpoint, "best_", best_, share);
  save_places(checkpoint, "initial_positions", initial_positions_, share);
  for (const EngineMemory& piece : engine_->memory())
    save_memory(checkpoint, "engine_" + std::string(piece.name), piece, share);
  if (correction_)
    for (const EngineMemory& piece : correction_->memory())
      save_memory(checkpoint, "correction_" + std::string(piece.name), piece, share);
  if (checkpoint == nullptr) return;
  checkpoint->array("history", table_of(history_));
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
  checkpoint->array("numbers", numbers_of({best_r_, power_total_}));
  if (best_r_free_) checkpoint->array("best_r_free", numbers_of({*best_r_free_}));
  checkpoint->text("because", outcome_.because);
  checkpoint->text("fft_wisdom", fft_->wisdom());
}

Array counters_of(const CheckpointReader& checkpoint) { return checkpoint.array("counters", DType::i64, Shape{5}); }

template <class Real>
void Steps<Real>::restore(const CheckpointReader& checkpoint) {
  const Share* share = schedule_.share.get();
  initial_positions_ = restored_places(checkpoint, "initial_positions", share);
  history_ = history_of(checkpoint.array("history"));
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
  best_r_ = numbers.view<double, 1>()[0];
  power_total_ = numbers.view<double, 1>()[1];
  if (checkpoint.has("best_object")) restore_state(checkpoint, "best_", best_, share);
  if (checkpoint.has("best_r_free"))
    best_r_free_ = checkpoint.array("best_r_free", DType::f64, Shape{1}).view<double, 1>()[0];
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
            fmt::format("{} diverged at iteration {} ({}): {} goes on from its best estimate, that of iteration {}",
                        engines[static_cast<std::size_t>(which_)].name, record.number, judge_.because(),
                        engines[static_cast<std::size_t>(which_) + 1].name, outcome_.best));
        restore_best();
        state_changed();
        return make_room();
      }
      outcome_.kind = Outcome::Kind::diverged;
      outcome_.because = std::isfinite(record.fit.r_intensity) ? judge_.because() : judge_.because() + why_not_finite();
      restore_best();
      return;
    default:
      return;
  }
}

}  // namespace

namespace {

/// In the precision of the state. `from`: the checkpoint to go on from, or nullptr.
template <class Real>
std::unique_ptr<Reconstruction> steps_of(const Measurement& measurement, State state, Array propagators,
                                         Schedule schedule, const CheckpointReader* from) {
  auto steps = std::make_unique<Steps<Real>>(measurement, std::move(state), std::move(propagators), std::move(schedule),
                                             from != nullptr ? from->text("fft_wisdom") : "");
  if (from != nullptr) steps->restore(*from);
  return steps;
}

std::unique_ptr<Reconstruction> prepare_or_resume(const Measurement& measurement, State state, Array propagators,
                                                  Schedule schedule, const CheckpointReader* from) {
  if (schedule.share) require_shareable(schedule);
  if (schedule.engines.empty()) throw Error(ErrorKind::bad_input, "a reconstruction needs at least one engine");
  for (const EngineRun& run : schedule.engines) require_knows(run.name, *run.setup, state.type, state.slices());
  if (const std::string why = schedule.kernels ? why_no_kernels(schedule) : ""; !why.empty())
    throw Error(ErrorKind::not_supported, why).hint("use --device cpu");
  const Window window = state.window();
  if (window.rows != measurement.rows() || window.cols != measurement.cols())
    throw Error(ErrorKind::bad_input, fmt::format("the probe has {} x {} pixels, the patterns {} x {}", window.rows,
                                                  window.cols, measurement.rows(), measurement.cols()));
  if (static_cast<Index>(state.positions.size()) != measurement.count())
    throw Error(ErrorKind::bad_input,
                fmt::format("{} positions for {} patterns", state.positions.size(), measurement.count()));
  require_inside(state.placements, window, state.object.shape()[1], state.object.shape()[2]);
  if (state.object.dtype() == DType::c64)
    return steps_of<float>(measurement, std::move(state), std::move(propagators), std::move(schedule), from);
  return steps_of<double>(measurement, std::move(state), std::move(propagators), std::move(schedule), from);
}

}  // namespace

Reached reached_by(const CheckpointReader& checkpoint) {
  const Array counters = counters_of(checkpoint);
  return {counters.view<std::int64_t, 1>()[0], counters.view<std::int64_t, 1>()[1]};
}

std::string_view name(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::running:
      return "running";
    case Outcome::Kind::finished:
      return "finished";
    case Outcome::Kind::converged:
      return "converged";
    case Outcome::Kind::diverged:
      return "diverged";
  }
  return "";
}

std::string why_no_kernels(const Schedule& schedule) {
  for (const EngineRun& run : schedule.engines)
    if (!run.setup->traits().has_kernels)
      return fmt::format("the engine {} has no kernels for a GPU (with kernels: {})", run.name,
                         engines_that([](const EngineSetup& setup) { return setup.traits().has_kernels; }));
  for (const EngineRun& run : schedule.engines) {
    if (!run.setup->traits().keeps_waves) continue;
    if (schedule.limits.wave_encoding != Encoding::raw)
      return "exit waves in 16 bits (compute.waves) are for the CPU alone";
    if (schedule.limits.wave_tier == Tier::disk)
      return "exit waves on the disk (compute.wave_tier) are for the CPU alone";
  }
  if (schedule.share) return "several processes share a scan on the CPU alone";
  if (const PositionMethod method = schedule.positions.method; !has_kernels(method))
    return fmt::format("positions are corrected by {} on the CPU alone (with kernels: gradient)", name(method));
  if (schedule.opr.modes > 0) return "a probe that varies along the scan is for the CPU alone";
  return "";
}

void require_shareable(const Schedule& schedule) {
  const auto refuse = [](const char* what, std::string_view name, const std::string& others) {
    throw Error(ErrorKind::not_supported, fmt::format("{} \"{}\" cannot be shared by several processes", what, name))
        .hint("start one process, or take one of " + others);
  };
  for (const EngineRun& run : schedule.engines)
    if (!run.setup->traits().can_be_shared)
      refuse("engine", run.name, engines_that([](const EngineSetup& setup) { return setup.traits().can_be_shared; }));
  std::vector<std::string_view> constraints;
  for (const ConstraintKind& kind : constraint_kinds())
    if (kind.can_be_shared) constraints.push_back(kind.name);
  for (const ChosenConstraint& constraint : schedule.constraints)
    if (!constraint_kind(constraint.name).can_be_shared)
      refuse("constraint", constraint.name, fmt::format("{}", fmt::join(constraints, ", ")));
  if (schedule.positions.method != PositionMethod::none)
    throw Error(ErrorKind::not_supported, "positions cannot be corrected by several processes")
        .hint("start one process, or positions.method = \"none\"");
  if (schedule.opr.modes > 0)
    throw Error(ErrorKind::not_supported, "a probe that varies along the scan cannot be found by several processes")
        .hint("start one process, or opr.modes = 0");
}

std::unique_ptr<Reconstruction> Reconstruction::prepare(const Measurement& measurement, State state, Array propagators,
                                                        Schedule schedule) {
  return prepare_or_resume(measurement, std::move(state), std::move(propagators), std::move(schedule), nullptr);
}

std::unique_ptr<Reconstruction> Reconstruction::resume(const Measurement& measurement, Array propagators,
                                                       Schedule schedule, const CheckpointReader& checkpoint) {
  State state;
  restore_state(checkpoint, "", state, schedule.share.get());
  return prepare_or_resume(measurement, std::move(state), std::move(propagators), std::move(schedule), &checkpoint);
}

}  // namespace sonde::ptycho
