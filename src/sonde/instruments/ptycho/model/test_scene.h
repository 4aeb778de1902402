// SPDX-License-Identifier: Apache-2.0
// A small random reconstruction for tests, and the forward model written down once more: loops, direct Fourier sums,
// double precision.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <numbers>
#include <random>
#include <vector>

#include "sonde/instruments/ptycho/model/exposure.h"
#include "sonde/instruments/ptycho/optics/propagate.h"

namespace sonde::ptycho::testing {

using Wave = std::vector<std::complex<double>>;  // (rows, cols)

/// sum over r, c of wave(r, c) exp(sign 2 pi i (k r / rows + l c / cols)) / sqrt(rows cols).
inline Wave naive_fourier(const Wave& wave, Index rows, Index cols, double sign) {
  Wave to(wave.size());
  for (Index k = 0; k < rows; ++k)
    for (Index l = 0; l < cols; ++l) {
      std::complex<double> sum = 0;
      for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < cols; ++c)
          sum += wave[static_cast<std::size_t>(r * cols + c)] *
                 std::polar(1.0, sign * 2 * std::numbers::pi *
                                     (static_cast<double>(k * r) / static_cast<double>(rows) +
                                      static_cast<double>(l * c) / static_cast<double>(cols)));
      to[static_cast<std::size_t>(k * cols + l)] = sum / std::sqrt(static_cast<double>(rows * cols));
    }
  return to;
}

/// Everything that a small reconstruction needs, from one seed.
struct Scene {
  Index rows = 6, cols = 8, slices = 1, modes = 1, object_rows = 13, object_cols = 14;
  bool fractional = false, masked = false;
  ObjectType type = ObjectType::complex;
  unsigned seed = 1;
  bool real_gaps = false;  ///< free space of tilted slices, each of its own thickness; else any phases

  Array frames{};                    // (J, rows, cols) f64, corner order
  std::vector<std::uint8_t> mask{};  // empty: all measured
  Array propagators{};               // (S - 1, rows, cols)
  State state{};                     // double precision

  Scene& build() {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform(0, 1);
    const Index positions = 5;
    const auto random = [&] { return std::complex<double>(normal(generator), normal(generator)); };
    const Device cpu = Device::cpu();
    state.type = type;
    state.object = Array(cpu, Shape{slices, object_rows, object_cols}, DType::c128);
    if (type == ObjectType::potential) {
      state.phase = Array(cpu, state.object.shape(), DType::f64);
      for (Index i = 0; i < state.phase.count(); ++i) state.phase.view<double, 3>().data[i] = normal(generator);
      state.follow_phase();
    } else {
      for (Index i = 0; i < state.object.count(); ++i)
        state.object.view<complex128, 3>().data[i] = 1.0 + 0.3 * random();
    }
    state.probe = Array(cpu, Shape{modes, rows, cols}, DType::c128);
    for (Index i = 0; i < state.probe.count(); ++i) state.probe.view<complex128, 3>().data[i] = random();
    for (Index j = 0; j < positions; ++j) {
      const Window window{rows, cols};
      Point at{std::floor(uniform(generator) * static_cast<double>(object_rows - rows - 1)) +
                   static_cast<double>(rows / 2 + 1),
               std::floor(uniform(generator) * static_cast<double>(object_cols - cols - 1)) +
                   static_cast<double>(cols / 2 + 1)};
      if (fractional) {
        at.row += uniform(generator) - 0.5;
        at.col += uniform(generator) - 0.5;
      }
      state.positions.push_back(at);
      state.placements.push_back(place(at, window));
    }
    propagators = Array(cpu, Shape{std::max<Index>(slices - 1, 1), rows, cols}, DType::c128);
    for (Index i = 0; i < propagators.count(); ++i)
      propagators.view<complex128, 3>().data[i] = std::polar(1.0, normal(generator));
    if (real_gaps) {
      std::vector<double> distances;
      for (Index s = 0; s + 1 < slices; ++s) distances.push_back(20 + 45 * static_cast<double>(s));
      propagators =
          slice_propagators(electron_sampling(rows, cols, 200, 12), distances, {.tilt_row = 0.03, .tilt_col = -0.01});
    }
    frames = Array(cpu, Shape{positions, rows, cols}, DType::f64);
    for (Index i = 0; i < frames.count(); ++i)
      frames.view<double, 3>().data[i] = std::floor(10 * uniform(generator) * uniform(generator));
    if (masked) {
      mask.resize(static_cast<std::size_t>(rows * cols));
      for (std::uint8_t& good : mask) good = uniform(generator) < 0.8 ? 1 : 0;
    }
    return *this;
  }

