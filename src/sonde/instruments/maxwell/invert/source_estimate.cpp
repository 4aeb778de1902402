// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/source_estimate.h"

#include <algorithm>
#include <utility>

namespace sonde::maxwell {
namespace {

Gather without_muted(Gather gather, const std::vector<double>& weights) {
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (weights[i] == 0) gather.samples[i] = 0;
  return gather;
}

}  // namespace

SourceEstimate::SourceEstimate(Index samples) : samples_(samples) {
  const TraceSpectrum spectrum(samples);
  cross_.resize(static_cast<std::size_t>(spectrum.frequencies()));
  power_.resize(cross_.size());
}

void SourceEstimate::add(const Gather& computed, const Gather& measured, const std::vector<double>& weights) {
  const TraceSpectrum transform(samples_);
  TraceSpectrum::Scratch d = transform.scratch(), wanted = transform.scratch();
  const Gather from = without_muted(computed, weights), to = without_muted(measured, weights);
  for (Index r = 0; r < from.receivers; ++r) {
    transform.forward(from.traces()[r], d);
    transform.forward(to.traces()[r], wanted);
    for (std::size_t k = 0; k < cross_.size(); ++k) {
      cross_[k] += std::conj(d.spectrum[k]) * wanted.spectrum[k];
      power_[k] += std::norm(d.spectrum[k]);
    }
  }
}

TraceFilter SourceEstimate::correction(double damping) const {
  const double lambda = damping * std::ranges::max(power_);
  std::vector<TraceFilter::Complex> response(cross_.size(), 1.0);
  for (std::size_t k = 0; k < response.size() && lambda > 0; ++k)
    response[k] = (cross_[k] + lambda) / (power_[k] + lambda);
  return {TraceSpectrum(samples_), std::move(response)};
}

}  // namespace sonde::maxwell
