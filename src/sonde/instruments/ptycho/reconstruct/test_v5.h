// SPDX-License-Identifier: Apache-2.0
// The simulated reference set (V5: docs/ptycho-theory.md#the-reference-set) as tests use it, with its error.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <filesystem>
#include <string>
#include <vector>

#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/npy.h"
#include "sonde/engine/math/fft.h"
#include "sonde/instruments/ptycho/model/measurement.h"
#include "sonde/instruments/ptycho/model/state.h"
#include "sonde/instruments/ptycho/optics/probe.h"
#include "tests/support/data.h"

namespace sonde::ptycho::testing {

/// `values` less their least-squares combination of the columns: normal equations, Gaussian elimination.
template <std::size_t N>
std::vector<double> remainder(const std::vector<std::array<double, N>>& columns, std::vector<double> values) {
  std::array<std::array<double, N + 1>, N> normal{};
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t a = 0; a < N; ++a) {
      for (std::size_t b = 0; b < N; ++b) normal[a][b] += columns[i][a] * columns[i][b];
      normal[a][N] += columns[i][a] * values[i];
    }
  for (std::size_t a = 0; a < N; ++a)
    for (std::size_t b = 0; b < N; ++b)
      if (b != a) {
        const double factor = normal[b][a] / normal[a][a];
        for (std::size_t k = 0; k <= N; ++k) normal[b][k] -= factor * normal[a][k];
      }
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t a = 0; a < N; ++a) values[i] -= columns[i][a] * normal[a][N] / normal[a][a];
  return values;
}

constexpr Index v5_object = 104, v5_window = 64, v5_pixels = v5_window * v5_window;

/// Frames, true phase and start of one dose: "1e4", "1e6", or "exact" (the noise-free frames of 1e6 counts).
struct V5 {
  std::filesystem::path folder;
  Array frames;     // (256, 64, 64), zero frequency at [32, 32]
  Array phase;      // (104, 104)
  Array positions;  // (256, 2)

  V5(const std::filesystem::path& data, const std::string& dose) : folder(data / "ptychography/v5") {
    phase = read_npy(folder / "phase.npy");
    positions = read_npy(folder / "positions_px.npy");
    frames = dose == "exact" ? exact() : Hdf5File::open(folder / "v5.h5").dataset("/counts_" + dose).read();
  }

  /// Unit power, defocus in A; v5.toml has the other numbers.
  static Array probe_of(double defocus) {
    ApertureOptics optics;
    optics.semiangle = 0.020;
    optics.aberrations.set("defocus", defocus);
    Array probe = aperture_probe(electron_sampling(v5_window, v5_window, 200, 1.875), optics);
    scale_to_counts(probe, 1);
    return probe;
  }

  [[nodiscard]] std::vector<Point> places() const {
    std::vector<Point> points;
    const auto at = positions.view<double, 2>();
    for (Index j = 0; j < at.extent[0]; ++j) points.push_back({at(j, 0), at(j, 1)});
    return points;
  }

  /// 1e6 |F[probe object]|^2 with the unitary transform, zero frequency in the middle.
  [[nodiscard]] Array exact() const {
    Array counts(Device::cpu(), Shape{256, v5_window, v5_window}, DType::f64);
    const Array truth = probe_of(150);
    const auto probe = truth.view<complex128, 3>();
    const auto phi = phase.view<double, 2>(), at = positions.view<double, 2>();
    const auto fft = Fft2d<double>::prepare({.rows = v5_window, .cols = v5_window});
    std::vector<complex128> wave(v5_window * v5_window);
    for (Index j = 0; j < 256; ++j) {
      const auto top = static_cast<Index>(at(j, 0)) - 32, left = static_cast<Index>(at(j, 1)) - 32;
      for (Index r = 0; r < v5_window; ++r)
        for (Index c = 0; c < v5_window; ++c)
          wave[static_cast<std::size_t>(r * v5_window + c)] = probe(0, r, c) * std::polar(1.0, phi(top + r, left + c));
      fft.transform(wave.data(), FftDirection::forward);
      for (Index r = 0; r < v5_window; ++r)
        for (Index c = 0; c < v5_window; ++c)
          counts.view<double, 3>()(j, (r + 32) % v5_window, (c + 32) % v5_window) =
              1e6 * std::norm(wave[static_cast<std::size_t>(r * v5_window + c)]) / (v5_window * v5_window);
    }
    return counts;
  }

  /// Object 1, the probe with its defocus wrong by a tenth, or with another one (A).
  template <class Real>
  [[nodiscard]] State start(double mean_counts, double defocus = 135) const {
    using Complex = std::complex<Real>;
    State state;
    state.object = Array(Device::cpu(), Shape{1, v5_object, v5_object}, dtype_of<Complex>);
    std::fill_n(state.object.view<Complex, 3>().data, state.object.count(), Complex(1));
    const Array probe = probe_of(defocus);
    state.probe = Array(Device::cpu(), probe.shape(), dtype_of<Complex>);
    for (Index i = 0; i < probe.count(); ++i)
      state.probe.view<Complex, 3>().data[i] = Complex(std::sqrt(mean_counts) * probe.view<complex128, 3>().data[i]);
    state.positions = places();
    state.placements = place_all(state.positions, {v5_window, v5_window});
    return state;
  }

  /// The field of view, rows and columns 36 to 66: the phase difference from the truth after a global factor, a ramp,
  /// and a sub-pixel shift have been taken out, as the README of the set says.
  template <class Real>
  [[nodiscard]] std::vector<double> phase_error(const State& state) const {
    constexpr Index first = 36, n = 31;
    const auto object = state.object.view<std::complex<Real>, 3>();
    const auto phi = phase.view<double, 2>();
    std::vector<std::complex<double>> o, t;
    std::vector<std::array<double, 3>> plane;
    std::vector<std::array<double, 5>> moved;
    for (Index row = first; row < first + n; ++row)
      for (Index col = first; col < first + n; ++col) {
        const double y = static_cast<double>(row - first - n / 2), x = static_cast<double>(col - first - n / 2);
        o.emplace_back(object(0, row, col));
        t.push_back(std::polar(1.0, phi(row, col)));
        plane.push_back({1, y, x});
        moved.push_back(
            {1, y, x, (phi(row + 1, col) - phi(row - 1, col)) / 2, (phi(row, col + 1) - phi(row, col - 1)) / 2});
      }
    const auto angles = [&] {
      std::vector<double> angle;
      for (std::size_t i = 0; i < o.size(); ++i) angle.push_back(std::arg(o[i] * std::conj(t[i])));
      return angle;
    };
    for (int round = 0; round < 3; ++round) {
      std::complex<double> cross = 0;
      double power = 0;
      for (std::size_t i = 0; i < o.size(); ++i) {
        cross += std::conj(o[i]) * t[i];
        power += std::norm(o[i]);
      }
      for (auto& value : o) value *= cross / power;
      const std::vector<double> before = angles(), after = remainder(plane, before);
      for (std::size_t i = 0; i < o.size(); ++i) o[i] *= std::polar(1.0, after[i] - before[i]);
    }
    return remainder(moved, angles());
  }
  template <class Real>
  [[nodiscard]] double phase_rmse(const State& state) const {
    return rms(phase_error<Real>(state));
  }

  [[nodiscard]] static double rms(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return std::sqrt(sum / static_cast<double>(values.size()));
  }
};

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

}  // namespace sonde::ptycho::testing
