// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// What is transformed: the counts I, or log(1 + I), in which disks are nearly flat whatever their intensity.
enum class PatternScale { counts, logarithm };

/// What a pattern is multiplied by before. hann: sin^2(pi (i + 1/2) / N) along each axis, so that what is cut off at
/// the edges of the detector makes no streaks.
enum class PatternWindow { hann, none };

[[nodiscard]] std::string_view name(PatternWindow window);

/// Transforms of real patterns, prepared once for a detector:
///   P(k, l) = |sum over r, c of w(r, c) L(r, c) exp(-2 pi i (k r / rows + l c / cols))|^2, L = I or log(1 + I).
/// Of log(1 + I) this is the exit-wave power cepstrum (Padgett et al., Ultramicroscopy 214 (2020) 112994): disks that
/// are g apart make a peak at the spacing 1/g of the crystal. Thread-safe: one Scratch for each thread. In float32;
/// one transform of a frame.
class PatternPower {
 public:
  /// Throws Error(bad_input) for a detector with fewer than 8 rows or columns.
  [[nodiscard]] static PatternPower prepare(Index rows, Index cols, PatternScale scale, PatternWindow window);
  PatternPower(PatternPower&&) noexcept;
  PatternPower& operator=(PatternPower&&) noexcept;
  ~PatternPower();

  [[nodiscard]] Index rows() const;
  [[nodiscard]] Index cols() const;
  [[nodiscard]] PatternScale scale() const;
  /// (rows), (cols): the window is their product.
  [[nodiscard]] std::span<const float> row_window() const;
  [[nodiscard]] std::span<const float> col_window() const;
  [[nodiscard]] std::size_t bytes() const;

  /// What run() works in, and its results.
  struct Scratch {
    explicit Scratch(const PatternPower& plan);
    [[nodiscard]] static std::size_t bytes(Index rows, Index cols);

    std::vector<float> pattern;  ///< (rows, cols): w L
    std::vector<float> power;    ///< (rows, cols / 2 + 1): P from frequency 0; the rest is P(-k, -l)
    std::vector<std::complex<float>> transformed, half;
  };

  /// The power of one dense frame (rows, cols). T is an element type of a pass. Values below 0 count as 0 in a
  /// logarithm.
  template <class T>
  void run(const T* frame, Scratch& scratch) const;

 private:
  struct Tables;
  explicit PatternPower(std::unique_ptr<const Tables> tables);
  std::unique_ptr<const Tables> tables_;
};

/// The whole of half a power spectrum (rows, cols / 2 + 1) with frequency 0 at (rows / 2, cols / 2): (rows, cols).
[[nodiscard]] std::vector<double> centred(std::span<const double> half_power, Index rows, Index cols);

}  // namespace sonde::stem
