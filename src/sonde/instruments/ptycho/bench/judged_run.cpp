// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/bench/judged_run.h"

#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/instruments/ptycho/engines/gd.h"

namespace sonde::ptycho {
namespace {

struct TimedGdSettings : GdSettings {
  double* spent_s = nullptr;
};

/// gd, with a clock on it.
template <class Real>
class TimedGd final : public Engine<Real> {
 public:
  TimedGd(const TimedGdSettings& settings, Workbench<Real>& bench) : gd_(settings, bench), spent_s_(settings.spent_s) {}
  void take(const TimedGdSettings& settings, Workbench<Real>& bench) { gd_.take(settings, bench); }
  void iterate(Workbench<Real>& bench, const Iteration& iteration) override {
    const Stopwatch watch;
    gd_.iterate(bench, iteration);
    *spent_s_ = watch.seconds();
  }

 private:
  Gd<Real> gd_;
  double* spent_s_;
};

}  // namespace

JudgedRun::JudgedRun(ScanSize size) : scan(size, 1, false, Loss::amplitude) {
  TimedGdSettings timed;
  timed.spent_s = &engine_s;
  Schedule schedule;
  schedule.engines.push_back({"gd", 1000000, std::make_shared<SetupOf<TimedGd, TimedGdSettings>>(timed)});
  schedule.stop.rule = StopRule::off;
  schedule.holdout = 0.0;
  run = Reconstruction::prepare(scan.measurement(), std::move(scan.state()), {}, std::move(schedule));
}

}  // namespace sonde::ptycho
