// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/boozer/harmonic_sums.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sonde::neoclassical {

using Matrix = dense::Matrix<double>;

void Waves::set(std::span<const double> angles, int step) {
  for (std::size_t p = 0; p < angles.size(); ++p) {
    cosine_[p] = 1;
    sine_[p] = 0;
  }
  if (modes_ < 2) return;
  const auto width = static_cast<std::size_t>(points_);
  for (std::size_t p = 0; p < angles.size(); ++p) {
    cosine_[width + p] = std::cos(step * angles[p]);
    sine_[width + p] = std::sin(step * angles[p]);
  }
  const double *c1 = &cosine_[width], *s1 = &sine_[width];
  for (int m = 2; m < modes_; ++m) {
    const std::size_t now = static_cast<std::size_t>(m) * width, before = now - width;
    for (std::size_t p = 0; p < angles.size(); ++p) {
      cosine_[now + p] = cosine_[before + p] * c1[p] - sine_[before + p] * s1[p];
      sine_[now + p] = sine_[before + p] * c1[p] + cosine_[before + p] * s1[p];
    }
  }
}

HarmonicSums::HarmonicSums(int periods, bool asymmetric, BoozerResolution resolution)
    : periods_(periods),
      asymmetric_(asymmetric),
      mboz_(resolution.mboz),
      nboz_(resolution.nboz),
      m_waves_(mboz_, block),
      n_waves_(nboz_ + 1, block),
      products_(static_cast<std::size_t>(columns() * block)),
      with_cosine_(static_cast<std::size_t>(mboz_ * columns())),
      with_sine_(with_cosine_.size()),
      partial_(static_cast<std::size_t>(mboz_ * block)) {}

std::vector<Mode> HarmonicSums::modes(BoozerResolution resolution) {
  std::vector<Mode> modes;
  for (int m = 0; m < resolution.mboz; ++m)
    for (int n = m == 0 ? 0 : -resolution.nboz; n <= resolution.nboz; ++n) modes.push_back({m, -n});
  return modes;
}

void HarmonicSums::set_waves(const BoozerPoints& points, Index first, Index count) {
  const auto part = [&](const std::vector<double>& list) {
    return std::span(list).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  };
  m_waves_.set(part(points.theta), 1);
  n_waves_.set(part(points.zeta), periods_);
}

/// with_cosine()[m][column] = sum over points of cos(m theta) X cos/sin(n zeta), with_sine() the same of sin(m
/// theta).
void HarmonicSums::sum(const BoozerPoints& points) {
  const auto count = static_cast<Index>(points.theta.size());
  for (Index first = 0; first < count; first += block) {
    const Index size = std::min(block, count - first);
    set_waves(points, first, size);
    for (Index q = 0; q < quantities; ++q) multiply_waves(points, q, first, size);
    const auto products = [&](Index from, Index number) {
      Matrix part(products_.data() + from * block, number, block);
      part.extent[1] = size;
      return part;
    };
    const double before = first == 0 ? 0 : 1;
    const Matrix cosines = with_cosine(), sines = with_sine();
    dense::multiply(1, m_waves_.cosine(size), dense::Form::plain, products(0, cosines.extent[1]),
                    dense::Form::transposed, before, cosines);
    dense::multiply(1, m_waves_.sine(size), dense::Form::plain, products(first_with_sine(), sines.extent[1]),
                    dense::Form::transposed, before, sines);
  }
}

/// The products of a quantity and its weights with the waves in zeta.
void HarmonicSums::multiply_waves(const BoozerPoints& points, Index quantity, Index first, Index size) {
  const double* value = &points.values[static_cast<std::size_t>(quantity)][static_cast<std::size_t>(first)];
  const double* weight = &points.weight[static_cast<std::size_t>(first)];
  std::array<double, block> weighted{};
  for (Index p = 0; p < size; ++p) weighted[static_cast<std::size_t>(p)] = value[p] * weight[p];
  for (const bool sine : {false, true}) {
    const Matrix waves = sine ? n_waves_.sine(size) : n_waves_.cosine(size);
    for (Index n = 0; n < width(); ++n) {
      const double* wave = waves.data + n * block;
      double* product = products_.data() + (column(quantity, sine) + n) * block;
      for (Index p = 0; p < size; ++p) product[p] = weighted[static_cast<std::size_t>(p)] * wave[p];
    }
  }
}

