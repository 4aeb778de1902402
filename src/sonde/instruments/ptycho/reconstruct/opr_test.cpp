// SPDX-License-Identifier: Apache-2.0
// A probe that varies along the scan is found together with how it does.
#include <numbers>
#include <random>

#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"
#include "sonde/instruments/ptycho/reconstruct/test_v5.h"

namespace sonde::ptycho {
namespace {

using testing::V5;
using testing::v5_pixels;
using testing::v5_window;

constexpr double opr_counts = 1e6;

complex128 product(const complex128* a, const complex128* b) {
  complex128 sum = 0;
  for (Index i = 0; i < v5_pixels; ++i) sum += std::conj(a[i]) * b[i];
  return sum;
}

/// The lens with the set's defocus, and a component that is orthogonal to it: what its defocus changes by.
struct Truth {
  std::vector<complex128> probe, component;
  std::vector<double> weights;  // real, no mean

  explicit Truth(Index frames) {
    const Array middle = V5::probe_of(150), further = V5::probe_of(170);
    const auto* p = middle.view<complex128, 3>().data;
    const auto* q = further.view<complex128, 3>().data;
    const complex128 part = product(p, q);
    component.resize(v5_pixels);
    for (Index i = 0; i < v5_pixels; ++i) component[static_cast<std::size_t>(i)] = q[i] - part * p[i];
    const double size = std::sqrt(product(component.data(), component.data()).real());
    for (complex128& value : component) value /= size;
    for (Index i = 0; i < v5_pixels; ++i) probe.push_back(std::sqrt(opr_counts) * p[i]);
    // Three slow turns along the scan, up to 0.15 of the amplitude.
    for (Index j = 0; j < frames; ++j)
      weights.push_back(0.15 * std::sqrt(opr_counts) *
                        std::sin(6 * std::numbers::pi * (static_cast<double>(j) + 0.5) / static_cast<double>(frames)));
  }
};

/// Poisson counts of |F[(P + u_j E) O]|^2, zero frequency in the middle.
Array frames_of(const V5& set, const Truth& truth) {
  const auto phi = set.phase.view<double, 2>(), at = set.positions.view<double, 2>();
  const auto fft = Fft2d<double>::prepare({.rows = v5_window, .cols = v5_window});
  std::mt19937_64 generator(8);
  Array frames(Device::cpu(), Shape{at.extent[0], v5_window, v5_window}, DType::f64);
  std::vector<complex128> wave(v5_pixels);
  for (Index j = 0; j < at.extent[0]; ++j) {
    const auto top = static_cast<Index>(at(j, 0)) - v5_window / 2, left = static_cast<Index>(at(j, 1)) - v5_window / 2;
    for (Index i = 0; i < v5_pixels; ++i) {
      const auto k = static_cast<std::size_t>(i);
      wave[k] = (truth.probe[k] + truth.weights[static_cast<std::size_t>(j)] * truth.component[k]) *
                std::polar(1.0, phi(top + i / v5_window, left + i % v5_window));
    }
    fft.transform(wave.data(), FftDirection::forward);
    for (Index i = 0; i < v5_pixels; ++i) {
      const Index row = (i / v5_window + v5_window / 2) % v5_window, col = (i + v5_window / 2) % v5_window;
      const double mean = std::norm(wave[static_cast<std::size_t>(i)]) / static_cast<double>(v5_pixels);
      frames.view<double, 3>()(j, row, col) =
          mean > 0 ? static_cast<double>(std::poisson_distribution<Index>(mean)(generator)) : 0;
    }
  }
  return frames;
}

/// |<a, b>| / (|a| |b|).
double likeness(const std::vector<complex128>& a, const std::vector<complex128>& b) {
  complex128 ab = 0;
  double aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += std::conj(a[i]) * b[i];
    aa += std::norm(a[i]);
    bb += std::norm(b[i]);
  }
  return std::abs(ab) / std::sqrt(aa * bb);
}

TEST(VaryingProbe, IsFoundWithItsWeights) {
  SONDE_NEED_DATA(data);
  const V5 set(data, "exact");
  const Truth truth(set.positions.shape()[0]);
  const Measurement measurement(frames_of(set, truth), ZeroFrequency::centre, {}, AmplitudeStorage::f32);
  const auto run = [&](const char* engine, Index modes, Index iterations) {
    std::shared_ptr<EngineSetup> setup = engine_kind(engine).setup();
    Fields fields;
    setup->describe(fields);
    if (fields.find("step_object") != nullptr) {
      fields.assign_text("step_object", "0.1", "test");
      fields.assign_text("step_probe", "0.1", "test");
    }
    Schedule schedule;
    schedule.engines.push_back({engine, iterations, setup});
    schedule.stop.rule = StopRule::off;
    schedule.holdout = 0.0;
    schedule.opr.modes = modes;
    auto reconstruction =
        Reconstruction::prepare(measurement, set.start<float>(measurement.mean_counts()), {}, std::move(schedule));
    while (reconstruction->outcome().kind == Outcome::Kind::running) reconstruction->iterate();
    return reconstruction;
  };
  double simulated = 0;
  for (const double weight : truth.weights)
    simulated += weight * weight / opr_counts / static_cast<double>(truth.weights.size());
  EXPECT_NEAR(simulated, 0.01125, 1e-5);  // 0.15^2 / 2
  for (const auto& [engine, iterations] : {std::pair<const char*, Index>{"gd", 160}, {"epie", 60}}) {
    SCOPED_TRACE(engine);
    const auto one = run(engine, 0, 60), own = run(engine, 1, iterations);
    const double floor = r_intensity_floor(own->counts());
    EXPECT_GT(one->history().back().fit.r_intensity, 4 * floor);
    // 60 iterations are not the end: R_I / floor still falls, and the share still grows. After 160 it moves by 3 % in
    // 40 more; a tenth leaves room for other noise.
    EXPECT_LT(own->history()[59].fit.r_intensity, 1.25 * floor);
    EXPECT_GT(own->history()[59].opr_share, 0.5 * simulated);
    if (iterations == 160) {
      EXPECT_NEAR(own->history().back().opr_share, simulated, 0.1 * simulated);
    }
    const State& state = own->state();
    const auto* e = state.opr_modes.view<const complex64, 3>().data;
    std::vector<complex128> component(e, e + v5_pixels), weights, expected;
    const auto u = state.opr_weights.view<const complex64, 2>();
    for (Index j = 0; j < u.extent[0]; ++j) {
      weights.emplace_back(u(j, 0));
      expected.emplace_back(truth.weights[static_cast<std::size_t>(j)]);
    }
    EXPECT_GT(likeness(component, truth.component), 0.85);
    EXPECT_GT(likeness(weights, expected), 0.95);
    EXPECT_LT(set.phase_rmse<float>(state), 0.7 * set.phase_rmse<float>(one->state()));
  }
}

}  // namespace
}  // namespace sonde::ptycho
