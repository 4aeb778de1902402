// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/simulate/drum_sounds.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sonde/instruments/separate/simulate/exact.h"

namespace sonde::separate {
namespace {

/// A sound that parts are added to.
class Sound {
 public:
  Sound(double seconds, Index rate, Random random)
      : rate_(static_cast<double>(rate)),
        samples_(static_cast<std::size_t>(seconds * static_cast<double>(rate))),
        random_(random) {}

  /// A damped sine whose frequency falls from `from_hz` to `to_hz` with a time constant of its own.
  void add_sweep(double level, double from_hz, double to_hz, double fall_s, double decay_s) {
    const double fall = step(fall_s), decay = step(decay_s);
    double extra = from_hz - to_hz, turns = 0, loud = level;
    for (double& sample : samples_) {
      sample += loud * exact::sine(turns);
      turns += (to_hz + extra) / rate_;
      extra *= fall;
      loud *= decay;
    }
  }

  void add_mode(double level, double hz, double decay_s) { add_sweep(level, hz, hz, 1, decay_s); }

  /// Noise between two frequencies: `order` high-pass filters of the first order, and one low-pass.
  void add_noise(double level, double above_hz, double below_hz, int order, double decay_s) {
    const double decay = step(decay_s), high = step(1 / (two_pi * above_hz)), low = step(1 / (two_pi * below_hz));
    std::vector<double> in(static_cast<std::size_t>(order)), out(in.size());
    double loud = level, smooth = 0;
    for (double& sample : samples_) {
      double x = exact::noise(random_);
      for (std::size_t k = 0; k < in.size(); ++k) {
        const double y = high * (out[k] + x - in[k]);
        in[k] = x;
        out[k] = y;
        x = y;
      }
      smooth = low * smooth + (1 - low) * x;
      sample += loud * smooth;
      loud *= decay;
    }
  }

  /// The partials of a plate, evenly spread with random places, those above `from_hz` damped faster and faster.
  void add_plate(double level, double from_hz, double to_hz, int partials, double decay_s) {
    for (int k = 0; k < partials; ++k) {
      const double place = (static_cast<double>(k) + random_.uniform()) / static_cast<double>(partials);
      const double hz = from_hz + (to_hz - from_hz) * place;
      add_mode(level / std::sqrt(static_cast<double>(partials)), hz, decay_s * (1.2 - 0.7 * place));
    }
  }

  [[nodiscard]] double vary(double value, double part) { return value * (1 + part * (2 * random_.uniform() - 1)); }

  /// With a short attack, and silent at its end.
  [[nodiscard]] std::vector<double> finished(double gain) {
    constexpr std::size_t attack = 16, release = 512;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      const double in = std::min(1.0, static_cast<double>(i + 1) / attack);
      const double out = std::min(1.0, static_cast<double>(samples_.size() - i) / release);
      samples_[i] *= gain * in * out;
    }
    return std::move(samples_);
  }

 private:
  static constexpr double two_pi = 6.283185307179586;
  /// What is left after a sample.
  [[nodiscard]] double step(double decay_s) const { return exact::exponential(-1 / (decay_s * rate_)); }

  double rate_;
  std::vector<double> samples_;
  Random random_;
};

std::vector<double> kick(double strength, Index rate, Random random) {
  Sound sound(0.6, rate, random);
  const double low = sound.vary(55, 0.02);
  sound.add_sweep(1, low + 130 * (0.8 + 0.2 * strength), low, 0.03, 0.17);
  sound.add_noise(0.35 * strength, 500, 4000, 1, 0.005);  // the beater
  return sound.finished(0.5 * strength);
}

std::vector<double> snare(double strength, Index rate, Random random, bool stick) {
  Sound sound(stick ? 0.12 : 0.45, rate, random);
  if (stick) {
    sound.add_mode(0.7, sound.vary(1700, 0.03), 0.012);
    sound.add_mode(0.4, sound.vary(520, 0.03), 0.02);
  } else {
    const double hz = sound.vary(183, 0.02);
    sound.add_sweep(0.4, 1.15 * hz, hz, 0.02, 0.07);
    sound.add_mode(0.2, 1.59 * hz, 0.05);  // the next mode of a circular membrane (Fletcher and Rossing 1998)
    sound.add_noise(0.65 * (0.7 + 0.3 * strength), 3500, 20000, 2, 0.085);  // the wires
  }
  return sound.finished(0.42 * strength);
}

std::vector<double> clap(double strength, Index rate, Random random) {
  Sound sound(0.2, rate, random);
  sound.add_noise(0.6, 900, 6000, 2, 0.05);
  return sound.finished(0.5 * strength);
}

std::vector<double> tom(double hz, double strength, Index rate, Random random) {
  Sound sound(0.7, rate, random);
  const double low = sound.vary(hz, 0.02);
  sound.add_sweep(0.8, 1.35 * low, low, 0.06, 0.2);
  sound.add_sweep(0.25, 1.35 * 1.59 * low, 1.59 * low, 0.06, 0.1);
  sound.add_noise(0.12 * strength, 800, 6000, 1, 0.01);
  return sound.finished(0.4 * strength);
}

std::vector<double> hihat(double decay_s, double strength, Index rate, Random random) {
  Sound sound(8 * decay_s, rate, random);
  sound.add_plate(0.1, 8000, 18000, 24, decay_s);
  sound.add_noise(1.1 * (0.8 + 0.2 * strength), 12000, 22000, 4, decay_s);
  return sound.finished(strength);
}

std::vector<double> cymbal(Hit hit, double strength, Index rate, Random random) {
  const bool ride = hit == Hit::ride;
  Sound sound(ride ? 1.2 : 2.2, rate, random);
  sound.add_plate(ride ? 0.12 : 0.16, hit == Hit::china ? 600 : 1200, 14000, 60, ride ? 0.35 : 0.5);
  if (ride) sound.add_mode(0.2, sound.vary(3200, 0.05), 0.12);  // the stick on the bow
  sound.add_noise(ride ? 0.12 : 0.35, 4000, 20000, 2, ride ? 0.2 : 0.45);
  return sound.finished(0.25 * strength);
}

}  // namespace

std::vector<double> drum_sound(Hit hit, double strength, Random random, Index rate) {
  switch (hit) {
    case Hit::kick:
      return kick(strength, rate, random);
    case Hit::snare:
      return snare(strength, rate, random, false);
    case Hit::side_stick:
      return snare(strength, rate, random, true);
    case Hit::clap:
      return clap(strength, rate, random);
    case Hit::tom_low:
      return tom(90, strength, rate, random);
    case Hit::tom_mid:
      return tom(125, strength, rate, random);
    case Hit::tom_high:
      return tom(170, strength, rate, random);
    case Hit::hihat_closed:
      return hihat(0.025, strength, rate, random);
    case Hit::hihat_open:
      return hihat(0.16, strength, rate, random);
    case Hit::hihat_pedal:
      return hihat(0.018, 0.6 * strength, rate, random);
    case Hit::crash:
    case Hit::ride:
    case Hit::china:
      return cymbal(hit, strength, rate, random);
  }
  return {};
}

}  // namespace sonde::separate
