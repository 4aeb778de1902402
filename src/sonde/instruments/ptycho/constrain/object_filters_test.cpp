// SPDX-License-Identifier: Apache-2.0
// Filters of the object, against sums written out and plane waves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/instruments/ptycho/constrain/test_constrain.h"
#include "sonde/instruments/ptycho/model/test_scene.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using testing::apply;
using testing::built;
using testing::elements;
using ::testing::HasSubstr;
using testing::Scene;
using testing::table;

/// Oblong pixels: 0.5 A along rows, 0.8 A along columns.
Sampling oblong() {
  Sampling sampling = pixel_sampling(6, 8);
  sampling.dk_row = 1 / (6 * 0.5);
  sampling.dk_col = 1 / (8 * 0.8);
  return sampling;
}

struct ObjectFilters : ::testing::Test {
  Scene complex = built({});
  Scene potential = built({.type = ObjectType::potential});
  ConstraintContext context{.sampling = oblong(), .mean_counts = 1};
};

TEST_F(ObjectFilters, GaussianIsTheWeightedMeanOfAllPixels) {
  const auto before = elements<complex128>(complex.state.object);
  apply("gaussian", table({{"sigma", Value(0.7)}}), context, complex.state);
  const auto after = complex.state.object.view<complex128, 3>();
  for (Index row = 0; row < 13; ++row)
    for (Index col = 0; col < 14; ++col) {
      complex128 sum = 0;
      double weights = 0;
      for (Index r = 0; r < 13; ++r)
        for (Index c = 0; c < 14; ++c) {
          const double y = 0.5 * static_cast<double>(r - row), x = 0.8 * static_cast<double>(c - col);
          const double weight = std::exp(-(y * y + x * x) / (2 * 0.7 * 0.7));
          sum += weight * before[static_cast<std::size_t>(r * 14 + c)];
          weights += weight;
        }
      // Weights beyond four standard deviations, 6e-5 of the whole in either direction, are left out.
      EXPECT_LT(std::abs(after(0, row, col) - sum / weights), 1.2e-4 * 2);
    }
}

TEST_F(ObjectFilters, GaussianLeavesAConstantAlone) {
  const auto phase = potential.state.phase.view<double, 3>();
  std::fill(phase.data, phase.data + phase.count(), 0.7);
  apply("gaussian", table({{"sigma", Value(3.0)}}), context, potential.state);
  for (const double value : elements<double>(potential.state.phase)) EXPECT_NEAR(value, 0.7, 1e-14);
}

/// 0.3 + cos(2 pi (2 row / 13 + col / 14)), and the frequency of the wave in 1/A.
double wave(Index row, Index col) {
  return std::cos(2 * std::numbers::pi * (2 * static_cast<double>(row) / 13 + static_cast<double>(col) / 14));
}
const double wave_k = std::hypot(2 / (13 * 0.5), 1 / (14 * 0.8));

void fill_with_wave(Scene& scene) {
  const auto phase = scene.state.phase.view<double, 3>();
  for (Index row = 0; row < 13; ++row)
    for (Index col = 0; col < 14; ++col) phase(0, row, col) = 0.3 + wave(row, col);
}

void expect_wave_times(const Scene& scene, double factor) {
  const auto phase = scene.state.phase.view<double, 3>();
  for (Index row = 0; row < 13; ++row)
    for (Index col = 0; col < 14; ++col) EXPECT_NEAR(phase(0, row, col), 0.3 + factor * wave(row, col), 1e-14);
}

TEST_F(ObjectFilters, ButterworthLowPassScalesAWaveAndKeepsTheMean) {
  fill_with_wave(potential);
  apply("butterworth", table({{"low_pass", Value(0.4)}, {"order", Value(3)}}), context, potential.state);
  expect_wave_times(potential, 1 / (1 + std::pow(wave_k / 0.4, 6)));
}

TEST_F(ObjectFilters, ButterworthHighPassScalesAWaveAndKeepsTheMean) {
  fill_with_wave(potential);
  apply("butterworth", table({{"high_pass", Value(0.25)}}), context, potential.state);
  expect_wave_times(potential, 1 - 1 / (1 + std::pow(wave_k / 0.25, 4)));
}

TEST_F(ObjectFilters, ButterworthActsOnATransmissionAsOnItsParts) {
  Scene real = built({.type = ObjectType::potential}), imaginary = built({.type = ObjectType::potential});
  const auto o = complex.state.object.view<complex128, 3>();
  for (Index i = 0; i < o.count(); ++i) {
    real.state.phase.view<double, 3>().data[i] = o.data[i].real();
    imaginary.state.phase.view<double, 3>().data[i] = o.data[i].imag();
  }
  for (Scene* scene : {&complex, &real, &imaginary})
    apply("butterworth", table({{"low_pass", Value(0.5)}, {"high_pass", Value(0.1)}}), context, scene->state);
  for (Index i = 0; i < o.count(); ++i) {
    EXPECT_NEAR(o.data[i].real(), (real.state.phase.view<double, 3>().data[i]), 1e-14);
    EXPECT_NEAR(o.data[i].imag(), (imaginary.state.phase.view<double, 3>().data[i]), 1e-14);
  }
}

