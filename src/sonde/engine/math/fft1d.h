// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <string>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/math/fft.h"

namespace sonde {

/// All that a plan for lines depends on besides the element type: `batch` lines of `length` elements.
struct LineKey {
  Index length = 1;
  Index batch = 1;
  FftEffort effort = FftEffort::quick;
  Device device = Device::cpu();
  friend bool operator==(const LineKey&, const LineKey&) = default;
};

/// What holds for the transforms of this page and of dct.h. Lines are the rows of a View (batch, elements) with any
/// strides, so that the columns of a matrix are lines too. `in` and `out` have the same elements or none in common;
/// real transforms have none in common. Neither direction scales.
///
/// On the CPU lines run in parallel, each through memory of a few lines that is taken for the call (with kissfft three
/// more lines); several threads may run one plan on different data; results do not depend on their number. On a GPU a
/// plan has a workspace and serves one stream at a time; the first call with lines that are not contiguous allocates a
/// copy of the batch, and so does the first inverse of a real transform.
///
/// prepare() throws Error(bad_input) for extents below 1 and for 2^31 or more elements of a line; its `wisdom` and that
/// of a plan are as for Fft2d. transform() throws Error(bad_input) for views of other extents.

/// Complex transforms: out(k) = sum over n of in(n) exp(-+2 pi i k n / N), 5 N log2 N operations. Forward and then
/// inverse multiplies by N.
template <class Real>
class Fft1d {
 public:
  using Complex = std::complex<Real>;
  static Fft1d prepare(const LineKey& key, const std::string& wisdom = {});
  Fft1d(Fft1d&&) noexcept;
  Fft1d& operator=(Fft1d&&) noexcept;
  ~Fft1d();

  [[nodiscard]] const LineKey& key() const { return key_; }
  /// Roughly what the plan holds.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::string wisdom() const;
  void transform(Stream& stream, View<const Complex, 2> in, View<Complex, 2> out, FftDirection direction) const;

 private:
  struct Plans;
  Fft1d(const LineKey& key, std::unique_ptr<Plans> plans);
  LineKey key_;
  std::unique_ptr<Plans> plans_;
};

/// Real transforms: forward takes N real numbers to the frequencies 0 to N / 2 of their complex transform, N / 2 + 1
/// complex numbers; the others are their conjugates, out(N - k) = conj(out(k)). Inverse takes them back to N times the
/// real numbers; imaginary parts of frequency 0, and of N / 2 for even N, count for nothing. About half the work of the
/// complex transform (with kissfft all of it).
template <class Real>
class RealFft1d {
 public:
  using Complex = std::complex<Real>;
  static RealFft1d prepare(const LineKey& key, const std::string& wisdom = {});
  RealFft1d(RealFft1d&&) noexcept;
  RealFft1d& operator=(RealFft1d&&) noexcept;
  ~RealFft1d();

  [[nodiscard]] const LineKey& key() const { return key_; }
  [[nodiscard]] Index frequencies() const { return key_.length / 2 + 1; }
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::string wisdom() const;
  /// (batch, N) to (batch, N / 2 + 1).
  void forward(Stream& stream, View<const Real, 2> in, View<Complex, 2> out) const;
  /// (batch, N / 2 + 1) to (batch, N).
  void inverse(Stream& stream, View<const Complex, 2> in, View<Real, 2> out) const;

 private:
  struct Plans;
  RealFft1d(const LineKey& key, std::unique_ptr<Plans> plans);
  LineKey key_;
  std::unique_ptr<Plans> plans_;
};

}  // namespace sonde
