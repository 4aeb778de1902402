// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/direct/spectra.h"

namespace sonde::ptycho {

SpectrumPair::SpectrumPair(const BrightField& field, const Fft2d<float>& fft)
    : field_(field), fft_(fft), wave_(Device::cpu(), Shape{field.lattice.rows, field.lattice.cols}, DType::c64) {}

void SpectrumPair::transform(Index pair) {
  const Index n = field_.lattice.count(), first = 2 * pair;
  images_ = first + 1 < field_.count() ? 2 : 1;
  const float* a = field_.images.view<float, 3>().data + first * n;
  const float* b = images_ == 2 ? a + n : nullptr;
  const auto mean_a = static_cast<float>(field_.mean[static_cast<std::size_t>(first)]);
  const auto mean_b = b != nullptr ? static_cast<float>(field_.mean[static_cast<std::size_t>(first + 1)]) : 0;
  complex64* to = wave_.view<complex64, 2>().data;
  for (Index i = 0; i < n; ++i) to[i] = {a[i] - mean_a, b != nullptr ? b[i] - mean_b : 0};
  fft_.transform(to, FftDirection::forward);
}

void SpectrumPair::row(Index image, Index row, Index first, Index last, float* real, float* imaginary) const {
  const Index rows = field_.lattice.rows, cols = field_.lattice.cols;
  const auto wrapped = [](Index i, Index n) { return (i % n + n) % n; };
  const complex64* here = wave_.view<complex64, 2>().data + wrapped(row, rows) * cols;
  const complex64* mirrored = wave_.view<complex64, 2>().data + wrapped(-row, rows) * cols;
  Index at = wrapped(first, cols), opposite = wrapped(-first, cols);
  for (Index v = first; v < last; ++v) {
    const complex64 z = here[at], w = mirrored[opposite];
    if (image == 0) {
      *real++ = (z.real() + w.real()) / 2;
      *imaginary++ = (z.imag() - w.imag()) / 2;
    } else {
      *real++ = (z.imag() + w.imag()) / 2;
      *imaginary++ = (w.real() - z.real()) / 2;
    }
    at = at + 1 == cols ? 0 : at + 1;
    opposite = opposite == 0 ? cols - 1 : opposite - 1;
  }
}

}  // namespace sonde::ptycho
