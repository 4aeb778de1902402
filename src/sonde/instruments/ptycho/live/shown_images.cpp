// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/live/shown_images.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

namespace sonde::ptycho {
namespace {

/// transmission(row, col) of all slices together, averaged.
template <class At>
std::vector<complex128> averaged(const Box& view, Index step, Index rows, Index cols, const At& at) {
  std::vector<complex128> means;
  means.reserve(static_cast<std::size_t>(rows * cols));
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) {
      const Index row_end = std::min((r + 1) * step, view.rows), col_end = std::min((c + 1) * step, view.cols);
      complex128 sum = 0;
      for (Index row = r * step; row < row_end; ++row)
        for (Index col = c * step; col < col_end; ++col) sum += at(view.row + row, view.col + col);
      means.push_back(sum / static_cast<double>((row_end - r * step) * (col_end - c * step)));
    }
  return means;
}

template <class Complex>
std::vector<complex128> transmission_means(const State& state, const Box& view, Index step, Index rows, Index cols) {
  const auto object = state.object.view<Complex, 3>();
  return averaged(view, step, rows, cols, [&](Index row, Index col) {
    complex128 product = 1;
    for (Index s = 0; s < object.extent[0]; ++s) product *= complex128(object(s, row, col));
    return product;
  });
}

/// The phase as the real part: it may pass half a turn.
template <class Real>
std::vector<complex128> phase_means(const State& state, const Box& view, Index step, Index rows, Index cols) {
  const auto phase = state.phase.view<Real, 3>();
  return averaged(view, step, rows, cols, [&](Index row, Index col) {
    double sum = 0;
    for (Index s = 0; s < phase.extent[0]; ++s) sum += static_cast<double>(phase(s, row, col));
    return complex128(sum);
  });
}

}  // namespace

Index step_for(const Box& view, Index most) {
  return std::max<Index>(1, (std::max(view.rows, view.cols) + most - 1) / most);
}

ShownObject shown_object(const State& state, const Box& view, Index step) {
  const Index rows = (view.rows + step - 1) / step, cols = (view.cols + step - 1) / step;
  ShownObject shown{Array(Device::cpu(), Shape{rows, cols}, DType::f32),
                    Array(Device::cpu(), Shape{rows, cols}, DType::f32)};
  auto* phase = static_cast<float*>(shown.phase.data());
  auto* amplitude = static_cast<float*>(shown.amplitude.data());
  const std::vector<complex128> means = state.object.dtype() == DType::c64
                                            ? transmission_means<complex64>(state, view, step, rows, cols)
                                            : transmission_means<complex128>(state, view, step, rows, cols);
  complex128 direction = 0;
  for (const complex128& mean : means) direction += mean;
  for (std::size_t i = 0; i < means.size(); ++i) {
    amplitude[i] = static_cast<float>(std::abs(means[i]));
    phase[i] = static_cast<float>(std::arg(means[i] * std::conj(direction)));
  }
  if (state.type == ObjectType::complex) return shown;
  const std::vector<complex128> phases = state.phase.dtype() == DType::f32
                                             ? phase_means<float>(state, view, step, rows, cols)
                                             : phase_means<double>(state, view, step, rows, cols);
  for (std::size_t i = 0; i < phases.size(); ++i) phase[i] = static_cast<float>(phases[i].real());
  return shown;
}

Array shown_mode(const State& state, Index mode) {
  const Shape& shape = state.probe.shape();
  Array shown(Device::cpu(), Shape{shape[1], shape[2]}, DType::f32);
  auto* to = static_cast<float*>(shown.data());
  const Index first = mode * shape[1] * shape[2];
  for (Index i = 0; i < shown.count(); ++i)
    to[i] = state.probe.dtype() == DType::c64
                ? std::abs(static_cast<const complex64*>(state.probe.data())[first + i])
                : static_cast<float>(std::abs(static_cast<const complex128*>(state.probe.data())[first + i]));
  return shown;
}

}  // namespace sonde::ptycho
