// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/calibration.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sonde::stem
