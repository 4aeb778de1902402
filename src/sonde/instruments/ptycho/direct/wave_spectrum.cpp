// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/direct/wave_spectrum.h"

#include <algorithm>
#include <cmath>

#include "sonde/engine/math/fft.h"
#include "sonde/instruments/ptycho/direct/spectra.h"

namespace sonde::ptycho {

WaveSpectrum wave_spectrum(const BrightField& field, Index rows, Index cols, const Sums& sums) {
  double counts = 0, disk = 0;
  for (std::size_t i = 0; i < field.mean.size(); ++i) {
    counts += field.mean[i];
    disk += field.amplitude[i] * field.amplitude[i];
  }
  counts *= static_cast<double>(field.lattice.count());
  WaveSpectrum result{Array::zeros(Device::cpu(), Shape{rows, cols}, DType::c128),
                      Array::zeros(Device::cpu(), Shape{rows, cols}, DType::f64)};
  const auto values = result.values.view<complex128, 2>();
  const auto transfer = result.transfer.view<double, 2>();
  const HalfPlane plane(rows, cols);
  for (Index row = 0; row < plane.rows; ++row)
    for (Index v = -plane.most; v <= plane.most; ++v) {
      const auto at = static_cast<std::size_t>(plane.at(row, v));
      const complex128 value(sums.real[at] / counts, sums.imaginary[at] / counts);
      const Index col = (v + cols) % cols, mirrored_row = (rows - row) % rows, mirrored_col = (cols - col) % cols;
      values(row, col) = value;
      values(mirrored_row, mirrored_col) = -std::conj(value);  // a phase is real
      transfer(row, col) = transfer(mirrored_row, mirrored_col) = sums.transfer[at] / disk;
    }
  values(0, 0) = 1;
  transfer(0, 0) = 0;
  return result;
}

Array WaveSpectrum::wave() const {
  Array wave = values.clone();
  Fft2d<double>::prepare({.rows = wave.shape()[0], .cols = wave.shape()[1]})
      .transform(wave.view<complex128, 2>().data, FftDirection::inverse);
  return wave;
}

WaveSpectrum WaveSpectrum::corrected(double epsilon) const {
  WaveSpectrum result{values.clone(), transfer.clone()};
  auto* value = result.values.view<complex128, 2>().data;
  auto* t = result.transfer.view<double, 2>().data;
  double largest = 0;
  for (Index i = 0; i < transfer.count(); ++i) largest = std::max(largest, std::abs(t[i]));
  const double least = epsilon * largest;
  for (Index i = 1; i < transfer.count(); ++i) {
    const double denominator = t[i] * t[i] + least * least;
    const double factor = denominator > 0 ? t[i] / denominator : 0;
    value[i] *= factor;
    t[i] *= factor;
  }
  return result;
}

WaveSpectrum WaveSpectrum::flipped() const {
  WaveSpectrum result{values.clone(), transfer.clone()};
  auto* value = result.values.view<complex128, 2>().data;
  auto* t = result.transfer.view<double, 2>().data;
  for (Index i = 1; i < transfer.count(); ++i)
    if (t[i] < 0) {
      value[i] = -value[i];
      t[i] = -t[i];
    }
  return result;
}

}  // namespace sonde::ptycho
