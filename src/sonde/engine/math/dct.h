// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "sonde/engine/array/view.h"
#include "sonde/engine/math/fft1d.h"

namespace sonde {

/// Cosine transforms of lines, as FFTW's REDFT10 and REDFT01 and SciPy's dct(type=2) and dct(type=3) define them:
///   forward, DCT-II:  out(k) = 2 sum over n of in(n) cos(pi k (n + 1/2) / N),
///   inverse, DCT-III: out(n) = in(0) + 2 sum over k > 0 of in(k) cos(pi k (n + 1/2) / N).
/// Forward and then inverse multiplies by 2 N. Each is one real transform of the line in another order (J. Makhoul, A
/// fast cosine transform in one and two dimensions, IEEE Trans. ASSP 28 (1980) 27), on all devices and with every
/// library. Lines, threads and errors as in fft1d.h; `in` and `out` may have the same elements.
template <class Real>
class Dct {
 public:
  static Dct prepare(const LineKey& key, const std::string& wisdom = {});
  Dct(Dct&&) noexcept;
  Dct& operator=(Dct&&) noexcept;
  ~Dct();

  [[nodiscard]] const LineKey& key() const { return key_; }
  /// Roughly what the plan holds; on a GPU two copies of the batch among it.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::string wisdom() const;
  void transform(Stream& stream, View<const Real, 2> in, View<Real, 2> out, FftDirection direction) const;

 private:
  struct Plans;
  Dct(const LineKey& key, std::unique_ptr<Plans> plans);
  LineKey key_;
  std::unique_ptr<Plans> plans_;
};

}  // namespace sonde
