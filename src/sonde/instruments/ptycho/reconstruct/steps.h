// SPDX-License-Identifier: Apache-2.0
// Private to the room: a reconstruction in one precision. What an iteration does is in steps.cpp, what a checkpoint
// keeps in steps_checkpoint.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/fft.h"
#include "sonde/instruments/ptycho/engines/workbench.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"
#include "sonde/instruments/ptycho/reconstruct/best_state.h"
#include "sonde/instruments/ptycho/reconstruct/iteration_start.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"

namespace sonde::ptycho {

template <class Real>
class Steps final : public Reconstruction {
 public:
  /// `wisdom`: of the transforms of a checkpoint.
  Steps(const Measurement& measurement, State state, Array propagators, Schedule schedule, const std::string& wisdom);

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
  void choose_transforms(const std::string& wisdom);
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
  [[nodiscard]] Metrics fit_of_active(const std::vector<FrameSums>& fit) const {
    return judged(*bench_, fit, bench_->active(), frames_.counts);
  }
  [[nodiscard]] std::optional<double> r_free_of_state() { return judged_by_held_out(*bench_, frames_, fit_); }
  void note_best(double r_intensity, std::optional<double> r_free, Index iteration) {
    best_.r_intensity = r_intensity;
    best_.r_free = r_free;
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
  int workers_ = worker_limit();  // there is scratch for so many
  std::vector<FrameSums> fit_;
  Index which_ = 0, done_in_engine_ = 0;
  Index iterations_ = 0;    // of all engines
  Index window_began_ = 1;  // iteration from which the stop rule looks
  IterationStart start_;    // of the iteration that is worked on, or was last
  BestState best_;
  std::optional<double> r_free_now_;  // of state_; nothing: not known, or no frame is held out
  double power_total_ = 1;
};

}  // namespace sonde::ptycho
