// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/calibration.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <numbers>

namespace sonde::stem {
namespace {

TEST(DetectorSteps, FollowFromPixelLengthAndTension) {
  Calibration c;
  c.detector_pixel_m = Quantity{1e-4, StatedBy::file};
  c.camera_length_m = Quantity{0.115, StatedBy::user};
  c.high_tension_v = Quantity{300e3, StatedBy::file};
  derive_detector_steps(c);
  EXPECT_DOUBLE_EQ(c.detector_step_mrad->value, 0.1 / 0.115);
  EXPECT_EQ(c.detector_step_mrad->stated_by, StatedBy::user);
  EXPECT_NEAR(c.detector_step_inv_a->value, 1e-4 / 0.115 / 0.0196875, 1e-7);  // digits of the published wavelength
}

TEST(DetectorSteps, StoredStepsStay) {
  Calibration c;
  c.detector_pixel_m = c.camera_length_m = Quantity{1, StatedBy::file};
  c.detector_step_mrad = Quantity{0.5, StatedBy::file};
  derive_detector_steps(c);
  EXPECT_EQ(c.detector_step_mrad->value, 0.5);
  EXPECT_FALSE(c.detector_step_inv_a.has_value());
}

TEST(DetectorSteps, NothingFollowsFromNothing) {
  Calibration c;
  derive_detector_steps(c);
  EXPECT_FALSE(c.detector_step_mrad.has_value());
  EXPECT_FALSE(c.detector_step_inv_a.has_value());
}

TEST(DetectorSteps, ThoseOfACalibrationFileAreRememberedAsSuch) {
  Calibration c;
  c.detector_step_inv_a = Quantity{0.02, StatedBy::calibration};
  c.high_tension_v = Quantity{200e3, StatedBy::file};
  derive_detector_steps(c);
  EXPECT_EQ(c.detector_step_mrad->stated_by, StatedBy::calibration);
}

/// v_scan of a deflection on the detector, (x, y).
std::array<double, 2> seen_along_scan(const Calibration& c, std::array<double, 2> deflection) {
  if (c.transpose.value_or(false)) std::swap(deflection[0], deflection[1]);
  const double cosine = std::cos(c.rotation_rad->value), sine = std::sin(c.rotation_rad->value);
  return {cosine * deflection[0] - sine * deflection[1], sine * deflection[0] + cosine * deflection[1]};
}

/// Stored scan axes as `order` shows them: exchanged, then mirrored.
std::array<double, 2> shown(std::array<double, 2> stored, const ScanOrder& order) {
  if (order.transpose) std::swap(stored[0], stored[1]);
  if (order.flip_cols) stored[0] = -stored[0];
  if (order.flip_rows) stored[1] = -stored[1];
  return stored;
}

TEST(Calibrations, RotationFollowsEveryOrderOfTheScan) {
  const auto order_of = [](int bits) {
    ScanOrder order;
    order.flip_rows = (bits & 1) != 0;
    order.flip_cols = (bits & 2) != 0;
    order.transpose = (bits & 4) != 0;
    return order;
  };
  const std::array<double, 2> deflection = {0.7, -1.9};
  for (int of = 0; of < 64; ++of)
    for (const bool transpose : {false, true}) {
      SCOPED_TRACE(of * 2 + transpose);
      Calibration stored;  // along the stored axes of the scan
      stored.rotation_rad = Quantity{0.6};
      stored.transpose = transpose;
      const std::array<double, 2> truth = seen_along_scan(stored, deflection);
      const ScanOrder from = order_of(of % 8), to = order_of(of / 8);
      const Calibration first = with_scan_order(stored, {}, from), second = with_scan_order(first, from, to);
      for (const auto& [calibration, order] : {std::pair(first, from), std::pair(second, to)}) {
        const std::array<double, 2> expected = shown(truth, order), found = seen_along_scan(calibration, deflection);
        EXPECT_NEAR(found[0], expected[0], 1e-14);
        EXPECT_NEAR(found[1], expected[1], 1e-14);
      }
    }
}

TEST(Calibrations, OfADetectorWithExchangedAxesSayTheSame) {
  Calibration c;
  c.ellipse = Distortion{.a = 1.1, .b = 0.9, .theta = 0.3};
  c.origin = std::make_shared<const OriginMap>(OriginMap{{1, 2}, {3, 4}});
  c.centre = BeamCentre{5, 6};
  c.rotation_rad = Quantity{0.6};
  const Calibration exchanged = with_exchanged_axes(c);
  EXPECT_EQ(exchanged.origin->x, (std::vector<double>{3, 4}));
  EXPECT_EQ(exchanged.origin->y, (std::vector<double>{1, 2}));
  EXPECT_EQ(exchanged.centre->row, 6);
  EXPECT_EQ(exchanged.centre->col, 5);
  // The tip of the long axis, with its coordinates exchanged.
  const double x = std::cos(c.ellipse->theta), y = std::sin(c.ellipse->theta);
  EXPECT_NEAR(std::cos(exchanged.ellipse->theta), y, 1e-15);
  EXPECT_NEAR(std::sin(exchanged.ellipse->theta), x, 1e-15);
  const auto before = seen_along_scan(c, {0.7, -1.9}), after = seen_along_scan(exchanged, {-1.9, 0.7});
  EXPECT_NEAR(before[0], after[0], 1e-15);
  EXPECT_NEAR(before[1], after[1], 1e-15);
}

TEST(Calibrations, OfBinsAreThoseOfTheMiddlesOfTheirPixels) {
  Calibration c;
  c.detector_step_inv_a = Quantity{0.01};
  c.detector_step_mrad = Quantity{0.5};
  c.centre = BeamCentre{(9 + 10 + 11) / 3.0, (12 + 13 + 14) / 3.0};  // stored pixels of bins 3 and 4
  c.origin = std::make_shared<const OriginMap>(OriginMap{{13}, {11.5}});
  const Calibration binned = with_binned_pixels(c, 3), back = with_binned_pixels(binned, 1.0 / 3);
  EXPECT_DOUBLE_EQ(binned.detector_step_inv_a->value, 0.03);
  EXPECT_DOUBLE_EQ(binned.detector_step_mrad->value, 1.5);
  EXPECT_DOUBLE_EQ(binned.centre->row, 3);
  EXPECT_DOUBLE_EQ(binned.centre->col, 4);
  EXPECT_DOUBLE_EQ(binned.origin->y[0], 3.5);  // on the edge of bins 3 and 4
  EXPECT_DOUBLE_EQ(back.centre->col, 13);
  EXPECT_NEAR(back.detector_step_inv_a->value, 0.01, 1e-17);
  EXPECT_DOUBLE_EQ(resident_centre(c, 3)->row, 3);
  EXPECT_FALSE(resident_centre({}, 3));
}

}  // namespace
}  // namespace sonde::stem
