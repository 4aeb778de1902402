// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/io/checkpoint.h"
#include "sonde/instruments/ptycho/model/measurement.h"
#include "sonde/instruments/ptycho/model/metrics.h"
#include "sonde/instruments/ptycho/model/state.h"
#include "sonde/instruments/ptycho/positions/correct.h"
#include "sonde/instruments/ptycho/reconstruct/judged_frames.h"
#include "sonde/instruments/ptycho/reconstruct/schedule.h"

namespace sonde::ptycho {

/// What one iteration did (docs/ptycho-theory.md#metrics-and-their-floor).
struct IterationRecord {
  Index number = 0;  ///< from 1
  Index engine = 0;  ///< index in the schedule
  /// Of the active frames: of the estimate that the iteration began with, as far as it was unchanged when each frame
  /// was seen; of what an engine ends with where it judges_result.
  Metrics fit;
  std::optional<double> r_free;  ///< R_I of the held-out frames, afterwards
  double object_change = 0;      ///< sum |O_new - O_old|^2 / sum |O_old|^2
  double probe_change = 0;
  double power_ratio = 1;                   ///< of sum |P|^2 over this iteration, before the power constraint acts
  double power_total = 1;                   ///< product of all until now
  double phase_roughness = 0;               ///< phase_roughness() of the field of view, rad per pixel
  double opr_share = 0;                     ///< of the first mode's power, what varies along the scan
  std::optional<PositionReport> positions;  ///< when this iteration corrected them
  double seconds = 0;
};

/// How a run ended, or that it continues.
struct Outcome {
  enum class Kind { running, finished, converged, diverged };
  Kind kind = Kind::running;
  std::string because;
  /// Iteration with the lowest R_I. On divergence the estimate is the one that this R_I is of: as the iteration began,
  /// or for engines that judge what they end with as it ended.
  Index best = 0;
  /// Of the estimate that there is: R_I and R_free of the last iteration, unless an earlier estimate was brought back.
  double r_intensity = 0;
  std::optional<double> r_free{};
};

/// running, finished, converged or diverged.
[[nodiscard]] std::string_view name(Outcome::Kind kind);

/// Whose checkpoints they are: CheckpointReader(path, checkpoint_kind()).
[[nodiscard]] inline CheckpointKind checkpoint_kind() { return {.name = "ptycho", .schema = 2}; }

/// How far the run of a checkpoint has come: which engine works, and how many of its iterations are done.
struct Reached {
  Index engine = 0, iterations = 0;
};
[[nodiscard]] Reached reached_by(const CheckpointReader& checkpoint);

/// A reconstruction step by step. The state may be read and changed between iterations.
///
///   auto run = Reconstruction::prepare(measurement, std::move(state), propagators, schedule);
///   while (run->outcome().kind == Outcome::Kind::running) print(run->iterate());
class Reconstruction {
 public:
  /// `state` is in single or double precision, which is then that of all computing; `measurement` must outlive the
  /// reconstruction. Throws Error(bad_input) when state and measurement do not fit, Error(not_supported) for kernels
  /// that there are not, and what engines throw.
  static std::unique_ptr<Reconstruction> prepare(const Measurement& measurement, State state, Array propagators,
                                                 Schedule schedule);
  /// Goes on from save(): the same measurement, propagators and schedule give the same bits as without the break, on
  /// the same kind of processor. A run that was at its end goes on where the schedule now gives its last engine more
  /// iterations, or has no stop rule any more. Throws Error(bad_file) when the checkpoint is of another reconstruction.
  static std::unique_ptr<Reconstruction> resume(const Measurement& measurement, Array propagators, Schedule schedule,
                                                const CheckpointReader& checkpoint);
  virtual ~Reconstruction() = default;

  /// All that the next iteration depends on. Arrays of the state are written as they are; of several processes rank 0
  /// writes what all have, as one process would have it, while the others call help_save(). Any number of processes
  /// goes on from it: as many as before with the same bits, others with sums in another order.
  void save(CheckpointWriter& checkpoint) { save_together(&checkpoint); }
  void help_save() { save_together(nullptr); }

  /// One iteration. Throws Error(not_converged) that names the array and index of the first number that is none; the
  /// estimate is then the one with the lowest R_I. Throws Error(interrupted) or Error(terminated); the estimate is then
  /// that of the iterations that ended, unless R_I had risen again: then the one with the lowest.
  virtual const IterationRecord& iterate() = 0;
  /// Whoever changes it calls state_changed() afterwards.
  [[nodiscard]] virtual State& state() = 0;
  [[nodiscard]] virtual const std::vector<Point>& initial_positions() const = 0;
  virtual void state_changed() = 0;
  /// Whoever changes numbers in the settings of engines and constraints that the schedule shares calls this afterwards:
  /// they count from the next iteration on, as they would after save() and resume() with them. The stop rule looks
  /// anew. Throws what makes a constraint impossible; then nothing has changed here.
  virtual void settings_changed() = 0;

  [[nodiscard]] const Outcome& outcome() const { return outcome_; }
  [[nodiscard]] const std::vector<IterationRecord>& history() const { return history_; }
  /// Frames of the scan.
  [[nodiscard]] const std::vector<Index>& active() const { return frames_.active; }
  [[nodiscard]] const std::vector<Index>& held_out() const { return frames_.held; }
  /// Sums over the active frames: what R_I's floor is found from.
  [[nodiscard]] const CountSums& counts() const { return frames_.counts; }

 protected:
  virtual void save_together(CheckpointWriter* checkpoint) = 0;

  Outcome outcome_;
  std::vector<IterationRecord> history_;
  JudgedFrames frames_;
};

}  // namespace sonde::ptycho
