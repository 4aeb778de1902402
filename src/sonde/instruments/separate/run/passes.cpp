// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/passes.h"

#include <algorithm>
#include <cmath>
#include <utility>

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

namespace {

std::vector<Change> changes_of(const Config& config, bool tta) {
  if (!tta) return {Change::none};
  if (config.audio_channels == 1) return {Change::none, Change::negate};  // there is no other order
  return {Change::none, Change::exchange, Change::negate};
}

/// 0 to overlap - 1, each far from those before it: the digits of 0, 1, 2, ... in base two read backwards.
std::vector<Index> spread_parts(Index overlap) {
  std::vector<Index> parts{0};
  for (Index half = 1; half < overlap; half *= 2) {
    const std::size_t there = parts.size();
    for (Index& each : parts) each *= 2;
    for (std::size_t i = 0; i < there; ++i) parts.push_back(parts[i] + 1);
  }
  std::erase_if(parts, [overlap](Index part) { return part >= overlap; });
  return parts;
}

}  // namespace

std::vector<Pass> passes_of(const Config& config, const SeparationSettings& settings) {
  const std::vector<Change> changes = changes_of(config, settings.tta);
  std::vector<Pass> passes;
  if (settings.in_parts()) {
    for (const Change change : changes) {
      for (const Index part : spread_parts(settings.overlap)) passes.push_back({.part = part, .changes = {change}});
    }
  } else {
    passes.push_back({.changes = changes});
  }
  for (Index shift = 1; shift < settings.shifts; ++shift) passes.push_back({.shift = shift, .changes = changes});
  return passes;
}

Index calls_of(const Pass& pass, const DemixSettings& joining, Index samples) {
  DemixSettings of_pass = joining;
  of_pass.part = pass.part;
  return chunk_count(of_pass, samples);
}

TimedNetwork::TimedNetwork(const Config& config, bool tta, Network& network, ProgressMeter& meter)
    : network_(network), meter_(meter) {
  if (!tta) return;
  changed_.resize(static_cast<std::size_t>(config.audio_channels * config.chunk));
  made_.resize(changed_.size() * config.stems().size());
}

void TimedNetwork::operator()(View<const float, 2> samples, View<float, 3> stems) {
  check_interrupt();  // here, so that the chunk before is finished
  const Stopwatch watch;
  run(changes_.front(), samples, stems);
  const View<float, 3> made(made_.data(), stems.extent[0], stems.extent[1], stems.extent[2]);
  for (std::size_t i = 1; i < changes_.size(); ++i) {
    run(changes_[i], samples, made);
    for (Index k = 0; k < stems.count(); ++k) stems.data[k] += made.data[k];
  }
  if (changes_.size() > 1) {
    for (Index k = 0; k < stems.count(); ++k) stems.data[k] /= static_cast<float>(changes_.size());
  }
  seconds_.push_back(watch.seconds());
  meter_.advance();
}

void TimedNetwork::run(Change change, View<const float, 2> samples, View<float, 3> stems) {
  if (change == Change::none) return network_.run(samples, stems);
  const Index channels = samples.extent[0], chunk = samples.extent[1];
  const View<float, 2> changed(changed_.data(), channels, chunk);
  for (Index c = 0; c < channels; ++c) {
    for (Index i = 0; i < chunk; ++i) {
      changed(c, i) = change == Change::negate ? -samples(c, i) : samples(channels - 1 - c, i);
    }
  }
  network_.run(changed, stems);
  if (change == Change::negate) {
    for (Index k = 0; k < stems.count(); ++k) stems.data[k] = -stems.data[k];
    return;
  }
  for (Index s = 0; s < stems.extent[0]; ++s) {
    for (Index c = 0; c < channels / 2; ++c) {
      for (Index i = 0; i < chunk; ++i) std::swap(stems(s, c, i), stems(s, channels - 1 - c, i));
    }
  }
}

void TimedNetwork::report(SeparationTimes& times) const {
  if (seconds_.empty()) return;
  times.first_chunk = seconds_.front();
  for (const double each : seconds_) times.network += each;
  times.chunk_median = median(seconds_);
  times.slow_chunks =
      std::count_if(seconds_.begin(), seconds_.end(), [&](double each) { return each > 2 * times.chunk_median; });
}

}  // namespace sonde::separate
