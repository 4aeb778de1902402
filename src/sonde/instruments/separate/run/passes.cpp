// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/passes.h"

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/report/spread.h"

namespace sonde::separate {

void MonoSpread::add(View<const float, 2> samples) {
  const Index channels = samples.extent[0], length = samples.extent[1];
  if (length == 0) return;
  mono_.assign(static_cast<std::size_t>(length), 0.0);
  for (Index c = 0; c < channels; ++c) {
    for (Index i = 0; i < length; ++i) {
      mono_[static_cast<std::size_t>(i)] += static_cast<double>(samples(c, i)) / static_cast<double>(channels);
    }
  }
  double sum = 0, about_mean = 0;
  for (const double x : mono_) sum += x;
  const double more = static_cast<double>(length), here = sum / more;
  for (const double x : mono_) about_mean += (x - here) * (x - here);
  squares_ += about_mean + (here - mean_) * (here - mean_) * count_ * more / (count_ + more);
  mean_ += (here - mean_) * more / (count_ + more);
  count_ += more;
}

double MonoSpread::deviation() const {
  const double found = std::sqrt(squares_ / std::max(1.0, count_));
  return found > 0 ? found : 1;
}

double MonoSpread::mean() const { return squares_ > 0 ? mean_ : 0; }

TimedNetwork::TimedNetwork(const Config& config, bool tta, Network& network, ProgressMeter& meter)
    : network_(network), meter_(meter), tta_(tta) {
  if (!tta_) return;
  changed_.resize(static_cast<std::size_t>(config.audio_channels * config.chunk));
  made_.resize(changed_.size() * config.stems().size());
}

void TimedNetwork::operator()(View<const float, 2> samples, View<float, 3> stems) {
  check_interrupt();  // here, so that the chunk before is finished
  const Stopwatch watch;
  network_.run(samples, stems);
  if (tta_) add_others(samples, stems);
  seconds_.push_back(watch.seconds());
  meter_.advance();
}

void TimedNetwork::report(SeparationTimes& times) const {
  if (seconds_.empty()) return;
  times.first_chunk = seconds_.front();
  for (const double each : seconds_) times.network += each;
  times.chunk_median = median(seconds_);
  times.slow_chunks =
      std::count_if(seconds_.begin(), seconds_.end(), [&](double each) { return each > 2 * times.chunk_median; });
}

void TimedNetwork::add_others(View<const float, 2> samples, View<float, 3> stems) {
  const Index channels = samples.extent[0], chunk = samples.extent[1];
  const View<float, 2> changed(changed_.data(), channels, chunk);
  const View<float, 3> made(made_.data(), stems.extent[0], channels, chunk);
  Index passes = 1;
  for (const bool negated : {false, true}) {
    if (!negated && channels == 1) continue;  // there is no other order
    ++passes;
    for (Index c = 0; c < channels; ++c) {
      for (Index i = 0; i < chunk; ++i) {
        changed(c, i) = negated ? -samples(c, i) : samples(channels - 1 - c, i);
      }
    }
    network_.run(changed, made);
    for (Index s = 0; s < stems.extent[0]; ++s) {
      for (Index c = 0; c < channels; ++c) {
        for (Index i = 0; i < chunk; ++i) {
          stems(s, c, i) += negated ? -made(s, c, i) : made(s, channels - 1 - c, i);
        }
      }
    }
  }
  for (Index i = 0; i < stems.count(); ++i) stems.data[i] /= static_cast<float>(passes);
}

}  // namespace sonde::separate
