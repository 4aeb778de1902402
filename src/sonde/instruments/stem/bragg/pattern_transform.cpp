// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/pattern_transform.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/instruments/stem/bragg/disk_kernels.h"

namespace sonde::stem {
namespace {

std::size_t at(Index row, Index cols, Index col) { return static_cast<std::size_t>(row * cols + col); }
Index mirrored(Index k, Index extent) { return k == 0 ? 0 : extent - k; }

constexpr Index most_rows = 2048;  // eight columns of them are on the stack

/// Where rows are a multiple of 1 KiB apart, a column has few sets of the cache to lie in: a plan that is chosen by
/// rules, without measuring, then takes three times as long for 256 x 128 elements (AMD EPYC) as rows and columns that
/// are transformed one by one, eight columns through memory of their own.
bool by_lines(Index rows, Index elements_of_row) {
  return elements_of_row * static_cast<Index>(sizeof(std::complex<float>)) % 1024 == 0 && rows <= most_rows;
}

}  // namespace

PatternTransform::PatternTransform(Index rows, Index cols)
    : rows_(rows), cols_(cols), turns_(static_cast<std::size_t>(cols / 2 + 1)) {
  for (std::size_t l = 0; l < turns_.size(); ++l)
    turns_[l] = std::complex<float>(
        std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(l) / static_cast<double>(cols)));
  const Index width = elements() / rows;
  if (by_lines(rows, width)) {
    row_ = Fft2d<float>::prepare({.rows = 1, .cols = width});
    column_ = Fft2d<float>::prepare({.rows = 1, .cols = rows});
  } else {
    whole_ = Fft2d<float>::prepare({.rows = rows, .cols = width});
  }
}

std::size_t PatternTransform::bytes() const {
  std::size_t all = turns_.size() * sizeof(turns_[0]);
  for (const std::optional<Fft2d<float>>* plan : {&whole_, &row_, &column_})
    if (*plan) all += (*plan)->bytes();
  return all;
}

void PatternTransform::transform(std::complex<float>* data, FftDirection direction) const {
  if (whole_) return whole_->transform(data, direction);
  const Index width = elements() / rows_;
  for (Index k = 0; k < rows_; ++k) row_->transform(data + k * width, direction);
  transform_columns(data, direction);
}

void PatternTransform::transform_columns(std::complex<float>* data, FftDirection direction) const {
  const Index width = elements() / rows_;  // a multiple of 128
  const Index pitch = rows_ + beside;      // of the columns, which have other sets of the cache then
  alignas(64) float memory[2 * beside * (most_rows + beside)];  // not complex, which would be set to zero
  auto* const columns = reinterpret_cast<std::complex<float>*>(memory);
  for (Index l = 0; l < width; l += beside) {
    for (Index k = 0; k < rows_; ++k)
      for (Index i = 0; i < beside; ++i) columns[i * pitch + k] = data[k * width + l + i];
    for (Index i = 0; i < beside; ++i) column_->transform(columns + i * pitch, direction);
    for (Index k = 0; k < rows_; ++k)
      for (Index i = 0; i < beside; ++i) data[k * width + l + i] = columns[i * pitch + k];
  }
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
