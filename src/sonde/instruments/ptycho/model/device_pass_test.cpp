// SPDX-License-Identifier: Apache-2.0
// A device's kernels against the CPU's threads, which gradient_test.cpp holds against the naive model. On the CPU one
// thread plays the kernels, so that all but cuFFT and the launches is tested without a GPU.
#include "sonde/instruments/ptycho/model/device_pass.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "sonde/instruments/ptycho/model/pattern_kernels.h"
#include "sonde/instruments/ptycho/model/sums_device.h"
#include "sonde/instruments/ptycho/model/test_scene.h"
#include "tests/support/devices.h"

namespace sonde::ptycho {
namespace {

using testing::Scene;

constexpr Loss losses[] = {Loss::amplitude, Loss::anscombe, Loss::poisson, Loss::intensity};

/// Sums and transforms in another order: a few hundred roundings, of random sign, of numbers no larger than the
/// largest.
template <class Real>
constexpr double rounding = 100 * std::numeric_limits<Real>::epsilon();

template <class Real>
class PixelDevice : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(PixelDevice, Reals);

TYPED_TEST(PixelDevice, IsJudgedAsOnTheCpu) {
  using Real = TypeParam;
  std::mt19937 generator(5);
  std::exponential_distribution<double> counts(0.2);
  std::normal_distribution<double> normal;
  const Real eps = Real(1e-6), smallest = std::numeric_limits<Real>::min() * Real(1e8);
  for (const Loss loss : losses) {
    SCOPED_TRACE(name(loss));
    for (int i = 0; i < 200; ++i) {
      const auto a = static_cast<Real>(std::sqrt(std::floor(counts(generator))));
      const Real w = i % 7 == 0 ? Real(0) : Real(1);
      std::complex<Real> wave(static_cast<Real>(normal(generator)), static_cast<Real>(normal(generator)));
      const Real intensity = std::norm(wave);
      const std::complex<Real> before = wave;
      const FrameSums expected = cpu::residual<Real>(loss, {&a, &w}, eps, Real(1), Real(1), true, &wave, 1, 1);
      const auto fit = device::judge_pixel<Real>(loss, a, w, eps, smallest, intensity);
      // A handful of roundings; the CPU's float logarithm is within 2 ulp.
      const double scale = static_cast<double>(a * a + intensity + 1),
                   tolerance = 8 * std::numeric_limits<Real>::epsilon();
      EXPECT_NEAR(static_cast<double>(std::abs(fit.factor * before - wave)), 0,
                  tolerance * static_cast<double>(std::abs(wave) + 1) * scale);
      EXPECT_NEAR(static_cast<double>(fit.loss), expected.loss, tolerance * scale * scale);
      EXPECT_NEAR(static_cast<double>(fit.intensity_error2), expected.intensity_error2, tolerance * scale * scale);
      EXPECT_NEAR(static_cast<double>(fit.amplitude_error), expected.amplitude_error, tolerance * scale);
      EXPECT_NEAR(static_cast<double>(fit.amplitude_error2), expected.amplitude_error2, tolerance * scale);
      EXPECT_NEAR(static_cast<double>(fit.deviance), expected.deviance, tolerance * scale * scale);
    }
  }
}

template <class Real>
Array cast(const Array& from) {
  Array to(Device::cpu(), from.shape(), dtype_of<std::complex<Real>>);
  const auto* in = static_cast<const complex128*>(from.data());
  std::transform(in, in + from.count(), static_cast<std::complex<Real>*>(to.data()),
                 [](complex128 value) { return std::complex<Real>(value); });
  return to;
}

/// A scene in a precision, with the pass of the CPU and that of a device.
template <class Real>
struct Both {
  Scene scene;
  Measurement measurement;
  Model<Real> model;
  State state;
  Array spectrum;
  DevicePatterns patterns;
  DevicePass<Real> kernels;
  BatchPass<Real> threads;
  std::vector<Index> everyone{0, 1, 2, 3, 4};

