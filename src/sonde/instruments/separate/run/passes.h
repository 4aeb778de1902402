// SPDX-License-Identifier: Apache-2.0
// Private to the room: what is done with the network for each chunk, and what of a signal must be known before.
#pragma once

#include <vector>

#include "sonde/engine/report/progress.h"
#include "sonde/instruments/separate/run/separation.h"

namespace sonde::separate {

/// Samples that are decoded and separated together.
constexpr Index samples_at_once = 65536;

/// Mean and deviation of the mean of all channels over a signal that comes in pieces, by the update of Chan, Golub and
/// LeVeque (1983).
class MonoSpread {
 public:
  void add(View<const float, 2> samples);
  [[nodiscard]] double mean() const;
  /// 1 for silence, which is separated as it is.
  [[nodiscard]] double deviation() const;

 private:
  double count_ = 0, mean_ = 0, squares_ = 0;
  std::vector<double> mono_;
};

/// The network as Demixer calls it: several passes where they are asked for, each chunk timed. An interrupt ends it
/// before a chunk.
class TimedNetwork {
 public:
  TimedNetwork(const Config& config, bool tta, Network& network, ProgressMeter& meter);

  void operator()(View<const float, 2> samples, View<float, 3> stems);

  void reserve(Index chunks) { seconds_.reserve(static_cast<std::size_t>(chunks)); }
  void report(SeparationTimes& times) const;

 private:
  void add_others(View<const float, 2> samples, View<float, 3> stems);

  Network& network_;
  ProgressMeter& meter_;
  bool tta_;
  std::vector<float> changed_, made_;
  std::vector<double> seconds_;
};

/// Where pass `pass` of `shifts` over a circle of `samples` begins.
[[nodiscard]] constexpr Index shift_of(Index samples, Index shifts, Index pass) { return samples / shifts * pass; }

}  // namespace sonde::separate