TEST_F(ObjectFilters, FiltersWithoutWidthOrFrequencyAreRefused) {
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { apply("gaussian", Value::object(), context, complex.state); }),
              HasSubstr("gaussian: sigma is 0; expected a width above 0\nhint: give sigma, in A"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { apply("butterworth", Value::object(), context, complex.state); }),
              HasSubstr("without a frequency passes all\nhint: give low_pass or high_pass"));
}

double fold(Index i, Index n) { return static_cast<double>(2 * i < n ? i : i - n) / static_cast<double>(n); }

/// The filter as docs/ptycho-theory.md writes it, on a stack (depth, rows, cols): direct sums in three dimensions.
std::vector<complex128> naive_kz(const std::vector<complex128>& stack, Index depth, Index rows, Index cols, double beta,
                                 double thickness) {
  const double pixel = std::sqrt(0.5 * 0.8), g = beta * thickness / pixel;
  const Index count = depth * rows * cols;
  const auto turn = [&](Index at, Index k) {
    const Index s = at / (rows * cols), r = at / cols % rows, c = at % cols;
    const Index ks = k / (rows * cols), kr = k / cols % rows, kc = k % cols;
    return 2 * std::numbers::pi *
           (static_cast<double>(s * ks) / static_cast<double>(depth) +
            static_cast<double>(r * kr) / static_cast<double>(rows) +
            static_cast<double>(c * kc) / static_cast<double>(cols));
  };
  std::vector<complex128> result(stack.size());
  for (Index k = 0; k < count; ++k) {
    complex128 sum = 0;
    for (Index i = 0; i < count; ++i) sum += stack[static_cast<std::size_t>(i)] * std::polar(1.0, -turn(i, k));
    const double kz = fold(k / (rows * cols), depth) / thickness;
    const double ky = fold(k / cols % rows, rows) / 0.5, kx = fold(k % cols, cols) / 0.8;
    const double w = k == 0 ? 1 : 1 - 2 / std::numbers::pi * std::atan2(g * kz * g * kz, kx * kx + ky * ky);
    for (Index i = 0; i < count; ++i)
      result[static_cast<std::size_t>(i)] += w * sum * std::polar(1 / static_cast<double>(count), turn(i, k));
  }
  return result;
}

struct KzFilter : ObjectFilters {
  Scene stack = built({.slices = 3, .object_rows = 7, .object_cols = 9});
  KzFilter() { context.slice_distances = {2, 2}; }
};

TEST_F(KzFilter, IsTheFormulaInThreeDimensions) {
  const auto expected = naive_kz(elements<complex128>(stack.state.object), 3, 7, 9, 0.8, 2);
  apply("kz", table({{"beta", Value(0.8)}}), context, stack.state);
  EXPECT_LT(testing::difference(elements<complex128>(stack.state.object), expected), 1e-13);
}

TEST_F(KzFilter, IsTheFormulaOnAStackWithCopiesOfItsEnds) {
  const auto slices = elements<complex128>(stack.state.object);
  std::vector<complex128> padded;
  for (const int s : {0, 0, 0, 1, 2, 2, 2})
    padded.insert(padded.end(), slices.begin() + s * 63, slices.begin() + s * 63 + 63);
  const auto filtered = naive_kz(padded, 7, 7, 9, 1, 2);
  apply("kz", table({{"padding", Value(2)}}), context, stack.state);
  EXPECT_LT(testing::difference(elements<complex128>(stack.state.object),
                                std::vector<complex128>(filtered.begin() + 126, filtered.begin() + 315)),
            1e-13);
}

TEST_F(KzFilter, LeavesWhatIsTheSameInAllSlices) {
  const auto o = stack.state.object.view<complex128, 3>();
  for (Index s = 1; s < 3; ++s) std::copy(o.data, o.data + 63, o.data + s * 63);
  const auto before = elements<complex128>(stack.state.object);
  apply("kz", Value::object(), context, stack.state);
  EXPECT_LT(testing::difference(elements<complex128>(stack.state.object), before), 1e-14);
}

TEST_F(KzFilter, NeedsSlicesAndTheirThickness) {
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { apply("kz", Value::object(), context, complex.state); }),
              HasSubstr("several slices"));
  context.slice_distances.clear();
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { apply("kz", Value::object(), context, stack.state); }),
              HasSubstr("the thickness of the slices\nhint: give slice_thickness_A"));
  context.slice_distances = {2, 3};
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { apply("kz", Value::object(), context, stack.state); }),
              HasSubstr("slices that are all equally thick"));
}

}  // namespace
}  // namespace sonde::ptycho
