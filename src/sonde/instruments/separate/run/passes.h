// SPDX-License-Identifier: Apache-2.0
// Private to the room: what is done with the network for each chunk, in which passes, and what of a signal must be
// known before.
#pragma once

#include <optional>
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

/// What is done to the samples of a chunk, and undone in its stems.
enum class Change {
  none,
  exchange,  ///< of channels: their order is reversed
  negate,
};

/// One pass over a file.
struct Pass {
  Index shift = 0;                            ///< it begins where shift_of() says
  std::optional<Index> part{};                ///< as in DemixSettings
  std::vector<Change> changes{Change::none};  ///< the mean of these is what counts
};

/// The passes that give the result of one file together. With `preview` or `quality` the first one has few chunks, and
/// each later one as different ones as possible, so that the mean so far gains most.
[[nodiscard]] std::vector<Pass> passes_of(const Config& config, const SeparationSettings& settings);
/// Calls of TimedNetwork that a pass over so many samples takes.
[[nodiscard]] Index calls_of(const Pass& pass, const DemixSettings& joining, Index samples);

/// The network as Demixer calls it: several times where several changes are asked for, each chunk timed. An interrupt
/// ends it before a chunk.
class TimedNetwork {
 public:
  TimedNetwork(const Config& config, bool tta, Network& network, ProgressMeter& meter);

  /// From here on.
  void change(const std::vector<Change>& changes) { changes_ = changes; }
  void operator()(View<const float, 2> samples, View<float, 3> stems);

  void reserve(Index chunks) { seconds_.reserve(static_cast<std::size_t>(chunks)); }
  void report(SeparationTimes& times) const;

 private:
  void run(Change change, View<const float, 2> samples, View<float, 3> stems);

  Network& network_;
  ProgressMeter& meter_;
  std::vector<Change> changes_{Change::none};
  std::vector<float> changed_, made_;
  std::vector<double> seconds_;
};

/// Where pass `pass` of `shifts` over a circle of `samples` begins.
[[nodiscard]] constexpr Index shift_of(Index samples, Index shifts, Index pass) { return samples / shifts * pass; }

}  // namespace sonde::separate
