// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/array/array.h"

namespace sonde::ptycho {

/// An object wave by its spectrum on the frequencies of a scan, zero frequency at [0,0].
struct WaveSpectrum {
  Array values;    ///< complex128 (rows, cols); 1 at q = 0
  Array transfer;  ///< float64, alike: values = i phi(q) transfer(q) for a weak phase phi of zero mean

  /// sum over q of values(q) exp(2 pi i q.R): 1 + i phi for a weak phase; complex128 (rows, cols).
  [[nodiscard]] Array wave() const;
  /// The transfer divided out, regularised as by Wiener: values t / (t^2 + (epsilon max |t|)^2).
  [[nodiscard]] WaveSpectrum corrected(double epsilon) const;
  /// Every frequency with the sign that makes its transfer positive.
  [[nodiscard]] WaveSpectrum flipped() const;
};

}  // namespace sonde::ptycho
