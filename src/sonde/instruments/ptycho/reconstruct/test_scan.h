// SPDX-License-Identifier: Apache-2.0
// For tests: a small scan whose counts are those of a known object, in single precision.
#pragma once

#include <cmath>
#include <complex>
#include <vector>

#include "sonde/instruments/ptycho/model/exposure.h"

namespace sonde::ptycho::testing {

/// side x side positions three pixels apart, patterns of 16 x 16, counts without noise, and a first estimate: the probe
/// a little too wide, no object.
struct SmallScan {
  static constexpr Index n = 16;
  Array counts;  // (J, n, n) u16, zero frequency at [0, 0]
  State state;

  explicit SmallScan(Index side, Index modes = 1, double fraction = 0) {
    const Window window{n, n};
    const Index extent = 3 * (side - 1) + n + 2;
    for (Index i = 0; i < side * side; ++i)
      state.positions.push_back(
          {static_cast<double>(n / 2 + 1 + 3 * (i / side)) + fraction * static_cast<double>(i % 3 - 1),
           static_cast<double>(n / 2 + 1 + 3 * (i % side)) - fraction * static_cast<double>(i % 2)});
    state.placements = place_all(state.positions, window);
    state.object = Array(Device::cpu(), Shape{1, extent, extent}, DType::c64);
    const auto object = state.object.view<complex64, 3>();
    for (Index r = 0; r < extent; ++r)
      for (Index c = 0; c < extent; ++c)
        object(0, r, c) = std::polar(1.0f, static_cast<float>(0.5 * std::sin(0.9 * static_cast<double>(r)) *
                                                              std::cos(0.7 * static_cast<double>(c + r))));
    state.probe = spot(modes, 2.2);
    counts = Array(Device::cpu(), Shape{side * side, n, n}, DType::u16);
    expose();
    std::fill_n(object.data, object.count(), complex64(1));
    state.probe = spot(modes, 2.5);
  }

  /// The root mean square of a - b beside that of b, where each pixel of these objects counts by the light that falls
  /// on it: at the edge, which hardly any does, the patterns say nothing. `lit` says where the light of its probe
  /// falls.
  template <class Real>
  static double lit_difference(const Array& a, const Array& b, const State& lit) {
    using Complex = std::complex<Real>;
    const Index cols = b.shape()[2];
    const auto probe = lit.probe.view<Complex, 3>();
    std::vector<double> light(static_cast<std::size_t>(b.count()));
    for (const Placement& at : lit.placements)
      for (Index m = 0; m < probe.extent[0]; ++m)
        for (Index r = 0; r < n; ++r)
          for (Index c = 0; c < n; ++c)
            light[static_cast<std::size_t>((at.row + r) * cols + at.col + c)] +=
                std::norm(std::complex<double>(probe(m, r, c)));
    double change = 0, power = 0;
    for (std::size_t i = 0; i < light.size(); ++i) {
      const std::complex<double> x = a.view<Complex, 3>().data[i], y = b.view<Complex, 3>().data[i];
      change += light[i] * std::norm(x - y);
      power += light[i] * std::norm(y);
    }
    return std::sqrt(change / power);
  }

 private:
  static Array spot(Index modes, double width) {
    Array probe(Device::cpu(), Shape{modes, n, n}, DType::c64);
    const auto to = probe.view<complex64, 3>();
    double power = 0;
    for (Index m = 0; m < modes; ++m)
      for (Index r = 0; r < n; ++r)
        for (Index c = 0; c < n; ++c) {
          const auto y = static_cast<double>(r - n / 2), x = static_cast<double>(c - n / 2);
          const double d2 = (y * y + x * x) / (width * width);
          to(m, r, c) = complex64(std::polar((m == 0 ? 1.0 : 0.3 * x) * std::exp(-d2 / 2), 0.6 * d2));
          power += std::norm(std::complex<double>(to(m, r, c)));
        }
    const auto scale = static_cast<float>(std::sqrt(2e5 / power));
    for (Index i = 0; i < to.count(); ++i) to.data[i] *= scale;
    return probe;
  }

  void expose() {
    Array ones(Device::cpu(), Shape{1, n, n}, DType::f32);  // a model wants a measurement before there is one
    std::fill_n(ones.view<float, 3>().data, n * n, 1.0f);
    const Measurement any(ones, ZeroFrequency::corner, {}, AmplitudeStorage::f32);
    const Model<float> model(any, 1, state.modes(), {}, Loss::amplitude, FftEffort::quick);
    Array spectrum;
    if (state.fractional()) {
      spectrum = Array(Device::cpu(), state.probe.shape(), DType::c64);
      probe_spectrum(model, state.probe, spectrum);
    }
    Exposure<float> exposure(model);
    const auto to = counts.view<std::uint16_t, 3>();
    for (Index j = 0; j < counts.shape()[0]; ++j) {
      exposure.forward(state, spectrum, j);
      for (Index i = 0; i < n * n; ++i) {
        float sum = 0;
        for (Index m = 0; m < state.modes(); ++m) sum += std::norm(exposure.waves()[m * n * n + i]);
        to.data[j * n * n + i] = static_cast<std::uint16_t>(std::lround(std::min(sum / (n * n), 65535.0f)));
      }
    }
  }
};

}  // namespace sonde::ptycho::testing
