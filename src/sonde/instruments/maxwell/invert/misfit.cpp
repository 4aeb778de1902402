// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/misfit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "sonde/engine/base/error.h"

namespace sonde::maxwell {
namespace {

double product(std::span<const double> w, std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < w.size(); ++i) sum += w[i] * a[i] * b[i];
  return sum;
}

/// Divides traces by their norms, which are returned; those without signal stay.
std::vector<double> normalise(Gather& traces, const Gather& weights) {
  std::vector<double> norms;
  for (Index r = 0; r < traces.receivers; ++r) {
    norms.push_back(std::sqrt(product(weights.trace(r), traces.trace(r), traces.trace(r))));
    if (norms.back() > 0)
      for (double& each : traces.trace(r)) each /= norms.back();
  }
  return norms;
}

/// From the derivative by normalised traces u = d / |d| to that by d: (g - w u <u, g>) / |d|, with the plain product
/// <u, g>. Traces that could not be normalised have none.
void chain_norm(const Gather& normalised, const Gather& weights, const std::vector<double>& norms, Gather& residual) {
  for (Index r = 0; r < residual.receivers; ++r) {
    const std::span<const double> u = normalised.trace(r), w = weights.trace(r);
    const std::span<double> g = residual.trace(r);
    const double norm = norms[static_cast<std::size_t>(r)];
    double along = 0;
    for (std::size_t i = 0; i < g.size(); ++i) along += u[i] * g[i];
    for (std::size_t i = 0; i < g.size(); ++i) g[i] = norm > 0 ? (g[i] - w[i] * u[i] * along) / norm : 0;
  }
}

double compare(const Gather& computed, const Gather& measured, const Gather& weights, Gather& residual) {
  double sum = 0;
  for (std::size_t i = 0; i < computed.samples.size(); ++i) {
    const double difference = computed.samples[i] - measured.samples[i];
    residual.samples[i] = weights.samples[i] * difference;
    sum += residual.samples[i] * difference;
  }
  return sum / 2;
}

/// 1 - <u, v> of traces that are divided by their norms. The derivative is by u; chain_norm()
/// does the rest.
double correlate(const Gather& computed, const Gather& measured, const Gather& weights, Gather& residual) {
  double sum = 0;
  for (Index r = 0; r < computed.receivers; ++r) {
    const std::span<const double> v = measured.trace(r), w = weights.trace(r);
    if (product(w, v, v) == 0) continue;
    sum += 1 - product(w, computed.trace(r), v);
    for (std::size_t i = 0; i < v.size(); ++i) residual.trace(r)[i] = -w[i] * v[i];
  }
  return sum;
}

struct Envelope {
  Gather quadrature, value;
};

Envelope envelope(const Gather& of, const TraceFilter& hilbert, const std::vector<double>& guards) {
  Envelope made{of, of};
  hilbert.apply(of.traces(), made.quadrature.traces());
  for (Index r = 0; r < of.receivers; ++r)
    for (Index n = 0; n < of.steps; ++n)
      made.value.traces()(r, n) =
          std::hypot(of.traces()(r, n), made.quadrature.traces()(r, n), guards[static_cast<std::size_t>(r)]);
  return made;
}

double compare_envelopes(const Gather& computed, const Gather& measured, const Gather& weights,
                         const TraceFilter& hilbert, Gather& residual) {
  std::vector<double> guards(static_cast<std::size_t>(measured.receivers));
  const Envelope bare = envelope(measured, hilbert, guards);
  for (Index r = 0; r < measured.receivers; ++r)
    guards[static_cast<std::size_t>(r)] = 1e-6 * std::ranges::max(bare.value.trace(r));
  const Envelope there = envelope(computed, hilbert, guards), wanted = envelope(measured, hilbert, guards);
  Gather by_envelope = computed, by_quadrature = computed;
  const double sum = compare(there.value, wanted.value, weights, by_envelope);
  for (std::size_t i = 0; i < residual.samples.size(); ++i) {
    const double e = there.value.samples[i];
    const double share = e > 0 ? by_envelope.samples[i] / e : 0;
    residual.samples[i] = share * computed.samples[i];
    by_quadrature.samples[i] = share * there.quadrature.samples[i];
  }
  hilbert.apply_transpose(by_quadrature.traces(), by_quadrature.traces());
  for (std::size_t i = 0; i < residual.samples.size(); ++i) residual.samples[i] += by_quadrature.samples[i];
  return sum;
}

TraceFilter hilbert_transform(Index steps) {
  TraceSpectrum spectrum(steps);
  std::vector<TraceFilter::Complex> response(static_cast<std::size_t>(spectrum.frequencies()), {0, -1});
  response.front() = 0;
  if (spectrum.padded() % 2 == 0) response.back() = 0;
  return {std::move(spectrum), std::move(response)};
}

void require_alike(const Gather& computed, const Gather& measured, const std::vector<double>& weights) {
  if (computed.steps != measured.steps || computed.receivers != measured.receivers)
    throw Error(ErrorKind::bad_input,
                fmt::format("measured records: {} samples of {} receivers; the run has {} of {}", measured.steps,
                            measured.receivers, computed.steps, computed.receivers));
  if (!weights.empty() && weights.size() != measured.samples.size())
    throw Error(ErrorKind::bad_input, fmt::format("weights: {} numbers for {} samples of measured records",
                                                  weights.size(), measured.samples.size()));
}

}  // namespace

Misfit::Misfit(const MisfitSettings& settings, Index steps) : settings_(settings), hilbert_(hilbert_transform(steps)) {}

RecordMisfit Misfit::operator()(const Gather& computed, const Gather& measured,
                                const std::vector<double>& weights) const {
  require_alike(computed, measured, weights);
  Gather d = computed, wanted = measured, residual(computed.steps, computed.receivers), w = residual;
  if (weights.empty())
    std::ranges::fill(w.samples, 1.0);
  else
    w.samples = weights;
  RecordMisfit made;
  made.squares = 2 * compare(d, wanted, w, residual);
  const bool by_norm = settings_.normalise_traces || settings_.kind == MisfitKind::correlation;
  std::vector<double> norms;
  if (by_norm) {
    norms = normalise(d, w);
    const std::vector<double> measured_norms = normalise(wanted, w);
    for (Index r = 0; r < d.receivers; ++r)
      if (measured_norms[static_cast<std::size_t>(r)] == 0) std::ranges::fill(d.trace(r), 0);
    std::ranges::fill(residual.samples, 0);
  }
  switch (settings_.kind) {
    case MisfitKind::l2:
      made.value = compare(d, wanted, w, residual);
      break;
    case MisfitKind::envelope:
      made.value = compare_envelopes(d, wanted, w, hilbert_, residual);
      break;
    case MisfitKind::correlation:
      made.value = correlate(d, wanted, w, residual);
      break;
  }
  if (by_norm) chain_norm(d, w, norms, residual);
  made.residual = std::move(residual.samples);
  return made;
}

}  // namespace sonde::maxwell
