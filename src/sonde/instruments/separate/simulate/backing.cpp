// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/simulate/backing.h"

#include <algorithm>
#include <cmath>

#include "sonde/engine/math/random.h"
#include "sonde/instruments/separate/simulate/exact.h"

namespace sonde::separate {
namespace {

/// Equal temperament from A, 55 Hz, upwards.
double frequency(Index semitones) {
  constexpr double octave[] = {1,
                               1.0594630943592953,
                               1.122462048309373,
                               1.189207115002721,
                               1.2599210498948732,
                               1.3348398541700344,
                               1.4142135623730951,
                               1.4983070768766815,
                               1.5874010519681994,
                               1.681792830507429,
                               1.7817974362806785,
                               1.8877486253633868};
  return 55 * octave[semitones % 12] * static_cast<double>(Index{1} << (semitones / 12));
}

class Players {
 public:
  Players(Index samples, Index rate) : samples_(samples), rate_(rate), sound_(static_cast<std::size_t>(2 * samples)) {}

  /// A tone of some harmonics with levels 1 / k, from `begin_s` on.
  void tone(Index semitones, double begin_s, double length_s, double level, double decay_s, int harmonics,
            double right) {
    const auto first = static_cast<Index>(begin_s * static_cast<double>(rate_));
    const auto count = static_cast<Index>(length_s * static_cast<double>(rate_));
    const double hz = frequency(semitones) / static_cast<double>(rate_);
    const double decay = exact::exponential(-1 / (decay_s * static_cast<double>(rate_)));
    constexpr double ramp = 400;  // samples, so that nothing clicks
    double loud = level;
    for (Index i = 0; i < count && first + i < samples_; ++i) {
      double value = 0;
      for (int k = 1; k <= harmonics; ++k) value += exact::sine(hz * k * static_cast<double>(i)) / k;
      const double ends = std::min({1.0, static_cast<double>(i) / ramp, static_cast<double>(count - i) / ramp});
      sound_[static_cast<std::size_t>(first + i)] += loud * ends * value * (1 - right);
      sound_[static_cast<std::size_t>(samples_ + first + i)] += loud * ends * value * (1 + right);
      loud *= decay;
    }
  }
  [[nodiscard]] std::vector<float> sound() const { return {sound_.begin(), sound_.end()}; }

 private:
  Index samples_, rate_;
  std::vector<double> sound_;
};

struct Chord {
  Index root, third;
};

}  // namespace

std::vector<float> backing_music(std::uint64_t seed, double tempo, Index samples, Index rate) {
  constexpr Chord chords[] = {{0, 3}, {8, 4}, {3, 4}, {10, 4}};  // A minor, F, C, G
  constexpr Index scale[] = {0, 3, 5, 7, 10};
  Random random(seed, 2);
  Players players(samples, rate);
  const double eighth_s = 30 / tempo;
  for (Index step = 0; static_cast<double>(step) * eighth_s * static_cast<double>(rate) < static_cast<double>(samples);
       ++step) {
    const double begin_s = static_cast<double>(step) * eighth_s;
    const Chord& chord = chords[step / 8 % 4];
    players.tone(chord.root, begin_s, 0.9 * eighth_s, 0.13, 0.4, 4, 0);
    if (step % 8 == 0)
      for (const Index note : {Index{0}, chord.third, Index{7}})
        players.tone(24 + chord.root + note, begin_s, 7.8 * eighth_s, 0.025, 3, 5, note == 0 ? -0.4 : 0.4);
    const bool sings = random.uniform() < 0.4;
    const Index note = scale[random.below(5)];
    if (sings) players.tone(36 + note, begin_s, 1.6 * eighth_s, 0.05, 0.5, 3, 0.1);
  }
  return players.sound();
}

}  // namespace sonde::separate
