// SPDX-License-Identifier: Apache-2.0
// The loop of long work: iterations of a reconstruction or an inversion, cases of a scan. What one step is, and what is
// kept of it, belongs to an instrument; the order of what happens between steps is here.
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/run/run.h"

namespace sonde {

/// Work in steps. Whatever it throws ends the loop.
class LongWork {
 public:
  virtual ~LongWork() = default;
  /// Steps that are done; 0 again after a restart.
  [[nodiscard]] virtual Index done() const = 0;
  [[nodiscard]] virtual bool over() const = 0;
  virtual void step() = 0;
  /// The last step in one line, for people.
  [[nodiscard]] virtual std::string line() const = 0;

  /// Adds the last step to a log.
  virtual void log() {}
  /// Writes a checkpoint. With several processes all of them call it.
  virtual void save() {}
  /// Writes a picture of how things are. With several processes all of them call it.
  virtual void preview() {}
  /// Shows the last step to those who watch, and does what they asked for: other settings, a pause, a new beginning.
  /// False: they asked to stop. Called also after the last step.
  virtual bool attend() { return true; }

  /// Whether any of the processes that share the work says so.
  [[nodiscard]] virtual bool any(bool said) const { return said; }
  /// check_interrupt() of all of them.
  virtual void check() const { check_interrupt(); }
};

/// When what happens. A count of 0 is never.
struct Pace {
  std::string stage = "working", unit = "steps";  ///< of the progress that is shown
  Index total = 0;                                ///< steps to be expected; 0: not known
  Index say_every = 10;                           ///< lines for people, beside the first and the last
  Index preview_every = 0;
  Index checkpoint_every = 0;
  double checkpoint_minutes = 0;  ///< the same by the clock
  [[nodiscard]] bool checkpoints() const { return checkpoint_every > 0 || checkpoint_minutes > 0; }
};

/// Steps until the work is over or somebody asks to stop. After each step, in this order: the log, the checkpoint when
/// it is due, the preview, the line for people, who watches. Where there are checkpoints, SIGTERM waits for the end of
/// its step and one is written before the loop ends. The report gets the phases "iterate", "checkpoint" and "preview".
/// Throws what the work throws, and Error(interrupted) or Error(terminated).
void iterate(LongWork& work, const Pace& pace, Run& run);

}  // namespace sonde
