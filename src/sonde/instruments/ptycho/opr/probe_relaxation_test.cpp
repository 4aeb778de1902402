// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/opr/probe_relaxation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numbers>

#include "sonde/instruments/ptycho/engines/test_bench.h"

namespace sonde::ptycho {
namespace {

using testing::Bench;
using testing::everyone;
using testing::Scene;
using testing::Wave;
using Complex = std::complex<double>;

/// A scene with `components` random ones, whose weights have the size `size`.
Scene varied(Scene scene, Index components, double size) {
  scene.build();
  make_opr_room(scene.state, components);
  std::mt19937 generator(4);
  std::normal_distribution<double> normal(0, 1);
  const auto fill = [&](Array& array, double scale) {
    auto* to = static_cast<Complex*>(array.data());
    for (Index i = 0; i < array.count(); ++i) to[i] = scale * Complex(normal(generator), normal(generator));
  };
  fill(scene.state.opr_modes, 1);
  fill(scene.state.opr_weights, size);
  return scene;
}

/// The far field of a frame with P + sum_l u_jl E_l in place of P.
Wave far_field(Scene& scene, Index frame, Index mode) {
  Complex* probe = scene.state.probe.view<complex128, 3>().data;
  const Complex* component = scene.state.opr_modes.view<complex128, 3>().data;
  const std::vector<Complex> kept(probe, probe + scene.pixels());
  const Index components = scene.state.opr_modes.shape()[0];
  for (Index l = 0; l < components; ++l)
    for (Index i = 0; i < scene.pixels(); ++i)
      probe[i] += scene.state.opr_weights.view<complex128, 2>()(frame, l) * component[l * scene.pixels() + i];
  Wave wave = scene.far_field(frame, mode);
  std::copy(kept.begin(), kept.end(), probe);
  return wave;
}

double intensity(Scene& scene, Index frame, Index pixel) {
  double sum = 0;
  for (Index m = 0; m < scene.modes; ++m) sum += std::norm(far_field(scene, frame, m)[static_cast<std::size_t>(pixel)]);
  return sum;
}

/// Frames that the scene explains exactly.
void expose(Scene& scene) {
  for (const Index j : everyone) {
    double* frame = scene.frames.view<double, 3>().data + j * scene.pixels();
    std::fill_n(frame, scene.pixels(), 0.0);
    for (Index m = 0; m < scene.modes; ++m) {
      const Wave wave = far_field(scene, j, m);
      for (Index i = 0; i < scene.pixels(); ++i) frame[i] += std::norm(wave[static_cast<std::size_t>(i)]);
    }
  }
}

class VaryingProbe : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(BetweenPixels, VaryingProbe, ::testing::Bool());

TEST_P(VaryingProbe, IsWhatAFrameSees) {
  Scene scene = varied({.slices = 2, .modes = 2, .fractional = GetParam()}, 2, 0.5);
  std::vector<double> expected;
  for (const Index j : everyone) {
    double loss = 0;
    for (Index i = 0; i < scene.pixels(); ++i)
      loss += std::pow(
          std::sqrt(intensity(scene, j, i)) - std::sqrt(scene.frames.view<double, 3>().data[j * scene.pixels() + i]),
          2);
    expected.push_back(loss);
  }
  Bench bench(std::move(scene));
  bench.workbench.pass().compare(bench.scene.state, bench.workbench.spectrum(), everyone, bench.workbench.fit());
  // eps moves amplitudes by 1e-5 where there is no light; elsewhere this is rounding.
  for (const Index j : everyone) {
    const auto frame = static_cast<std::size_t>(j);
    EXPECT_NEAR(bench.workbench.fit()[frame].amplitude_error2, expected[frame], 1e-10 * expected[frame]);
  }
}

TEST(ProbeRelaxation, FindsWhatVariesWhenAllElseIsKnown) {
  Scene scene = varied({.fractional = true}, 1, 0.4);
  // No mean, as that would be part of P, and all of one size: none is an outlier.
  const auto weights = scene.state.opr_weights.view<complex128, 2>();
  for (const Index j : everyone) weights(j, 0) = std::polar(0.4, 2 * std::numbers::pi * static_cast<double>(j) / 5);
  expose(scene);
  scene.state.opr_modes = {};
  scene.state.opr_weights = {};
  Bench bench(std::move(scene));
  ProbeRelaxation<double> relaxation({.modes = 1, .relax = 0.8}, bench.workbench);
  const auto misfit = [&] {
    bench.workbench.pass().compare(bench.scene.state, bench.workbench.spectrum(), everyone, bench.workbench.fit());
    double sum = 0;
    for (const FrameSums& fit : bench.workbench.fit()) sum += fit.amplitude_error2;
    return sum;
  };
  const double before = misfit();
  for (int round = 0; round < 200; ++round) relaxation.relax(bench.workbench);
  EXPECT_LT(misfit(), 0.01 * before);
}

/// Whether a weight of this component lies where outliers are cut, 1.5 times the fourth of five.
bool is_cut(const State& state, Index component) {
  const auto u = state.opr_weights.view<complex128, 2>();
  std::vector<double> sizes;
  for (const Index j : everyone) sizes.push_back(std::abs(u(j, component)));
  std::sort(sizes.begin(), sizes.end());
  return sizes[4] > 1.4999 * sizes[3];
}

class Components : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(OfConstantPower, Components, ::testing::Bool());

TEST_P(Components, AreOrthonormalWithUncorrelatedWeightsStrongestFirst) {
  Bench bench({.modes = 2, .fractional = true});
  ProbeRelaxation<double> relaxation({.modes = 2, .constant_power = GetParam()}, bench.workbench);
  const State& state = bench.scene.state;
  // Cutting outliers spoils what the decomposition leaves: look at a round in which none was.
  int round = 0;
  do relaxation.relax(bench.workbench);
  while (++round < 3 || (round < 40 && (is_cut(state, 0) || is_cut(state, 1))));
  ASSERT_LT(round, 40);
  const Index pixels = bench.scene.pixels();
  const Complex* e = state.opr_modes.view<complex128, 3>().data;
  const auto product = [&](const Complex* a, const Complex* b) {
    Complex sum = 0;
    for (Index i = 0; i < pixels; ++i) sum += std::conj(a[i]) * b[i];
    return sum;
  };
  // Rounding of 48 products of order one.
  EXPECT_NEAR(std::abs(product(e, e)), 1, 1e-12);
  EXPECT_NEAR(std::abs(product(e + pixels, e + pixels)), 1, 1e-12);
  EXPECT_NEAR(std::abs(product(e, e + pixels)), 0, 1e-12);
  const auto u = state.opr_weights.view<complex128, 2>();
  Complex mean[2] = {}, correlation = 0;
  double power[2] = {};
  for (const Index j : everyone) {
    for (Index l = 0; l < 2; ++l) {
      mean[l] += u(j, l) / 5.0;
      power[l] += std::norm(u(j, l));
    }
    correlation += std::conj(u(j, 0)) * u(j, 1);
  }
  EXPECT_GT(power[0], power[1]);
  EXPECT_GT(power[1], 0);
  EXPECT_LT(std::abs(mean[0]) + std::abs(mean[1]), 1e-12 * std::sqrt(power[0]));
  EXPECT_LT(std::abs(correlation), 1e-12 * power[0]);
}

/// The probe of a frame has the power |P|^2 + 2 Re <P, uE> + |u|^2: without the middle term to first order.
TEST(ProbeRelaxation, OfConstantPowerIsOrthogonalToTheProbe) {
  const auto overlap = [](bool constant_power) {
    Bench bench({.fractional = true});
    ProbeRelaxation<double> relaxation({.modes = 1, .relax = 0.1, .constant_power = constant_power}, bench.workbench);
    for (int round = 0; round < 4; ++round) relaxation.relax(bench.workbench);
    const Index pixels = bench.scene.pixels();
    const Complex* e = bench.scene.state.opr_modes.view<complex128, 3>().data;
    const Complex* p = bench.scene.state.probe.view<complex128, 3>().data;
    Complex sum = 0;
    double power = 0;
    for (Index i = 0; i < pixels; ++i) {
      sum += std::conj(p[i]) * e[i];
      power += std::norm(p[i]);
    }
    return std::abs(sum) / std::sqrt(power);
  };
  // P has moved by the mean of the weights since E was made orthogonal to it.
  EXPECT_LT(overlap(true), 0.02);
  EXPECT_GT(overlap(false), 0.05);
}

TEST(ProbeRelaxation, HasTheSameBitsOnEveryNumberOfThreads) {
  std::vector<Array> modes, weights;
  for (const int threads : {1, 2, 4}) {
    set_thread_count(threads);
    Bench bench({.slices = 2, .modes = 2, .fractional = true});
    ProbeRelaxation<double> relaxation({.modes = 2}, bench.workbench);
    for (int round = 0; round < 3; ++round) relaxation.relax(bench.workbench);
    modes.push_back(bench.scene.state.opr_modes.clone());
    weights.push_back(bench.scene.state.opr_weights.clone());
  }
  set_thread_count(0);
  for (std::size_t i = 1; i < modes.size(); ++i) {
    EXPECT_EQ(std::memcmp(modes[i].data(), modes[0].data(), modes[0].allocated_bytes()), 0);
    EXPECT_EQ(std::memcmp(weights[i].data(), weights[0].data(), weights[0].allocated_bytes()), 0);
  }
}

TEST(ProbeRelaxation, FramesThatTakeNoPartLieBetweenTheirNeighbours) {
  Scene scene;
  scene.build();
  const Measurement measurement(scene.frames, ZeroFrequency::corner, {}, AmplitudeStorage::f64);
  const Model<double> model(measurement, 1, 1, {}, Loss::amplitude, FftEffort::quick);
  Workbench<double> workbench(model, scene.state, {1, 2, 4}, 1);
  ProbeRelaxation<double> relaxation({.modes = 1}, workbench);
  for (int round = 0; round < 3; ++round) relaxation.relax(workbench);
  const auto u = scene.state.opr_weights.view<complex128, 2>();
  EXPECT_GT(std::abs(u(1, 0)), 0);
  EXPECT_EQ(u(0, 0), u(1, 0));
  EXPECT_LT(std::abs(u(3, 0) - 0.5 * (u(2, 0) + u(4, 0))), 1e-15 * std::abs(u(3, 0)) + 1e-300);
}

}  // namespace
}  // namespace sonde::ptycho
