// SPDX-License-Identifier: Apache-2.0
// The shift between the object before and after an update by only this frame.
#include <algorithm>
#include <cmath>

#include "sonde/instruments/ptycho/model/pattern_kernels.h"
#include "sonde/instruments/ptycho/positions/correct.h"
#include "sonde/instruments/ptycho/positions/shifts.h"

namespace sonde::ptycho {

/// With the frame at r + e instead of r its update draws what lies under it by -e.
template <class Real>
Point PositionCorrection<Real>::correlated(Workbench<Real>& bench, Index frame, Exposure<Real>& exposure,
                                           std::vector<Complex>& room) const {
  const Model<Real>& model = bench.model();
  const Index pixels = model.pixels(), rows = model.rows(), cols = model.cols();
  exposure.forward(bench.state(), bench.spectrum(), frame);
  exposure.residual(frame);
  exposure.back();
  const Complex *probe = exposure.incident(0), *chi = exposure.waves();
  const Real largest = cpu::largest_norm<Real>(probe, model.modes(), pixels);
  const auto window = exposure.window(0);
  // Both patches weighted with the light on them, less their mean: a constant has no shift.
  Complex *before = room.data(), *after = before + pixels;
  std::complex<double> sum_before = 0, sum_after = 0, sum_light = 0;
  std::vector<Real> light(static_cast<std::size_t>(pixels));
  for (Index i = 0; i < pixels; ++i) {
    const Complex o = window(i / cols, i % cols);
    Complex step{};
    Real norm = 0;
    for (Index m = 0; m < model.modes(); ++m) {
      step += std::conj(probe[m * pixels + i]) * chi[m * pixels + i];
      norm += std::norm(probe[m * pixels + i]);
    }
    light[static_cast<std::size_t>(i)] = std::sqrt(norm);
    before[i] = o;
    after[i] = o + step / largest;
    sum_before += std::complex<double>(before[i]) * static_cast<double>(std::sqrt(norm));
    sum_after += std::complex<double>(after[i]) * static_cast<double>(std::sqrt(norm));
    sum_light += static_cast<double>(std::sqrt(norm));
  }
  for (Index i = 0; i < pixels; ++i) {
    const Real w = light[static_cast<std::size_t>(i)];
    before[i] = w * (before[i] - Complex(sum_before / sum_light));
    after[i] = w * (after[i] - Complex(sum_after / sum_light));
  }
  model.fft().transform(before, FftDirection::forward);
  model.fft().transform(after, FftDirection::forward);
  for (Index i = 0; i < pixels; ++i) after[i] *= std::conj(before[i]);
  model.fft().transform(after, FftDirection::inverse);
  // The peak lies at zero or next to it; a parabola through the neighbours gives the part of a pixel.
  const auto value = [&](Index row, Index col) {
    return -static_cast<double>(std::abs(after[((row + rows) % rows) * cols + (col + cols) % cols]));
  };
  const Point shift{lowest(value(-1, 0), value(0, 0), value(1, 0)), lowest(value(0, -1), value(0, 0), value(0, 1))};
  const double gain = gain_.view<double, 1>()[0];
  return {-settings_.step * gain * shift.row, -settings_.step * gain * shift.col};
}

/// Corrections that go on in their direction may be larger, those that turn back were too large.
template <class Real>
void PositionCorrection<Real>::adapt_gain(const std::vector<Index>& frames, const std::vector<Point>& steps) {
  const auto last = last_steps_.view<double, 2>();
  double along = 0, now = 0, before = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    double &row = last(frames[i], 0), &col = last(frames[i], 1);
    along += steps[i].row * row + steps[i].col * col;
    now += steps[i].row * steps[i].row + steps[i].col * steps[i].col;
    before += row * row + col * col;
    row = steps[i].row;
    col = steps[i].col;
  }
  if (!(now > 0) || !(before > 0)) return;
  const double agreement = along / std::sqrt(now * before);
  double& gain = gain_.view<double, 1>()[0];
  if (agreement > 0.3) gain *= 1.1;
  if (agreement < -0.3) gain *= 0.9;
}

template Point PositionCorrection<float>::correlated(Workbench<float>&, Index, Exposure<float>&,
                                                     std::vector<std::complex<float>>&) const;
template Point PositionCorrection<double>::correlated(Workbench<double>&, Index, Exposure<double>&,
                                                      std::vector<std::complex<double>>&) const;
template void PositionCorrection<float>::adapt_gain(const std::vector<Index>&, const std::vector<Point>&);
template void PositionCorrection<double>::adapt_gain(const std::vector<Index>&, const std::vector<Point>&);

}  // namespace sonde::ptycho
