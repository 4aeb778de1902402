// SPDX-License-Identifier: Apache-2.0
// Not installed: transforms of real patterns, and filters on their spectra. For this room and room spectra.
#pragma once

#include <complex>
#include <optional>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/math/fft.h"

namespace sonde::stem {

using Complexes = std::vector<std::complex<float>>;

/// Of a pattern with an even number of columns, x(r, 2c) + i x(r, 2c + 1) is a complex pattern of half as many columns
/// in the same memory, whose transform Z holds that of x:
///   X(k, l) = E + w^l O and X(k, l + M) = E - w^l O with w = exp(-2 pi i / cols), M = cols / 2,
///   E = (Z(k, l) + conj Z(-k, -l)) / 2, O = (Z(k, l) - conj Z(-k, -l)) / 2i.
/// With an odd number of columns the pattern is the real part.
class PatternTransform {
 public:
  PatternTransform(Index rows, Index cols);

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] bool packed() const { return cols_ % 2 == 0; }
  /// Complex elements of a pattern.
  [[nodiscard]] Index elements() const { return packed() ? rows_ * cols_ / 2 : rows_ * cols_; }
  /// Columns of half a spectrum, from frequency 0.
  [[nodiscard]] Index half() const { return cols_ / 2 + 1; }
  [[nodiscard]] std::size_t bytes() const;

  /// In place, not scaled.
  void forward(std::complex<float>* data) const { transform(data, FftDirection::forward); }
  void inverse(std::complex<float>* data) const { transform(data, FftDirection::inverse); }
  /// What inverse(forward()) multiplies a pattern by.
  [[nodiscard]] double scale() const { return static_cast<double>(elements()); }

  /// The spectrum of a transformed pattern, (rows, half()), and back.
  void unpack(const std::complex<float>* data, std::complex<float>* half_spectrum) const;
  void pack(const std::complex<float>* half_spectrum, std::complex<float>* data) const;

  /// Real values of a pattern that was transformed back: in place where packed, else into `into`.
  [[nodiscard]] const float* real(const std::complex<float>* data, std::vector<float>& into) const;

  /// A product of spectra W X, of a transformed pattern: Z' = A Z + B conj Z(-k, -l), with P and Q half the sum and
  /// half the difference of W(k, l) and W(k, l + M), A = P - Q sin t and B = i Q cos t, t = 2 pi l / cols. Packed only.
  struct Filter {
    Complexes direct, mirrored;
  };
  /// `spectrum` is W, (rows, cols) in the order of Fft2d; scaled so that the inverse transform needs no scale.
  [[nodiscard]] Filter make_filter(std::span<const std::complex<double>> spectrum) const;
  void apply(const Filter& filter, const std::complex<float>* data, std::complex<float>* to) const;

 private:
  /// Columns in a line of the cache.
  static constexpr Index beside = 8;

  void transform(std::complex<float>* data, FftDirection direction) const;
  void transform_columns(std::complex<float>* data, FftDirection direction) const;

  Index rows_, cols_;
  std::optional<Fft2d<float>> whole_;         // of both axes, or
  std::optional<Fft2d<float>> row_, column_;  // of one row and of one column
  Complexes turns_;                           // (l) w^l
};

}  // namespace sonde::stem
