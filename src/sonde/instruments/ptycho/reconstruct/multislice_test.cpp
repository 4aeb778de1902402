// SPDX-License-Identifier: Apache-2.0
// Two layers are separated, with frames from a double-precision loop of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "sonde/engine/math/fft.h"
#include "sonde/instruments/ptycho/engines/pie.h"
#include "sonde/instruments/ptycho/optics/probe.h"
#include "sonde/instruments/ptycho/optics/propagate.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"

namespace sonde::ptycho {
namespace {

constexpr Index n = 64, scan = 18, step = 3, side = 132;
constexpr double counts = 1e6, thickness = 100;

Sampling sampling() { return electron_sampling(n, n, 200, 75.0 / 32); }

/// A square lattice of Gaussian atoms, turned, with random displacements: phase in rad.
std::vector<double> layer(double spacing, double turn, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> displacement(0, 0.1 / std::sqrt(2.0));
  const double pixel = sampling().pixel_row(), sigma = 0.4, width = side * pixel;
  std::vector<double> phase(side * side);
  const int reach = static_cast<int>(width / spacing) + 2;
  for (int a = -reach; a <= reach; ++a)
    for (int b = -reach; b <= reach; ++b) {
      const double y = width / 2 + spacing * (a * std::cos(turn) - b * std::sin(turn)) + displacement(generator);
      const double x = width / 2 + spacing * (a * std::sin(turn) + b * std::cos(turn)) + displacement(generator);
      for (Index r = 0; r < side; ++r)
        for (Index c = 0; c < side; ++c) {
          const double d2 =
              std::pow(static_cast<double>(r) * pixel - y, 2) + std::pow(static_cast<double>(c) * pixel - x, 2);
          if (d2 < 36 * sigma * sigma)
            phase[static_cast<std::size_t>(r * side + c)] += 0.5 * std::exp(-d2 / (2 * sigma * sigma));
        }
    }
  return phase;
}

Array start_probe() {
  ApertureOptics optics;
  optics.semiangle = 0.030;
  optics.aberrations.set("C10", -50);
  Array probe = aperture_probe(sampling(), optics);
  scale_to_counts(probe, counts);
  return probe;
}

std::vector<Point> places() {
  std::mt19937 generator(11);
  std::uniform_int_distribution<int> jitter(-1, 1);
  std::vector<Point> points;
  for (Index row = 0; row < scan; ++row)
    for (Index col = 0; col < scan; ++col)
      points.push_back({static_cast<double>(n / 2 + 5 + step * row + jitter(generator)),
                        static_cast<double>(n / 2 + 5 + step * col + jitter(generator))});
  return points;
}

/// |F[ F^-1[ H F[ P O1 ] ] O2 ]|^2, zero frequency at [0, 0].
Array frames_of(const std::vector<std::vector<double>>& layers, const Array& gap) {
  const Array start = start_probe();
  const auto probe = start.view<complex128, 3>();
  const auto* multiplier = static_cast<const complex128*>(gap.data());
  const auto fft = Fft2d<double>::prepare({.rows = n, .cols = n});
  const std::vector<Point> points = places();
  Array frames(Device::cpu(), Shape{static_cast<Index>(points.size()), n, n}, DType::f64);
  std::vector<complex128> wave(n * n);
  for (std::size_t j = 0; j < points.size(); ++j) {
    const Index top = static_cast<Index>(points[j].row) - n / 2, left = static_cast<Index>(points[j].col) - n / 2;
    for (std::size_t s = 0; s < layers.size(); ++s) {
      if (s > 0) {
        fft.transform(wave.data(), FftDirection::forward);
        for (Index i = 0; i < n * n; ++i)
          wave[static_cast<std::size_t>(i)] *= multiplier[i] / static_cast<double>(n * n);
        fft.transform(wave.data(), FftDirection::inverse);
      }
      for (Index i = 0; i < n * n; ++i) {
        const Index at = (top + i / n) * side + left + i % n;
        complex128& w = wave[static_cast<std::size_t>(i)];
        w = (s == 0 ? probe.data[i] : w) * std::polar(1.0, layers[s][static_cast<std::size_t>(at)]);
      }
    }
    fft.transform(wave.data(), FftDirection::forward);
    for (Index i = 0; i < n * n; ++i)
      frames.view<double, 3>().data[static_cast<Index>(j) * n * n + i] =
          std::norm(wave[static_cast<std::size_t>(i)]) / (n * n);
  }
  return frames;
}

/// Of what two phase maps have beside a mean and a ramp, in the field of view.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr Index first = n / 2 + 5, last = n / 2 + 5 + step * (scan - 1);
  const auto flat = [&](const std::vector<double>& map) {
    std::vector<double> values;
    double sum = 0, sy = 0, sx = 0, yy = 0;
    constexpr double middle = (first + last) / 2.0;
    for (Index r = first; r <= last; ++r)
      for (Index c = first; c <= last; ++c) {
        const double v = map[static_cast<std::size_t>(r * side + c)], y = static_cast<double>(r) - middle,
                     x = static_cast<double>(c) - middle;
        values.push_back(v);
        sum += v;
        sy += v * y;
        sx += v * x;
        yy += y * y;
      }
    std::size_t i = 0;
    for (Index r = first; r <= last; ++r)
      for (Index c = first; c <= last; ++c, ++i)
        values[i] -= sum / static_cast<double>(values.size()) + sy / yy * (static_cast<double>(r) - middle) +
                     sx / yy * (static_cast<double>(c) - middle);
    return values;
  };
  const std::vector<double> x = flat(a), y = flat(b);
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += x[i] * y[i];
    xx += x[i] * x[i];
    yy += y[i] * y[i];
  }
  return xy / std::sqrt(xx * yy);
}

