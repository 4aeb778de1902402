// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/signal/time_dispersion.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/maxwell/signal/time_dispersion_kernels.h"

namespace sonde::maxwell {
namespace {

using cpu::block_series;
using cpu::chunk_samples;

/// out_n = sum over j of weight_j Re(exp(i to_j (n + offset)) sum over m of in_m exp(-i from_j (m + offset))), with
/// frequencies in radians per sample. Its transpose has `from` and `to` exchanged: the cosine is even.
struct FrequencyMap {
  std::vector<double> from, to, weight;
};

FrequencyMap transposed(FrequencyMap map) {
  std::swap(map.from, map.to);
  return map;
}

/// To the frequencies pi j / samples below `end`, which are those of a transform of twice the samples.
template <class Source>
FrequencyMap map_of(Index samples, double end, Source source) {
  FrequencyMap map;
  for (Index j = 0; j <= samples; ++j) {
    const double to = std::numbers::pi * static_cast<double>(j) / static_cast<double>(samples);
    if (to >= end) break;
    map.from.push_back(source(to));
    map.to.push_back(to);
    // Those between 0 and the Nyquist frequency stand for their negative too.
    map.weight.push_back((j == 0 || j == samples ? 0.5 : 1) / static_cast<double>(samples));
  }
  return map;
}

FrequencyMap source_map(Index samples) {
  return map_of(samples, std::numeric_limits<double>::infinity(), [](double to) { return 2 * std::sin(to / 2); });
}

FrequencyMap record_map(Index samples) {
  return map_of(samples, 2, [](double to) { return 2 * std::asin(to / 2); });
}

/// Up to block_series series, [sample][series], the others 0.
using SeriesBlock = std::vector<double>;

struct Spectra {
  std::vector<double> real, imaginary;  // [frequency][series]
};

struct Phases {
  std::array<double, static_cast<std::size_t>(chunk_samples)> cosine, sine;
};

/// Calls body(count, cosine, sine) with the phases of the samples from `first` to the end of the chunk or the series.
template <class Body>
void with_phases(double frequency, double offset, Index first, Index samples, Body body) {
  Phases phases;
  cpu::phases(frequency, static_cast<double>(first) + offset, phases.cosine.data(), phases.sine.data());
  body(std::min(chunk_samples, samples - first), phases.cosine.data(), phases.sine.data());
}

Spectra analysed(const FrequencyMap& map, double offset, const SeriesBlock& series, Index samples) {
  const auto frequencies = static_cast<Index>(map.from.size());
  Spectra spectra{std::vector<double>(static_cast<std::size_t>(frequencies * block_series)),
                  std::vector<double>(static_cast<std::size_t>(frequencies * block_series))};
  parallel_for(frequencies, 8, [&](Index begin, Index end, Worker&) {
    for (Index j = begin; j < end; ++j) {
      double* real = spectra.real.data() + j * block_series;
      double* imaginary = spectra.imaginary.data() + j * block_series;
      for (Index first = 0; first < samples; first += chunk_samples)
        with_phases(map.from[static_cast<std::size_t>(j)], offset, first, samples,
                    [&](Index count, const double* cosine, const double* sine) {
                      cpu::analyse(count, cosine, sine, series.data() + first * block_series, real, imaginary);
                    });
      for (Index b = 0; b < block_series; ++b) {
        real[b] *= map.weight[static_cast<std::size_t>(j)];
        imaginary[b] *= map.weight[static_cast<std::size_t>(j)];
      }
    }
  });
  return spectra;
}

void synthesise(const FrequencyMap& map, double offset, const Spectra& spectra, SeriesBlock& series, Index samples) {
  std::ranges::fill(series, 0);
  const Index chunks = (samples + chunk_samples - 1) / chunk_samples;
  parallel_for(chunks, 1, [&](Index begin, Index end, Worker&) {
    for (Index first = begin * chunk_samples; first < std::min(end * chunk_samples, samples); first += chunk_samples)
      for (std::size_t j = 0; j < map.to.size(); ++j)
        with_phases(map.to[j], offset, first, samples, [&](Index count, const double* cosine, const double* sine) {
          const auto at = static_cast<Index>(j) * block_series;
          cpu::synthesise(count, cosine, sine, spectra.real.data() + at, spectra.imaginary.data() + at,
                          series.data() + first * block_series);
        });
  });
}

void apply(const FrequencyMap& map, double offset, View<const double, 2> in, View<double, 2> out) {
  assert(in.extent[0] == out.extent[0] && in.extent[1] == out.extent[1]);
  const Index samples = in.extent[1];
  SeriesBlock block(static_cast<std::size_t>(samples * block_series));
  for (Index first = 0; first < in.extent[0]; first += block_series) {
    const Index count = std::min(block_series, in.extent[0] - first);
    for (Index n = 0; n < samples; ++n)
      for (Index b = 0; b < block_series; ++b)
        block[static_cast<std::size_t>(n * block_series + b)] = b < count ? in(first + b, n) : 0;
    synthesise(map, offset, analysed(map, offset, block, samples), block, samples);
    for (Index n = 0; n < samples; ++n)
      for (Index b = 0; b < count; ++b) out(first + b, n) = block[static_cast<std::size_t>(n * block_series + b)];
  }
}

}  // namespace

void disperse_source(double offset, View<const double, 2> in, View<double, 2> out) {
  apply(source_map(in.extent[1]), offset, in, out);
}

void disperse_source_transpose(double offset, View<const double, 2> in, View<double, 2> out) {
  apply(transposed(source_map(in.extent[1])), offset, in, out);
}

void correct_record(double offset, View<const double, 2> in, View<double, 2> out) {
  apply(record_map(in.extent[1]), offset, in, out);
}

void correct_record_transpose(double offset, View<const double, 2> in, View<double, 2> out) {
  apply(transposed(record_map(in.extent[1])), offset, in, out);
}

}  // namespace sonde::maxwell
