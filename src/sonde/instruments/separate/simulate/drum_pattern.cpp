// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/simulate/drum_pattern.h"

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/index.h"
#include "sonde/engine/math/random.h"
#include "sonde/instruments/separate/simulate/exact.h"

namespace sonde::separate {
namespace {

constexpr Index steps = 16;  // of a bar

/// What a bar is made of, drawn once: a drummer repeats.
struct Groove {
  bool kicks[steps] = {}, ghosts[steps] = {}, sixteenths[steps] = {};
  Index open = 14;

  explicit Groove(Random& random) {
    for (const Index step : {3, 6, 7, 10, 11, 14}) kicks[step] = random.uniform() < 0.35;
    kicks[0] = kicks[8] = true;
    for (const Index step : {7, 9, 15}) ghosts[step] = random.uniform() < 0.4;
    for (Index step = 1; step < steps; step += 2) sixteenths[step] = random.uniform() < 0.15;
    open = random.uniform() < 0.5 ? 14 : 6;
  }
};

class Drummer {
 public:
  explicit Drummer(const PatternSettings& settings)
      : settings_(settings), random_(settings.seed, 1), groove_(random_) {}

  std::vector<PlayedHit> play() {
    const double bar_s = 240 / settings_.tempo;
    for (Index bar = 0; static_cast<double>(bar) * bar_s < settings_.seconds; ++bar)
      for (Index step = 0; step < steps; ++step)
        play_step(bar, step, (static_cast<double>(bar * steps + step)) * bar_s / steps);
    std::stable_sort(hits_.begin(), hits_.end(),
                     [](const PlayedHit& a, const PlayedHit& b) { return a.time_s < b.time_s; });
    return std::move(hits_);
  }

 private:
  void hit(Hit what, double time_s, double strength) {
    // All that is left to chance is drawn for every hit, so that none depends on where the loop ends.
    const double late = exact::normal(random_) * settings_.timing_ms / 1000, louder = exact::normal(random_);
    const PlayedHit made{.time_s = std::max(0.0, time_s + 0.02 + late),
                         .hit = what,
                         .strength = std::clamp(strength * (1 + 0.08 * louder), 0.05, 1.0)};
    if (made.time_s < settings_.seconds - 0.1) hits_.push_back(made);
  }

  void play_step(Index bar, Index step, double time_s) {
    const bool fourth = bar % 4 == 3, fill = fourth && step >= 12, on_beat = step % 4 == 0;
    if (bar % 4 == 0 && step == 0) hit(Hit::crash, time_s, 0.8);
    if (groove_.kicks[step] && !fill) hit(Hit::kick, time_s, on_beat ? 0.95 : 0.75);
    if (step == 4 || step == 12) hit(Hit::snare, time_s, 0.9);
    if (fill) {
      constexpr Hit toms[] = {Hit::tom_high, Hit::tom_high, Hit::tom_mid, Hit::tom_low};
      hit(toms[step - 12], time_s, 0.85);
      return;
    }
    if (groove_.ghosts[step]) hit(Hit::snare, time_s, 0.3);
    if (step % 2 == 1 && !groove_.sixteenths[step]) return;
    const double accent = on_beat ? 0.85 : step % 2 == 0 ? 0.65 : 0.5;
    if (fourth)
      hit(Hit::ride, time_s, accent);
    else
      hit(step == groove_.open ? Hit::hihat_open : Hit::hihat_closed, time_s, accent);
  }

  PatternSettings settings_;
  Random random_;
  Groove groove_;
  std::vector<PlayedHit> hits_;
};

}  // namespace

std::vector<PlayedHit> drum_pattern(const PatternSettings& settings) { return Drummer(settings).play(); }

}  // namespace sonde::separate
