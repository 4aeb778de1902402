// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/pattern_transform.h"

#include <cmath>
#include <numbers>

#include "sonde/instruments/stem/bragg/disk_kernels.h"

namespace sonde::stem {
namespace {

std::size_t at(Index row, Index cols, Index col) { return static_cast<std::size_t>(row * cols + col); }
Index mirrored(Index k, Index extent) { return k == 0 ? 0 : extent - k; }

}  // namespace

PatternTransform::PatternTransform(Index rows, Index cols)
    : rows_(rows),
      cols_(cols),
      plan_(Fft2d<float>::prepare({.rows = rows, .cols = cols % 2 == 0 ? cols / 2 : cols})),
      turns_(static_cast<std::size_t>(cols / 2 + 1)) {
  for (std::size_t l = 0; l < turns_.size(); ++l)
    turns_[l] = std::complex<float>(
        std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(l) / static_cast<double>(cols)));
}

void PatternTransform::unpack(const std::complex<float>* data, std::complex<float>* half_spectrum) const {
  const Index columns = half();
  if (!packed()) {
    for (Index k = 0; k < rows_; ++k) std::copy_n(data + at(k, cols_, 0), columns, half_spectrum + at(k, columns, 0));
    return;
  }
  const Index m = cols_ / 2;
  for (Index k = 0; k < rows_; ++k)
    for (Index l = 0; l <= m; ++l) {
      const std::complex<float> z = data[at(k, m, l % m)],
                                turned = std::conj(data[at(mirrored(k, rows_), m, mirrored(l % m, m))]);
      const std::complex<float> even = 0.5F * (z + turned), difference = 0.5F * (z - turned);
      const std::complex<float> odd(difference.imag(), -difference.real());
      // At l = M the turn is -1, which is E - O.
      half_spectrum[at(k, columns, l)] = even + turns_[static_cast<std::size_t>(l)] * odd;
    }
}

void PatternTransform::pack(const std::complex<float>* half_spectrum, std::complex<float>* data) const {
  const Index columns = half();
  if (!packed()) {
    for (Index k = 0; k < rows_; ++k)
      for (Index l = 0; l < cols_; ++l)
        data[at(k, cols_, l)] = l < columns ? half_spectrum[at(k, columns, l)]
                                            : std::conj(half_spectrum[at(mirrored(k, rows_), columns, cols_ - l)]);
    return;
  }
  const Index m = cols_ / 2;
  for (Index k = 0; k < rows_; ++k)
    for (Index l = 0; l < m; ++l) {
      const std::complex<float> low = half_spectrum[at(k, columns, l)],
                                high = std::conj(half_spectrum[at(mirrored(k, rows_), columns, m - l)]);
      const std::complex<float> even = 0.5F * (low + high),
                                odd = 0.5F * (low - high) * std::conj(turns_[static_cast<std::size_t>(l)]);
      data[at(k, m, l)] = {even.real() - odd.imag(), even.imag() + odd.real()};
    }
}

const float* PatternTransform::real(const std::complex<float>* data, std::vector<float>& into) const {
  if (packed()) return reinterpret_cast<const float*>(data);
  into.resize(static_cast<std::size_t>(elements()));
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = data[i].real();
  return into.data();
}

PatternTransform::Filter PatternTransform::make_filter(std::span<const std::complex<double>> spectrum) const {
  const Index m = cols_ / 2;
  Filter filter;
  filter.direct.resize(static_cast<std::size_t>(rows_ * m));
  filter.mirrored.resize(filter.direct.size());
  for (Index k = 0; k < rows_; ++k)
    for (Index l = 0; l < m; ++l) {
      const std::complex<double> low = spectrum[at(k, cols_, l)], high = spectrum[at(k, cols_, l + m)];
      const std::complex<double> p = (low + high) / (2 * scale()), q = (low - high) / (2 * scale());
      const double turn = 2 * std::numbers::pi * static_cast<double>(l) / static_cast<double>(cols_);
      filter.direct[at(k, m, l)] = std::complex<float>(p - q * std::sin(turn));
      filter.mirrored[at(k, m, l)] = std::complex<float>(std::complex<double>(0, 1) * q * std::cos(turn));
    }
  return filter;
}

void PatternTransform::apply(const Filter& filter, const std::complex<float>* data, std::complex<float>* to) const {
  const Index m = cols_ / 2;
  for (Index k = 0; k < rows_; ++k)
    cpu::filter_row(data + at(k, m, 0), data + at(mirrored(k, rows_), m, 0), filter.direct.data() + at(k, m, 0),
                    filter.mirrored.data() + at(k, m, 0), m, to + at(k, m, 0));
}

}  // namespace sonde::stem
