// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"

// Random numbers on philox() of philox.h: nothing here keeps more than a place in a stream. Two uses that must be
// independent take two streams of one seed; one stream gives draw_poisson, draw_normal and Random the same bits.

namespace sonde {

/// Random numbers of which element i of stream `stream` is always the same, whatever else is drawn: a detector's pixel
/// i in frame `stream`.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
};

/// values[i] is drawn only from element i of the stream: uniform between 0 and 1, both excluded, or normal with mean 0
/// and variance 1 (Box and Muller 1958; |value| <= 8.6, which 2^-53 of all exceed).
void draw_uniform(RandomStream random, std::span<double> values);
void draw_normal(RandomStream random, std::span<double> values);

/// A stream used from its beginning, one number after the other, for choices that follow each other: orders of
/// positions, starts, trials. The same numbers on every processor, but for the rounding of the mathematical library in
/// normal(). Its state is three integers, for checkpoints.
class Random {
 public:
  struct State {
    std::uint64_t seed = 0, stream = 0;
    std::uint64_t drawn = 0;  ///< numbers of 64 bits taken so far
    friend bool operator==(const State&, const State&) = default;
  };

  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : state_{seed, stream, 0} {}
  explicit Random(const State& state) : state_(state) {}
  [[nodiscard]] const State& state() const { return state_; }

  /// 64 random bits.
  std::uint64_t bits();
  /// Between 0 and 1, both excluded.
  double uniform();
  /// Mean 0, variance 1.
  double normal();
  /// One of 0 ... count - 1, all equally likely. `count` >= 1.
  Index below(Index count);
  /// 0 ... count - 1 in an order of which all are equally likely (Fisher and Yates).
  std::vector<Index> permutation(Index count);

 private:
  State state_;
};

}  // namespace sonde
