// SPDX-License-Identifier: Apache-2.0
// Derivatives of the losses against central differences of the losses written out naively.
#include <gtest/gtest.h>

#include <functional>

#include "sonde/instruments/ptycho/model/batch_pass.h"
#include "sonde/instruments/ptycho/model/test_scene.h"

namespace sonde::ptycho {
namespace {

using testing::Scene;

/// (L(x + h) - L(x - h)) / 2 h with x one real number of the scene.
double difference(
    Scene& scene, Loss loss, double& x, const std::function<void()>& changed = [] {}) {
  const double h = 1e-5, before = x;
  x = before + h;
  changed();
  const double above = scene.loss(loss);
  x = before - h;
  changed();
  const double below = scene.loss(loss);
  x = before;
  changed();
  return (above - below) / (2 * h);
}

/// Central differences of step 1e-5 err by h^2 L''' and by rounding of L (about 1e3) over h: 1e-8 of the largest
/// derivative or so; 1e-6 is asked for.
constexpr double relative = 1e-6;

struct Case {
  const char* name;
  Index slices, modes;
  bool fractional, masked;
  ObjectType type;
  bool real_gaps = false;
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

class Gradient : public ::testing::TestWithParam<std::tuple<Case, Loss>> {};

TEST_P(Gradient, IsThatOfTheLoss) {
  const auto& [c, loss] = GetParam();
  Scene scene{.slices = c.slices,
              .modes = c.modes,
              .fractional = c.fractional,
              .masked = c.masked,
              .type = c.type,
              .real_gaps = c.real_gaps};
  scene.build();
  const Measurement measurement(scene.frames, ZeroFrequency::corner, scene.mask, AmplitudeStorage::f64);
  const Model<double> model(measurement, c.slices, c.modes, scene.propagators, loss, FftEffort::quick);
  Array spectrum;
  if (scene.state.fractional()) {
    spectrum = Array(Device::cpu(), scene.state.probe.shape(), DType::c128);
    probe_spectrum(model, scene.state.probe, spectrum);
  }
  BatchPass<double> pass(model, {.most = 3, .least_members = 1});
  BatchSums sums;
  std::vector<FrameSums> fit(5);
  pass.run(scene.state, spectrum, std::vector<Index>{0, 1, 2, 3, 4}, {}, sums, fit);

  // dL/dconj(O) = (dL/dRe + i dL/dIm) / 2, and the sums are minus that.
  const auto check = [&](const char* what, std::complex<double>& x, std::complex<double> minus_gradient, double scale) {
    auto* parts = reinterpret_cast<double*>(&x);
    EXPECT_NEAR(difference(scene, loss, parts[0]), -2 * minus_gradient.real(), relative * scale) << what;
    EXPECT_NEAR(difference(scene, loss, parts[1]), -2 * minus_gradient.imag(), relative * scale) << what;
  };
  const auto largest = [](const Array& array) {
    double most = 0;
    for (Index i = 0; i < array.count(); ++i) most = std::max(most, 2 * std::abs(array.view<complex128, 3>().data[i]));
    return most;
  };
  const auto of_object = sums.object.view<complex128, 3>();
  const double object_scale = largest(sums.object), probe_scale = largest(sums.probe);
  ASSERT_GT(object_scale, 0.1);
  for (Index i = 0; i < of_object.count(); i += 11) {
    if (c.type == ObjectType::complex) {
      check("object", scene.state.object.view<complex128, 3>().data[i], of_object.data[i], object_scale);
      continue;
    }
    // dL/dphi = 2 Im(conj(O) dL/dconj(O)).
    const std::complex<double> o = scene.state.object.view<complex128, 3>().data[i];
    EXPECT_NEAR(
        difference(scene, loss, scene.state.phase.view<double, 3>().data[i], [&] { scene.state.follow_phase(); }),
        -2 * std::imag(std::conj(o) * of_object.data[i]), relative * object_scale);
  }
  for (Index i = 0; i < sums.probe.count(); i += 7)
    check("probe", scene.state.probe.view<complex128, 3>().data[i], sums.probe.view<complex128, 3>().data[i],
          probe_scale);

  // And the loss itself, up to the constant that does not depend on the model.
  if (loss != Loss::poisson) {
    double total = 0;
    for (const FrameSums& frame : fit) total += frame.loss;
    EXPECT_NEAR(total, scene.loss(loss), 1e-10 * total);
  }
}

INSTANTIATE_TEST_SUITE_P(
    OfEvery, Gradient,
    ::testing::Combine(::testing::Values(Case{"single", 1, 1, false, false, ObjectType::complex},
                                         Case{"shifted_masked_modes", 1, 2, true, true, ObjectType::complex},
                                         Case{"potential", 1, 2, true, false, ObjectType::potential},
                                         Case{"three_slices", 3, 2, true, true, ObjectType::complex},
                                         Case{"tilted_slices", 3, 1, true, false, ObjectType::complex, true},
                                         Case{"potential_slices", 2, 1, false, true, ObjectType::potential}),
                       ::testing::Values(Loss::amplitude, Loss::anscombe, Loss::poisson, Loss::intensity)),
    [](const auto& tested) {
      return std::string(std::get<0>(tested.param).name) + "_" + std::string(name(std::get<1>(tested.param)));
    });

/// `array` in the precision of Real.
template <class Real>
Array rounded(const Array& array) {
  Array to(Device::cpu(), array.shape(), dtype_of<std::complex<Real>>);
  for (Index i = 0; i < array.count(); ++i)
    static_cast<std::complex<Real>*>(to.data())[i] =
        std::complex<Real>(static_cast<const complex128*>(array.data())[i]);
  return to;
}

/// |<A x, y> - <x, A* y>| / |<A x, y>| for the map from changes of object and probe to exit waves, A x = P dO + dP O: A
/// by the naive shift in double precision, its adjoint, which is what the engines sum, in that of Real.
template <class Real>
double adjoint_mismatch() {
  Scene scene{.modes = 2, .fractional = true};
  scene.build();
  std::mt19937 generator(7);
  std::normal_distribution<double> normal;
  const auto random = [&](const Shape& shape) {
    Array array(Device::cpu(), shape, DType::c128);
    for (Index i = 0; i < array.count(); ++i)
      static_cast<complex128*>(array.data())[i] = {normal(generator), normal(generator)};
    return array;
  };
  Array object_change = random(scene.state.object.shape()), probe_change = random(scene.state.probe.shape());
  const Array waves = random(Shape{5, 2, scene.rows, scene.cols});
  const auto* y = static_cast<const complex128*>(waves.data());

  std::complex<double> forward = 0;
  const auto object = scene.state.object.view<complex128, 3>(), change = object_change.view<complex128, 3>();
  for (Index j = 0; j < 5; ++j) {
    const Placement& at = scene.state.placements[static_cast<std::size_t>(j)];
    for (Index m = 0; m < 2; ++m) {
      const auto probe = scene.shifted(scene.state.probe, m, at);
      const auto step = scene.shifted(probe_change, m, at);
      for (Index i = 0; i < scene.pixels(); ++i) {
        const Index r = at.row + i / scene.cols, c = at.col + i % scene.cols;
        const auto ax =
            probe[static_cast<std::size_t>(i)] * change(0, r, c) + step[static_cast<std::size_t>(i)] * object(0, r, c);
        forward += std::conj(ax) * y[(j * 2 + m) * scene.pixels() + i];
      }
    }
  }

  State state = scene.state.clone();
  state.object = rounded<Real>(scene.state.object);
  state.probe = rounded<Real>(scene.state.probe);
  const Measurement measurement(scene.frames, ZeroFrequency::corner, {}, AmplitudeStorage::f64);
  const Model<Real> model(measurement, 1, 2, {}, Loss::amplitude, FftEffort::quick);
  Array spectrum(Device::cpu(), state.probe.shape(), state.probe.dtype());
  probe_spectrum(model, state.probe, spectrum);
  BatchPass<Real> pass(model, {.most = 2, .least_members = 1});
  BatchSums sums;
  const Array measured = rounded<Real>(waves);
  const auto* chi = static_cast<const std::complex<Real>*>(measured.data());
  pass.run(state, std::vector<Index>{0, 1, 2, 3, 4}, {}, sums, [&](Index frame, Exposure<Real>& exposure) {
    exposure.aim(state, spectrum, frame);
    std::copy(chi + frame * 2 * scene.pixels(), chi + (frame + 1) * 2 * scene.pixels(), exposure.waves());
  });
  std::complex<double> back = 0;
  const auto add = [&](const Array& x, const Array& sum) {
    for (Index i = 0; i < x.count(); ++i)
      back += std::conj(static_cast<const complex128*>(x.data())[i]) *
              std::complex<double>(static_cast<const std::complex<Real>*>(sum.data())[i]);
  };
  add(object_change, sums.object);
  add(probe_change, sums.probe);
  return std::abs(forward - back) / std::abs(forward);
}

TEST(Adjoint, OfProbeAndObjectIsExactToRounding) {
  // Rounding of some hundred products of order one; 1e-12 and 1e-5 are asked for.
  EXPECT_LT(adjoint_mismatch<double>(), 1e-12);
  EXPECT_LT(adjoint_mismatch<float>(), 1e-5);
}

}  // namespace
}  // namespace sonde::ptycho