/// cos(m theta - n zeta) = cos cos + sin sin, sin(m theta - n zeta) = sin cos - cos sin.
void HarmonicSums::store(Index quantity, double total, Index row, HarmonicTable& table) {
  const Matrix cosines = with_cosine(), sines = with_sine();
  const Index cos_n = column(quantity, false), sin_n = column(quantity, true), shifted = first_with_sine();
  auto at = static_cast<std::size_t>(row * table.columns);
  for (Index m = 0; m < mboz_; ++m)
    for (Index n = m == 0 ? 0 : -nboz_; n <= nboz_; ++n, ++at) {
      const double factor = (m == 0 && n == 0 ? 1 : 2) / total, sign = n < 0 ? -1 : 1;
      const Index size = std::abs(n);
      if (!table.cosine.empty())
        table.cosine[at] = factor * (cosines(m, cos_n + size) + sign * sines(m, sin_n + size - shifted));
      if (!table.sine.empty())
        table.sine[at] = factor * (sines(m, cos_n + size - shifted) - sign * cosines(m, sin_n + size));
    }
}

double HarmonicSums::defect(const BoozerPoints& points, const HarmonicTable& table, Index row) {
  // B = sum over m of cos(m theta) (even_c cos + odd_c sin) + sin(m theta) (even_s cos + odd_s sin), by n >= 0.
  const Index n_count = width();
  std::array<std::vector<double>, 4> parts;  // cos cos, cos sin, sin cos, sin sin
  for (auto& part : parts) part.assign(static_cast<std::size_t>(mboz_ * n_count), 0.0);
  auto at = static_cast<std::size_t>(row * table.columns);
  for (Index m = 0; m < mboz_; ++m)
    for (Index n = m == 0 ? 0 : -nboz_; n <= nboz_; ++n, ++at) {
      const auto place = static_cast<std::size_t>(m * n_count + std::abs(n));
      const double sign = n < 0 ? -1 : 1, c = table.cosine[at], s = table.sine.empty() ? 0 : table.sine[at];
      parts[0][place] += c;
      parts[1][place] -= sign * s;
      parts[2][place] += s;
      parts[3][place] += sign * c;
    }
  const auto count = static_cast<Index>(points.theta.size());
  double largest = 0;
  std::vector<double> sum(static_cast<std::size_t>(block));
  for (Index first = 0; first < count; first += block) {
    const Index size = std::min(block, count - first);
    set_waves(points, first, size);
    std::fill(sum.begin(), sum.end(), 0.0);
    for (std::size_t half = 0; half < 2; ++half) {
      Matrix partial(partial_.data(), mboz_, block);
      partial.extent[1] = size;
      const auto part = [&](std::size_t i) { return Matrix(parts[2 * half + i].data(), mboz_, n_count); };
      dense::multiply(1, part(0), dense::Form::plain, n_waves_.cosine(size), dense::Form::plain, 0, partial);
      dense::multiply(1, part(1), dense::Form::plain, n_waves_.sine(size), dense::Form::plain, 1, partial);
      const Matrix wave = half == 0 ? m_waves_.cosine(size) : m_waves_.sine(size);
      for (Index m = 0; m < mboz_; ++m)
        for (Index p = 0; p < size; ++p) sum[static_cast<std::size_t>(p)] += wave(m, p) * partial(m, p);
    }
    for (Index p = 0; p < size; ++p)
      largest = std::max(largest, std::abs(sum[static_cast<std::size_t>(p)] -
                                           points.values[field][static_cast<std::size_t>(first + p)]));
  }
  return largest;
}

}  // namespace sonde::neoclassical
