// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/iterate.h"

#include "sonde/engine/io/checkpoint.h"
#include "sonde/engine/report/progress.h"

namespace sonde {
namespace {

bool falls_on(Index step, Index every) { return every > 0 && step % every == 0; }

/// A step, with SIGTERM waiting for its end where a checkpoint is to follow.
void step(LongWork& work, const Pace& pace, Run& run) {
  // Batch systems give half a minute; the checkpoint and the result need a part of it.
  constexpr double most_s = 15;
  std::optional<TerminationWaits> waits;
  if (pace.checkpoints()) waits.emplace(most_s);
  const auto phase = run.report().phase("iterate");
  work.step();
}

/// A request to stop that has waited for the checkpoint ends work that is not over.
void save_if_due(LongWork& work, const Pace& pace, CheckpointTimer& timer, Run& run) {
  if (!pace.checkpoints()) return;
  // Several processes write together, when the clock or a request to stop of any of them says so.
  if (!work.any(falls_on(work.done(), pace.checkpoint_every) || timer.due())) return;
  {
    const auto phase = run.report().phase("checkpoint");
    work.save();
  }
  timer.restart();
  if (!work.over()) work.check();
}

}  // namespace

void iterate(LongWork& work, const Pace& pace, Run& run) {
  std::optional<ProgressMeter> meter;
  CheckpointTimer timer(60 * pace.checkpoint_minutes);
  while (!work.over()) {
    if (!meter || work.done() == 0) meter.emplace(pace.stage, pace.total, pace.unit);
    step(work, pace, run);
    meter->advance();
    work.log();
    save_if_due(work, pace, timer, run);
    if (falls_on(work.done(), pace.preview_every)) {
      const auto phase = run.report().phase("preview");
      work.preview();
    }
    if (work.done() == 1 || falls_on(work.done(), pace.say_every) || work.over()) run.say(work.line());
    if (!work.attend()) return;
  }
}

}  // namespace sonde