TEST(Multislice, TwoLayersAreToldApart) {
  const std::vector<std::vector<double>> layers{layer(4.0, 0.1, 1), layer(3.3, 0.6, 2)};
  const Array gap = propagator(sampling(), {.distance = thickness});
  const Measurement measurement(frames_of(layers, gap), ZeroFrequency::corner, {}, AmplitudeStorage::f32);

  const auto run = [&](Index slices) {
    State state;
    state.object = Array(Device::cpu(), Shape{slices, side, side}, DType::c64);
    std::fill_n(state.object.view<complex64, 3>().data, state.object.count(), complex64(1));
    const Array probe = start_probe();
    state.probe = Array(Device::cpu(), probe.shape(), DType::c64);
    for (Index i = 0; i < probe.count(); ++i)
      state.probe.view<complex64, 3>().data[i] = complex64(probe.view<complex128, 3>().data[i]);
    state.positions = places();
    state.placements = place_all(state.positions, state.window());
    Schedule schedule;
    PieSettings pie;
    pie.step_object = 0.3;
    schedule.engines.push_back({"epie", 100, std::make_shared<SetupOf<Pie, PieSettings>>(pie)});
    schedule.stop.rule = StopRule::off;
    schedule.holdout = 0.0;
    Array gaps(Device::cpu(), Shape{1, n, n}, DType::c128);
    std::copy_n(static_cast<const complex128*>(gap.data()), n * n, static_cast<complex128*>(gaps.data()));
    auto reconstruction = Reconstruction::prepare(measurement, std::move(state), std::move(gaps), std::move(schedule));
    while (reconstruction->outcome().kind == Outcome::Kind::running) reconstruction->iterate();
    return reconstruction;
  };
  const auto two = run(2);
  std::vector<std::vector<double>> found(2, std::vector<double>(side * side));
  for (Index s = 0; s < 2; ++s)
    for (Index i = 0; i < side * side; ++i)
      found[static_cast<std::size_t>(s)][static_cast<std::size_t>(i)] =
          std::arg(two->state().object.view<complex64, 3>().data[s * side * side + i]);
  // An independent program reached 0.999, 0.095 and a factor of 22 here.
  for (std::size_t s = 0; s < 2; ++s) {
    EXPECT_GT(correlation(found[s], layers[s]), 0.95) << s;
    EXPECT_LT(std::abs(correlation(found[s], layers[1 - s])), 0.2) << s;
  }
  const double r_two = two->history().back().fit.r_intensity, r_one = run(1)->history().back().fit.r_intensity;
  EXPECT_GT(r_one, 10 * r_two);
}

}  // namespace
}  // namespace sonde::ptycho
