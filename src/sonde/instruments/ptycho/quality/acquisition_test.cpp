// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/quality/acquisition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sonde/instruments/ptycho/quality/image.h"

namespace sonde::ptycho {
namespace {

/// 4 x 5 positions 2 pixels apart, 16 x 16 detector pixels of 3 counts, a probe of one pixel and its four neighbours.
struct SmallScan : ::testing::Test {
  Sampling sampling = electron_sampling(16, 16, 200, 2);
  State state;
  std::vector<std::uint8_t> mask;

  SmallScan() {
    for (int row = 0; row < 4; ++row)
      for (int col = 0; col < 5; ++col) state.positions.push_back({8.0 + 2 * row, 8.0 + 2 * col});
    state.placements = place_all(state.positions, {16, 16});
    state.object = Array::zeros(Device::cpu(), {1, 24, 26}, DType::c128);
    state.probe = Array::zeros(Device::cpu(), {1, 16, 16}, DType::c128);
    const auto probe = state.probe.view<complex128, 3>();
    probe(0, 8, 8) = probe(0, 7, 8) = probe(0, 9, 8) = probe(0, 8, 7) = probe(0, 8, 9) = 1;
  }
  [[nodiscard]] Acquisition found(double counts_per_unit = 1) const {
    Array frames(Device::cpu(), {20, 16, 16}, DType::f64);
    std::fill_n(frames.view<double, 3>().data, frames.count(), 3.0);
    return acquisition_of(state, Measurement(frames, ZeroFrequency::corner, mask, AmplitudeStorage::f64), sampling,
                          counts_per_unit);
  }
};

TEST_F(SmallScan, HasTheDoseOfItsCountsOverItsArea) {
  const double pixel = 0.02507934 / (16 * 0.002);  // A, wavelength of 200 keV
  const Acquisition a = found();
  EXPECT_NEAR(a.counts_per_frame, 3 * 256, 1e-9);
  EXPECT_NEAR(a.counts_per_pixel, 3, 1e-12);
  EXPECT_NEAR(a.pixel, pixel, 1e-7);
  EXPECT_NEAR(a.step, 2 * pixel, 1e-6);
  // The box of 6 x 8 pixels and a step in both directions.
  EXPECT_NEAR(a.dose / (20 * 3 * 256 / (8 * 10 * pixel * pixel)), 1, 1e-4);
}

TEST_F(SmallScan, IsInCountsWhateverAValueStandsFor) {
  const Acquisition values = found(), counts = found(50);
  EXPECT_NEAR(counts.counts_per_frame / values.counts_per_frame, 50, 1e-12);
  EXPECT_NEAR(counts.counts_per_pixel / values.counts_per_pixel, 50, 1e-12);
  EXPECT_NEAR(counts.dose / values.dose, 50, 1e-12);
  EXPECT_EQ(counts.overlap, values.overlap);
}

TEST_F(SmallScan, DoesNotNameADoseWhereCountsAreNotKnown) {
  const Value told = found(0).to_value();
  EXPECT_TRUE(told.find("dose")->is_null());
  EXPECT_TRUE(told.find("counts_per_pixel")->is_null());
  EXPECT_TRUE(told.find("step")->is_number());
  const std::optional<Acquisition> again = Acquisition::from_value(told);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->dose, 0);
  EXPECT_EQ(again->step, found().step);
}

TEST_F(SmallScan, HasTheOverlapOfStepAndProbe) {
  const Acquisition a = found();
  EXPECT_NEAR(a.probe_diameter / a.pixel, 2, 1e-12);
  EXPECT_NEAR(a.overlap, 0, 1e-12);
}

TEST_F(SmallScan, HasTheRedundancyOfNumbersAndUnknowns) {
  // Under the probe lie (6 + 2) x (8 + 2) pixels.
  EXPECT_NEAR(found().redundancy, 20.0 * 256 / (2 * 8 * 10), 1e-9);
  state.type = ObjectType::potential;
  EXPECT_NEAR(found().redundancy, 20.0 * 256 / (8 * 10), 1e-9);
}

TEST_F(SmallScan, IsSampledAsItsMeasuredPixelsReach) {
  EXPECT_NEAR(found().finest, found().pixel, 1e-12);
  // Rows beyond the third from the zero frequency are not measured: 3.5 pixels of dk.
  mask.assign(256, 1);
  for (std::size_t row = 4; row <= 12; ++row)
    std::fill_n(mask.begin() + static_cast<std::ptrdiff_t>(row * 16), 16, std::uint8_t{0});
  EXPECT_NEAR(found().finest, 1 / (2 * 3.5 * sampling.dk_row), 1e-12);
}

TEST_F(SmallScan, HasLengthsInPixelsWithoutACalibration) {
  sampling = pixel_sampling(16, 16);
  const Acquisition a = found();
  EXPECT_NEAR(a.pixel, 1, 1e-12);
  EXPECT_NEAR(a.step, 2, 1e-12);
  EXPECT_NEAR(a.probe_diameter, 2, 1e-12);
  EXPECT_NEAR(a.dose, 20.0 * 3 * 256 / (8 * 10), 1e-9);
}

TEST_F(SmallScan, GoesIntoAReport) {
  const Value value = found().to_value();
  EXPECT_EQ(value.find("overlap")->as_real(), found().overlap);
  EXPECT_EQ(value.size(), 9u);
  const auto back = Acquisition::from_value(value);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->to_value(), value);
  EXPECT_FALSE(Acquisition::from_value(Value::object()));
}

TEST(PhaseImage, AddsTheSlicesInTheBox) {
  State state;
  state.object = Array::from<complex64>({{0, 1}, 1, 1, {0, -2}, {0, 1}, {1, 1}, 1, 1}, {2, 2, 2});
  const Image image = phase_image(state, {0, 0, 2, 1});
  EXPECT_EQ(image.rows, 2);
  EXPECT_EQ(image.cols, 1);
  EXPECT_NEAR(image(0, 0), std::acos(-1.0), 1e-6);
  EXPECT_NEAR(image(1, 0), 0, 1e-6);
}

TEST(PhaseRoughness, OfARampIsItsSlopeAndJumpsOfATurnAreNone) {
  Image ramp{5, 6, std::vector<double>(30)};
  for (Index row = 0; row < 5; ++row)
    for (Index col = 0; col < 6; ++col)
      ramp(row, col) =
          0.3 * static_cast<double>(row) - 0.4 * static_cast<double>(col) + (col > 2 ? 2 * std::acos(-1.0) : 0);
  EXPECT_NEAR(phase_roughness(ramp), 0.5, 1e-12);
}

}  // namespace
}  // namespace sonde::ptycho
