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

/// [receiver][step].
struct Traces {
  Index receivers, steps;
  std::vector<double> values;

  Traces(Index receiver_count, Index step_count, double value = 0)
      : receivers(receiver_count),
        steps(step_count),
        values(static_cast<std::size_t>(receiver_count * step_count), value) {}
  [[nodiscard]] View<double, 2> view() { return {values.data(), receivers, steps}; }
  [[nodiscard]] View<const double, 2> view() const { return {values.data(), receivers, steps}; }
  [[nodiscard]] std::span<double> row(Index r) {
    return std::span(values).subspan(static_cast<std::size_t>(r * steps), static_cast<std::size_t>(steps));
  }
  [[nodiscard]] std::span<const double> row(Index r) const {
    return std::span(values).subspan(static_cast<std::size_t>(r * steps), static_cast<std::size_t>(steps));
  }
};

/// The other order of the same samples.
Traces traces_of(const Gather& gather) {
  Traces traces(gather.receivers, gather.steps);
  const View<const double, 2> from = gather.traces();
  for (Index r = 0; r < gather.receivers; ++r)
    for (Index n = 0; n < gather.steps; ++n) traces.view()(r, n) = from(r, n);
  return traces;
}

Traces weights_of(const std::vector<double>& weights, const Gather& gather) {
  if (weights.empty()) return {gather.receivers, gather.steps, 1.0};
  Gather as_gather(gather.steps, gather.receivers);
  as_gather.samples = weights;
  return traces_of(as_gather);
}

double product(std::span<const double> w, std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < w.size(); ++i) sum += w[i] * a[i] * b[i];
  return sum;
}

/// Divides traces by their norms, which are returned; those without signal stay.
std::vector<double> normalise(Traces& traces, const Traces& weights) {
  std::vector<double> norms;
  for (Index r = 0; r < traces.receivers; ++r) {
    norms.push_back(std::sqrt(product(weights.row(r), traces.row(r), traces.row(r))));
    if (norms.back() > 0)
      for (double& each : traces.row(r)) each /= norms.back();
  }
  return norms;
}

/// From the derivative by normalised traces u = d / |d| to that by d: (g - w u <u, g>) / |d|, with the plain product
/// <u, g>. Traces that could not be normalised have none.
void chain_norm(const Traces& normalised, const Traces& weights, const std::vector<double>& norms, Traces& residual) {
  for (Index r = 0; r < residual.receivers; ++r) {
    const std::span<const double> u = normalised.row(r), w = weights.row(r);
    const std::span<double> g = residual.row(r);
    const double norm = norms[static_cast<std::size_t>(r)];
    double along = 0;
    for (std::size_t i = 0; i < g.size(); ++i) along += u[i] * g[i];
    for (std::size_t i = 0; i < g.size(); ++i) g[i] = norm > 0 ? (g[i] - w[i] * u[i] * along) / norm : 0;
  }
}

double compare(const Traces& computed, const Traces& measured, const Traces& weights, Traces& residual) {
  double sum = 0;
  for (std::size_t i = 0; i < computed.values.size(); ++i) {
    const double difference = computed.values[i] - measured.values[i];
    residual.values[i] = weights.values[i] * difference;
    sum += residual.values[i] * difference;
  }
  return sum / 2;
}

/// With |d|: 1 - <u, v> of normalised traces, from the norms that divided them. The derivative is by u; chain_norm()
/// does the rest.
double correlate(const Traces& computed, const Traces& measured, const Traces& weights, Traces& residual) {
  double sum = 0;
  for (Index r = 0; r < computed.receivers; ++r) {
    const std::span<const double> v = measured.row(r), w = weights.row(r);
    if (product(w, v, v) == 0) continue;
    sum += 1 - product(w, computed.row(r), v);
    for (std::size_t i = 0; i < v.size(); ++i) residual.row(r)[i] = -w[i] * v[i];
  }
  return sum;
}

struct Envelope {
  Traces quadrature, value;
};

Envelope envelope(const Traces& of, const TraceFilter& hilbert, const std::vector<double>& guards) {
  Envelope made{of, of};
  hilbert.apply(of.view(), made.quadrature.view());
  for (Index r = 0; r < of.receivers; ++r)
    for (Index n = 0; n < of.steps; ++n)
      made.value.view()(r, n) =
          std::hypot(of.view()(r, n), made.quadrature.view()(r, n), guards[static_cast<std::size_t>(r)]);
  return made;
}

double compare_envelopes(const Traces& computed, const Traces& measured, const Traces& weights,
                         const TraceFilter& hilbert, Traces& residual) {
  std::vector<double> guards(static_cast<std::size_t>(measured.receivers));
  const Envelope bare = envelope(measured, hilbert, guards);
  for (Index r = 0; r < measured.receivers; ++r)
    guards[static_cast<std::size_t>(r)] = 1e-6 * std::ranges::max(bare.value.row(r));
  const Envelope there = envelope(computed, hilbert, guards), wanted = envelope(measured, hilbert, guards);
  Traces by_envelope = computed, by_quadrature = computed;
  const double sum = compare(there.value, wanted.value, weights, by_envelope);
  for (std::size_t i = 0; i < residual.values.size(); ++i) {
    const double e = there.value.values[i];
    const double share = e > 0 ? by_envelope.values[i] / e : 0;
    residual.values[i] = share * computed.values[i];
    by_quadrature.values[i] = share * there.quadrature.values[i];
  }
  hilbert.apply_transpose(by_quadrature.view(), by_quadrature.view());
  for (std::size_t i = 0; i < residual.values.size(); ++i) residual.values[i] += by_quadrature.values[i];
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
  Traces d = traces_of(computed), wanted = traces_of(measured), residual(d.receivers, d.steps);
  const Traces w = weights_of(weights, measured);
  RecordMisfit made;
  made.squares = 2 * compare(d, wanted, w, residual);
  const bool by_norm = settings_.normalise_traces || settings_.kind == MisfitKind::correlation;
  std::vector<double> norms;
  if (by_norm) {
    norms = normalise(d, w);
    const std::vector<double> measured_norms = normalise(wanted, w);
    for (Index r = 0; r < d.receivers; ++r)
      if (measured_norms[static_cast<std::size_t>(r)] == 0) std::ranges::fill(d.row(r), 0);
    std::ranges::fill(residual.values, 0);
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
  Gather adjoint(computed.steps, computed.receivers);
  for (Index r = 0; r < d.receivers; ++r)
    for (Index n = 0; n < d.steps; ++n) adjoint.traces()(r, n) = residual.view()(r, n);
  made.residual = std::move(adjoint.samples);
  return made;
}

}  // namespace sonde::maxwell