  [[nodiscard]] Index pixels() const { return rows * cols; }

  /// A mode of a probe moved by a placement's fraction: F^-1[ F P exp(-2 pi i k f) ], k = fftfreq.
  [[nodiscard]] Wave shifted(const Array& probe, Index mode, const Placement& at) const {
    const double row = at.shift_row, col = at.shift_col;
    const auto* from = probe.view<complex128, 3>().data + mode * pixels();
    Wave spectrum = naive_fourier(Wave(from, from + pixels()), rows, cols, -1);
    for (Index k = 0; k < rows; ++k)
      for (Index l = 0; l < cols; ++l) {
        const double fk = static_cast<double>(k < (rows + 1) / 2 ? k : k - rows) / static_cast<double>(rows);
        const double fl = static_cast<double>(l < (cols + 1) / 2 ? l : l - cols) / static_cast<double>(cols);
        spectrum[static_cast<std::size_t>(k * cols + l)] *=
            std::polar(1.0, -2 * std::numbers::pi * (fk * row + fl * col));
      }
    return naive_fourier(spectrum, rows, cols, +1);
  }

  /// The far field of a mode at a frame.
  [[nodiscard]] Wave far_field(Index frame, Index mode) const {
    const Placement& at = state.placements[static_cast<std::size_t>(frame)];
    Wave wave = shifted(state.probe, mode, at);
    const auto object = state.object.view<complex128, 3>();
    for (Index s = 0; s < slices; ++s) {
      if (s > 0) {
        wave = naive_fourier(wave, rows, cols, -1);
        for (Index i = 0; i < pixels(); ++i)
          wave[static_cast<std::size_t>(i)] *= propagators.view<complex128, 3>().data[(s - 1) * pixels() + i];
        wave = naive_fourier(wave, rows, cols, +1);
      }
      for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < cols; ++c)
          wave[static_cast<std::size_t>(r * cols + c)] *= object(s, at.row + r, at.col + c);
    }
    return naive_fourier(wave, rows, cols, -1);
  }

  /// Mean counts per frame, over measured pixels.
  [[nodiscard]] double mean_counts() const {
    double sum = 0;
    const auto counts = frames.view<double, 3>();
    for (Index j = 0; j < counts.extent[0]; ++j)
      for (Index i = 0; i < pixels(); ++i)
        if (mask.empty() || mask[static_cast<std::size_t>(i)] != 0) sum += counts.data[j * pixels() + i];
    return sum / static_cast<double>(counts.extent[0]);
  }

  /// The sum of the loss over all frames, as docs/ptycho-theory.md writes it (losses).
  [[nodiscard]] double loss(Loss which) const {
    const double eps = 1e-10 * mean_counts();
    double sum = 0;
    for (Index j = 0; j < frames.shape()[0]; ++j) {
      std::vector<double> intensity(static_cast<std::size_t>(pixels()));
      for (Index m = 0; m < modes; ++m) {
        const Wave wave = far_field(j, m);
        for (std::size_t i = 0; i < wave.size(); ++i) intensity[i] += std::norm(wave[i]);
      }
      for (std::size_t i = 0; i < intensity.size(); ++i) {
        if (!mask.empty() && mask[i] == 0) continue;
        const double model = intensity[i];
        const double counts = frames.view<double, 3>().data[j * pixels() + static_cast<Index>(i)];
        switch (which) {
          case Loss::amplitude:
            sum += std::pow(std::sqrt(model + eps) - std::sqrt(counts), 2);
            break;
          case Loss::anscombe:
            sum += std::pow(std::sqrt(model + 0.375) - std::sqrt(counts + 0.375), 2);
            break;
          case Loss::poisson:
            sum += model - counts * std::log(model + eps);
            break;
          case Loss::intensity:
            sum += std::pow(model - counts, 2) / (counts + 1);
            break;
        }
      }
    }
    return sum;
  }
};

}  // namespace sonde::ptycho::testing