  Both(Scene from, Device device, Loss loss, GroupLimits limits = {}, PatternTier tier = PatternTier::device,
       AmplitudeStorage storage = sizeof(Real) == 8 ? AmplitudeStorage::f64 : AmplitudeStorage::f32,
       DType counted = DType::f64)
      : scene(std::move(from.build())),
        measurement(counts_as(counted), ZeroFrequency::corner, scene.mask, storage),
        model(measurement, scene.slices, scene.modes, scene.propagators, loss, FftEffort::quick),
        patterns(device, measurement, tier),
        kernels(model, patterns, limits),
        threads(model, {.most = 3, .least_members = 1}) {
    state.type = scene.type;
    state.object = cast<Real>(scene.state.object);
    state.probe = cast<Real>(scene.state.probe);
    state.positions = scene.state.positions;
    state.placements = scene.state.placements;
    if (state.fractional()) {
      spectrum = Array(Device::cpu(), state.probe.shape(), state.probe.dtype());
      probe_spectrum(model, state.probe, spectrum);
    }
    kernels.take(state);
  }

  [[nodiscard]] Array counts_as(DType dtype) const {
    if (dtype == DType::f64) return scene.frames.clone();
    Array counts(Device::cpu(), scene.frames.shape(), dtype);
    for (Index i = 0; i < counts.count(); ++i) {
      const double value = static_cast<const double*>(scene.frames.data())[i];
      if (dtype == DType::u8)
        static_cast<std::uint8_t*>(counts.data())[i] = static_cast<std::uint8_t>(value);
      else
        static_cast<std::uint16_t*>(counts.data())[i] = static_cast<std::uint16_t>(value);
    }
    return counts;
  }
};

/// The largest difference relative to the largest element.
template <class T>
double difference(const Array& a, const Array& b) {
  double most = 0, size = 0;
  const auto* x = static_cast<const T*>(a.data());
  const auto* y = static_cast<const T*>(b.data());
  for (Index i = 0; i < b.count(); ++i) {
    most = std::max(most, static_cast<double>(std::abs(x[i] - y[i])));
    size = std::max(size, static_cast<double>(std::abs(y[i])));
  }
  EXPECT_GT(size, 0);
  return most / size;
}

void expect_fit(const std::vector<FrameSums>& found, const std::vector<FrameSums>& expected, double tolerance) {
  for (std::size_t j = 0; j < expected.size(); ++j) {
    // Differences of counts and intensities, which are of the order of a frame's squared error and 1000 at most.
    const double scale = expected[j].intensity_error2 + 1000;
    EXPECT_NEAR(found[j].loss, expected[j].loss, tolerance * scale) << j;
    EXPECT_NEAR(found[j].intensity_error2, expected[j].intensity_error2, tolerance * scale) << j;
    EXPECT_NEAR(found[j].amplitude_error, expected[j].amplitude_error, tolerance * scale) << j;
    EXPECT_NEAR(found[j].amplitude_error2, expected[j].amplitude_error2, tolerance * scale) << j;
    EXPECT_NEAR(found[j].deviance, expected[j].deviance, tolerance * scale) << j;
  }
}

template <class Real>
void expect_equal_sums(Both<Real>& both, Wanted wanted = {}) {
  using Complex = std::complex<Real>;
  BatchSums found, expected;
  std::vector<FrameSums> fit(5), expected_fit(5);
  both.kernels.run(both.everyone, wanted, found, fit);
  both.threads.run(both.state, both.spectrum, both.everyone, wanted, expected, expected_fit);
  expect_fit(fit, expected_fit, rounding<Real>);
  if (wanted.object) {
    EXPECT_LT(difference<Complex>(found.object, expected.object), rounding<Real>);
    if (wanted.weights) {
      EXPECT_LT(difference<Real>(found.object_weight, expected.object_weight), rounding<Real>);
      for (std::size_t s = 0; s < expected.largest_object_weight.size(); ++s)
        EXPECT_NEAR(found.largest_object_weight[s] / expected.largest_object_weight[s], 1, rounding<Real>);
    }
  }
  if (wanted.probe) {
    EXPECT_LT(difference<Complex>(found.probe, expected.probe), rounding<Real>);
    if (wanted.weights) {
      EXPECT_LT(difference<Real>(found.probe_weight, expected.probe_weight), rounding<Real>);
      EXPECT_NEAR(found.largest_probe_weight / expected.largest_probe_weight, 1, rounding<Real>);
    }
  }
}

class DevicePassOnEach : public sonde::testing::EachDevice {};
INSTANTIATE_EACH_DEVICE(DevicePassOnEach);

/// A scene like another, not built yet.
Scene like(const Scene& other) {
  return {.rows = other.rows,
          .cols = other.cols,
          .slices = other.slices,
          .modes = other.modes,
          .object_rows = other.object_rows,
          .object_cols = other.object_cols,
          .fractional = other.fractional,
          .masked = other.masked};
}

const Scene scenes[] = {
    {},                                                                           // one mode, whole pixels
    {.modes = 2, .fractional = true, .masked = true},                             // probes between pixels
    {.modes = 3},                                                                 //
    {.slices = 3, .modes = 2, .fractional = true, .masked = true},                // several slices
    {.rows = 48, .cols = 50, .modes = 2, .object_rows = 97, .object_cols = 101},  // several strips, many tiles
    {.rows = 7, .cols = 6, .slices = 3, .object_rows = 11, .object_cols = 70, .fractional = true},  // odd
};

TEST_P(DevicePassOnEach, SumsAreThoseOfTheCpuForEveryLoss) {
  for (const Scene& scene : scenes)
    for (const Loss loss : losses) {
      SCOPED_TRACE(::testing::Message() << scene.rows << " x " << scene.cols << ", modes " << scene.modes << ", slices "
                                        << scene.slices << ", " << name(loss));
      Both<double> both(like(scene), device(), loss);
      expect_equal_sums(both);
    }
}

TEST_P(DevicePassOnEach, SumsAreThoseOfTheCpuInSinglePrecision) {
  for (const Scene& scene : scenes) {
    SCOPED_TRACE(::testing::Message() << scene.rows << " x " << scene.cols << ", modes " << scene.modes);
    Both<float> both(like(scene), device(), Loss::amplitude);
    expect_equal_sums(both);
  }
}

TEST_P(DevicePassOnEach, ABatchOfSeveralGroupsIsTheirSum) {
  for (const PatternTier tier : {PatternTier::device, PatternTier::host})
    for (const bool fractional : {false, true}) {
      Both<double> both({.modes = 2, .fractional = fractional}, device(), Loss::amplitude, {.most = 2}, tier);
      expect_equal_sums(both);
    }
}

TEST_P(DevicePassOnEach, OnlyWhatIsWantedIsSummed) {
  Both<double> both({.slices = 2, .modes = 2, .fractional = true}, device(), Loss::amplitude);
  expect_equal_sums(both, {.object = true, .probe = false});
  expect_equal_sums(both, {.object = false, .probe = true});
  expect_equal_sums(both, {.weights = false});
}

TEST_P(DevicePassOnEach, ReadsAmplitudesAsTheyAreKept) {
  for (const PatternTier tier : {PatternTier::device, PatternTier::host}) {
    for (const AmplitudeStorage storage : {AmplitudeStorage::f16, AmplitudeStorage::bf16, AmplitudeStorage::f32}) {
      Both<double> both({}, device(), Loss::amplitude, {.most = 3}, tier, storage);
      expect_equal_sums(both);
    }
    for (const DType counted : {DType::u8, DType::u16}) {
      Both<double> both({}, device(), Loss::amplitude, {.most = 3}, tier, AmplitudeStorage::counts, counted);
      ASSERT_EQ(both.measurement.stored_type(), counted);
      expect_equal_sums(both);
    }
  }
}

TEST_P(DevicePassOnEach, ComparesWithoutSums) {
  Both<double> both({.modes = 2, .fractional = true, .masked = true}, device(), Loss::poisson, {.most = 2});
  std::vector<FrameSums> fit(5), expected(5);
  const std::vector<Index> some{4, 1, 2};
  both.kernels.compare(some, fit);
  both.threads.compare(both.state, both.spectrum, some, expected);
  expect_fit(fit, expected, rounding<double>);  // and zeros for the others
}

TEST(Exposure, SendsOtherWavesTheWayOfItsOwn) {
  for (const Index slices : {1, 3}) {
    Both<double> both({.slices = slices, .modes = 2, .fractional = true}, Device::cpu(), Loss::amplitude);
    Exposure<double> exposure(both.model);
    exposure.forward(both.state, both.spectrum, 3);
    const Index count = both.model.modes() * both.model.pixels();
    std::vector<complex128> other(exposure.incident(0), exposure.incident(0) + count);
    exposure.propagate(other.data());
    for (Index i = 0; i < count; ++i)
      EXPECT_LT(std::abs(other[static_cast<std::size_t>(i)] - exposure.waves()[i]), 1e-12) << i;
  }
}

TEST_P(DevicePassOnEach, PositionSumsAreThoseOfDifferences) {
  // Derivatives of amplitudes by differences of the forward model written out in test_scene.h.
  for (const bool fractional : {false, true})
    for (const PatternTier tier : {PatternTier::device, PatternTier::host}) {
      Both<double> both({.slices = 2, .modes = 2, .fractional = fractional, .masked = true}, device(), Loss::amplitude,
                        {.most = 2}, tier);
      both.kernels.take(both.state, /*between_pixels=*/true);
      const std::vector<Index> some{4, 1, 2};
      const std::vector<PositionSums> found = both.kernels.position_sums(some);
      ASSERT_EQ(found.size(), some.size());
      Scene& scene = both.scene;
      for (std::size_t k = 0; k < some.size(); ++k) {
        const Index j = some[k];
        Placement& at = scene.state.placements[static_cast<std::size_t>(j)];
        const auto amplitudes = [&] {
          std::vector<double> squared(static_cast<std::size_t>(scene.pixels()));
          for (Index m = 0; m < scene.modes; ++m) {
            const testing::Wave wave = scene.far_field(j, m);
            for (std::size_t i = 0; i < squared.size(); ++i) squared[i] += std::norm(wave[i]);
          }
          for (double& each : squared) each = std::sqrt(each);
          return squared;
        };
        constexpr double h = 1e-5;
        const auto derivative = [&](double& shift) {
          const double here = shift;
          shift = here + h;
          std::vector<double> up = amplitudes();
          shift = here - h;
          const std::vector<double> down = amplitudes();
          shift = here;
          for (std::size_t i = 0; i < up.size(); ++i) up[i] = (up[i] - down[i]) / (2 * h);
          return up;
        };
        const std::vector<double> now = amplitudes(), y = derivative(at.shift_row), x = derivative(at.shift_col);
        PositionSums expected;
        for (std::size_t i = 0; i < now.size(); ++i) {
          if (scene.mask[i] == 0) continue;
          const double missing =
              std::sqrt(scene.frames.view<double, 3>().data[j * scene.pixels() + static_cast<Index>(i)]) - now[i];
          expected.yy += y[i] * y[i];
          expected.yx += y[i] * x[i];
          expected.xx += x[i] * x[i];
          expected.by += y[i] * missing;
          expected.bx += x[i] * missing;
        }
        // Differences leave h^2 of the third derivative, pi^3 at most, and 1e-16 / h of rounding.
        const double tolerance = 1e-7 * (expected.yy + expected.xx);
        EXPECT_NEAR(found[k].yy, expected.yy, tolerance);
        EXPECT_NEAR(found[k].yx, expected.yx, tolerance);
        EXPECT_NEAR(found[k].xx, expected.xx, tolerance);
        EXPECT_NEAR(found[k].by, expected.by, tolerance);
        EXPECT_NEAR(found[k].bx, expected.bx, tolerance);
      }
      expect_equal_sums(both);  // the pass goes on as before
    }
}

TEST_P(DevicePassOnEach, EveryRunHasTheSameBits) {
  Both<float> both({.modes = 2, .fractional = true}, device(), Loss::amplitude, {.most = 3});
  BatchSums first, second;
  std::vector<FrameSums> fit(5), again(5);
  both.kernels.run(both.everyone, {}, first, fit);
  // Often enough that graphs are recorded, measured and replayed.
  for (int i = 0; i < 12; ++i) both.kernels.run(both.everyone, {}, second, again);
  EXPECT_EQ(std::memcmp(first.object.data(), second.object.data(), first.object.allocated_bytes()), 0);
  EXPECT_EQ(std::memcmp(first.probe.data(), second.probe.data(), first.probe.allocated_bytes()), 0);
  EXPECT_EQ(std::memcmp(fit.data(), again.data(), fit.size() * sizeof(FrameSums)), 0);
}

TEST_P(DevicePassOnEach, GivesBackWhatItTook) {
  Both<float> both({.modes = 2}, device(), Loss::amplitude);
  const Array object = both.state.object.clone(), probe = both.state.probe.clone();
  std::memset(both.state.object.data(), 0, both.state.object.allocated_bytes());
  std::memset(both.state.probe.data(), 0, both.state.probe.allocated_bytes());
  both.kernels.give(both.state);
  EXPECT_EQ(std::memcmp(both.state.object.data(), object.data(), object.allocated_bytes()), 0);
  EXPECT_EQ(std::memcmp(both.state.probe.data(), probe.data(), probe.allocated_bytes()), 0);
}

TEST(SumsDevice, DoNotDependOnTheOrderOfThreads) {
  // Threads of a block in either order: what a thread reads no other may write.
  Scene scene{.modes = 2};
  scene.build();
  const Index slots = 5, waves = slots * scene.modes * scene.pixels();
  std::mt19937 generator(2);
  std::normal_distribution<double> normal;
  std::vector<device::Complex<double>> incident(static_cast<std::size_t>(waves)), chi(incident.size());
  for (auto* list : {&incident, &chi})
    for (auto& value : *list) value = {normal(generator), normal(generator)};
  const std::vector<Index> order{0, 1, 2, 3, 4};
  const device::Group now{0, slots, 1};
  device::GatherObject<double> body;
  body.of = {scene.rows,
             scene.cols,
             scene.modes,
             1,
             scene.object_rows,
             scene.object_cols,
             slots,
             &now,
             order.data(),
             scene.state.placements.data()};
  body.incident = {incident.data(), scene.modes * scene.pixels()};
  body.chi = chi.data();
  std::vector<std::vector<device::Complex<double>>> found;
  for (const StepOrder step_order : {StepOrder::forwards, StepOrder::backwards}) {
    std::vector<device::Complex<double>> sum(static_cast<std::size_t>(scene.object_rows * scene.object_cols), {9, 9});
    std::vector<double> weight(sum.size(), 9);
    body.numerator = sum.data();
    body.weight = weight.data();
    run_serially({.blocks = body.pieces(), .scratch_bytes = body.scratch_bytes()}, body, step_order);
    found.push_back(sum);
    // And by the definition.
    for (Index row = 0; row < scene.object_rows; ++row)
      for (Index col = 0; col < scene.object_cols; ++col) {
        std::complex<double> expected = 0;
        for (Index j = 0; j < slots; ++j) {
          const Placement& at = scene.state.placements[static_cast<std::size_t>(j)];
          const Index r = row - at.row, c = col - at.col;
          if (r < 0 || r >= scene.rows || c < 0 || c >= scene.cols) continue;
          for (Index m = 0; m < scene.modes; ++m) {
            const auto k = static_cast<std::size_t>((j * scene.modes + m) * scene.pixels() + r * scene.cols + c);
            expected += std::conj(std::complex<double>(incident[k].re, incident[k].im)) *
                        std::complex<double>(chi[k].re, chi[k].im);
          }
        }
        const auto& here = sum[static_cast<std::size_t>(row * scene.object_cols + col)];
        EXPECT_NEAR(here.re, expected.real(), 1e-13);  // ten products of order one
        EXPECT_NEAR(here.im, expected.imag(), 1e-13);
      }
  }
  EXPECT_EQ(std::memcmp(found[0].data(), found[1].data(), found[0].size() * sizeof(found[0][0])), 0);
}

TEST(GroupSize, KeepsWavesInTheCacheAndGroupsEven) {
  const std::size_t wave_bytes = std::size_t{256} * 256 * 8;  // 512 KiB: 64 of them in 32 MiB
  EXPECT_EQ(group_size(64, wave_bytes, 1), 64);
  EXPECT_EQ(group_size(65, wave_bytes, 1), 33);
  EXPECT_EQ(group_size(64, wave_bytes, 2), 32);
  EXPECT_EQ(group_size(4, wave_bytes, 1), 4);
  EXPECT_EQ(group_size(1000, 1024, 1), 250);  // at most 256
  EXPECT_EQ(group_size(10, std::size_t{1} << 30, 1), 1);
  EXPECT_EQ(group_size(0, wave_bytes, 1), 1);
}

}  // namespace
}  // namespace sonde::ptycho
