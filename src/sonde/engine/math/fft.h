// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <memory>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"

namespace sonde {

/// How much time preparing may take to find a fast plan: quick decides by rules (milliseconds), measured tries plans
/// (seconds for large shapes; worth it for thousands of transforms). What is computed differs only by rounding.
enum class FftEffort { quick, measured };

/// Batched two-dimensional transforms of one shape, in float or double, on the CPU.
/// Forward is unnormalised with exp(-2 pi i k n / N); inverse divides by rows * cols, so inverse(forward(x)) == x.
/// The transforms of a batch run in parallel. Thread-safe: several threads may run one plan on different data, and
/// preparing takes turns by itself. 5 N log2 N operations for N = rows * cols; running allocates nothing with FFTW, a
/// column per thread with kissfft (`-DSONDE_FFT`).
template <class Real>
class Fft2d {
 public:
  using Complex = std::complex<Real>;

  /// Throws Error(bad_input) for extents below 1, and for 2^31 or more rows or columns.
  static Fft2d prepare(Index batch, Index rows, Index cols, FftEffort effort = FftEffort::quick);
  Fft2d(Fft2d&&) noexcept;
  Fft2d& operator=(Fft2d&&) noexcept;
  ~Fft2d();

  [[nodiscard]] Index batch() const { return batch_; }
  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }

  /// `in` and `out` are contiguous (batch, rows, cols) on 16-byte boundaries, as memory of Array and std::vector is;
  /// they are the same or do not overlap. Throws Error(bad_input) otherwise.
  void forward(View<const Complex, 3> in, View<Complex, 3> out) const;
  void inverse(View<const Complex, 3> in, View<Complex, 3> out) const;

 private:
  struct Plans;
  Fft2d(Index batch, Index rows, Index cols, std::unique_ptr<Plans> plans);
  /// Copies unless the views are the same, and checks both.
  void bring(View<const Complex, 3> in, View<Complex, 3> out) const;

  Index batch_ = 0, rows_ = 0, cols_ = 0;
  std::unique_ptr<Plans> plans_;
};

/// Which library transforms: "fftw" or "kissfft".
[[nodiscard]] const char* fft_library();

}  // namespace sonde
