// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/axes/axis_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <tuple>

namespace sonde::stem {
namespace {

class KnownUnits : public ::testing::TestWithParam<std::tuple<const char*, AxisKind, double>> {};

TEST_P(KnownUnits, GiveNanometresInverseAngstromsOrMilliradians) {
  const auto [unit, kind, one] = GetParam();
  const auto step = known_step({2, unit});
  ASSERT_TRUE(step.has_value());
  EXPECT_EQ(step->kind, kind);
  EXPECT_DOUBLE_EQ(step->value, 2 * one);
}

INSTANTIATE_TEST_SUITE_P(
    , KnownUnits,
    ::testing::Values(std::tuple{"nm", AxisKind::length, 1.0}, std::tuple{"\xc2\xb5m", AxisKind::length, 1e3},
                      std::tuple{"\xce\xbcm", AxisKind::length, 1e3}, std::tuple{"\xc3\x85", AxisKind::length, 0.1},
                      std::tuple{"A", AxisKind::length, 0.1}, std::tuple{"m", AxisKind::length, 1e9},
                      std::tuple{"[n_m]", AxisKind::length, 1.0}, std::tuple{"pm", AxisKind::length, 1e-3},
                      std::tuple{"A^-1", AxisKind::inverse_length, 1.0},
                      std::tuple{"1/nm", AxisKind::inverse_length, 0.1},
                      std::tuple{"1 / nanometer", AxisKind::inverse_length, 0.1},
                      std::tuple{"[n_m^-1]", AxisKind::inverse_length, 0.1},
                      std::tuple{"nm\xe2\x81\xbb\xc2\xb9", AxisKind::inverse_length, 0.1},
                      std::tuple{"1/\xc3\x85", AxisKind::inverse_length, 1.0},
                      std::tuple{"$A^{-1}$", AxisKind::inverse_length, 1.0}, std::tuple{"mrad", AxisKind::angle, 1.0},
                      std::tuple{"rad", AxisKind::angle, 1e3},
                      std::tuple{"deg", AxisKind::angle, 1e3 * 3.14159265358979323846 / 180}));

TEST(AxisUnits, OthersAreUnknown) {
  for (const char* unit : {"", "px", "s", "eV", "1/eV", "Mm", "NM", "1/", "^-1", "furlong"})
    EXPECT_FALSE(known_step({1, unit}).has_value()) << unit;
  EXPECT_FALSE(known_step({0, "nm"}).has_value());
  EXPECT_FALSE(known_step({std::numeric_limits<double>::quiet_NaN(), "nm"}).has_value());
  EXPECT_FALSE(known_step({1e308, "m"}).has_value());
}

TEST(AxisUnits, AScaleMayCountDownwards) { EXPECT_EQ(known_step({-0.5, "nm"})->value, 0.5); }

TEST(AxisUnits, UnitsThatAreNotUsedAreNotedOnce) {
  Acquisition acquisition;
  take_scan_axes(AxisScale{1, "s"}, AxisScale{1, "nm"}, acquisition);
  take_detector_axes(AxisScale{1, "px"}, AxisScale{1, "px"}, acquisition);
  take_detector_axes(std::nullopt, AxisScale{2, "fort\x1bnight"}, acquisition);
  take_detector_axes(std::nullopt, AxisScale{2, "fort\x1bnight"}, acquisition);
  ASSERT_EQ(acquisition.notes.size(), 2u);
  EXPECT_EQ(acquisition.notes[0].value, "the step of the scan rows, 1 \"s\", is not used");
  EXPECT_EQ(acquisition.notes[1].value, "the step of the detector, 2 \"fort?night\", is not used");
  EXPECT_FALSE(acquisition.calibration.scan_step_row_nm.has_value());
  EXPECT_EQ(acquisition.calibration.scan_step_col_nm->value, 1);
}

TEST(AxisUnits, DetectorsWithTwoStepsAreNoted) {
  Acquisition acquisition;
  take_detector_axes(AxisScale{0.3, "mrad"}, AxisScale{0.2, "mrad"}, acquisition);
  EXPECT_EQ(acquisition.calibration.detector_step_mrad->value, 0.2);
  ASSERT_EQ(acquisition.notes.size(), 1u);
  EXPECT_EQ(acquisition.notes[0].value, "detector rows have a step of 0.3 mrad, columns of 0.2 mrad");
  take_detector_axes(AxisScale{0.2, "mrad"}, AxisScale{0.2, "mrad"}, acquisition);
  EXPECT_EQ(acquisition.notes.size(), 1u);
}

}  // namespace
}  // namespace sonde::stem
