// SPDX-License-Identifier: Apache-2.0
// Scales, refusals, and what the result says about itself when a fault is planted.
#include "sonde/instruments/stem/phase/phase_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "sonde/engine/base/setting.h"
#include "sonde/instruments/stem/phase/phase_contents.h"
#include "sonde/instruments/stem/phase/phase_picture.h"
#include "sonde/instruments/stem/phase/test_waves.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double a_degree = std::numbers::pi / 180;

/// Turned by 30 degrees; computed once.
const Waves& turned_waves() {
  static const Waves waves = [] {
    WaveScan scan = hilly_scan(22, 27, 1);
    scan.rotation = 30 * a_degree;
    return simulate_waves(std::move(scan));
  }();
  return waves;
}

Calibration full_calibration() {
  Calibration calibration;
  calibration.high_tension_v = {{.value = 200e3}};
  calibration.scan_step_row_nm = calibration.scan_step_col_nm = {{.value = 0.06}};
  calibration.detector_step_inv_a = {{.value = 0.05}};
  return calibration;
}

PhaseResult phase_of(const PhaseOptions& options, VectorField centres = turned_waves().centres) {
  return make_phase(std::move(centres), phase_scale("scan.h5", full_calibration(), 1, 1, options), options);
}

std::vector<std::string> warnings_of(const PhaseOptions& options, VectorField centres = turned_waves().centres) {
  std::vector<std::string> warnings;
  for (const std::string& warning : phase_of(options, std::move(centres)).warnings)
    warnings.push_back(spelled(warning, Spelling::flags));
  return warnings;
}

double range_of(const std::vector<double>& values) {
  double low = values.front(), high = low;
  for (const double value : values) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return high - low;
}

std::string refused(Calibration calibration, PhaseOptions options = {}) {
  return sonde::testing::error_of(ErrorKind::bad_input,
                                  [&] { (void)phase_scale("scan.h5", calibration, 1, 1, options); });
}

TEST(PhaseScale, BinsWidenPixelsAndSteps) {
  const PhaseScale scale = phase_scale("scan.h5", full_calibration(), 4, 2, {});
  EXPECT_DOUBLE_EQ(scale.pixel, 0.2);
  EXPECT_DOUBLE_EQ(scale.step_row, 1.2);
  EXPECT_EQ(scale.phase_unit(), "rad");
  EXPECT_EQ(scale.field_unit(), "1/A");
}

TEST(PhaseScale, NamesWhatIsMissingAndTheFlagThatGivesIt) {
  Calibration calibration = full_calibration();
  calibration.scan_step_col_nm.reset();
  EXPECT_EQ(refused(calibration),
            "error: scan.h5: the distance of scan positions is not known, which the phase needs\n"
            "hint: give --scan-step, or take --units px for detector pixels times scan steps");
  calibration = full_calibration();
  calibration.detector_step_inv_a.reset();
  EXPECT_THAT(refused(calibration), HasSubstr("the size of a detector pixel in 1/A is not known, which the phase "
                                              "needs\nhint: give --q-pixel, or"));
  calibration.detector_pixel_m = {{.value = 1e-4}};
  EXPECT_THAT(refused(calibration), HasSubstr("give --camera-length, or"));
  calibration.high_tension_v.reset();
  EXPECT_THAT(refused(calibration), HasSubstr("give --camera-length and --voltage, or"));
  calibration.detector_step_mrad = {{.value = 1}};
  EXPECT_THAT(refused(calibration), HasSubstr("give --voltage, or"));
  EXPECT_NO_THROW((void)phase_scale("scan.h5", calibration, 1, 1, {.q_pixel = 0.05}));
  EXPECT_THAT(refused(calibration, {.units = PhaseUnit::volts, .q_pixel = 0.05}),
              HasSubstr("the accelerating voltage is not known"));
  EXPECT_NO_THROW((void)phase_scale("scan.h5", {}, 1, 1, {.units = PhaseUnit::px}));
}

TEST(PhaseResult, UnitsDifferByTheirFactors) {
  const double in_rad = range_of(phase_of({}).phase);
  EXPECT_NEAR(range_of(phase_of({.units = PhaseUnit::cycles}).phase), in_rad / (2 * std::numbers::pi), 1e-9);
  // sigma of 200 kV.
  EXPECT_NEAR(range_of(phase_of({.units = PhaseUnit::volts}).phase) / (in_rad / 7.288401e-4), 1, 1e-6);
  EXPECT_NEAR(range_of(phase_of({.units = PhaseUnit::px}).phase), in_rad / (2 * std::numbers::pi * 0.05 * 0.6), 1e-9);
  EXPECT_NEAR(in_rad, range_of(turned_waves().seen), 0.05 * in_rad);
}

TEST(PhaseResult, FindsTheOrientationAndDoubtsNothing) {
  const PhaseResult result = phase_of({});
  EXPECT_NEAR(result.rotation.rotation, 30 * a_degree, 0.2 * a_degree);
  EXPECT_FALSE(result.rotation.transpose);
  EXPECT_THAT(result.warnings, IsEmpty());
  EXPECT_THAT(result.lines().at(1), HasSubstr("sanity    confidence 1.00, curl 0."));
}

TEST(PhaseResult, NamesAWrongRotationFirst) {
  const auto warnings = warnings_of({.rotation = "80", .transpose = "0"});
  ASSERT_FALSE(warnings.empty());
  EXPECT_THAT(warnings.front(), ::testing::MatchesRegex("wrong rotation: 80.0 degrees leave 5[0-9] % of the field as "
                                                        "curl; the least, .*, is at (29.9|30.0|30.1|30.2).* degrees or "
                                                        "half a turn from it"));
}

TEST(PhaseResult, NamesATransposedScanFirst) {
  VectorField centres = turned_waves().centres;
  std::swap(centres.x, centres.y);  // the detector was read with its axes exchanged
  const auto warnings = warnings_of({.rotation = "30", .transpose = "0"}, std::move(centres));
  ASSERT_FALSE(warnings.empty());
  EXPECT_THAT(warnings.front(), HasSubstr("transposed scan: --transpose 0 leaves"));
  EXPECT_THAT(warnings.front(), HasSubstr("--transpose 1 at 29.9 degrees only 0.1 %"));
}

TEST(PhaseResult, SaysHowFarTheBeamDrifts) {
  VectorField centres = turned_waves().centres;
  for (std::size_t i = 0; i < centres.x.size(); ++i) {
    const auto row = static_cast<double>(i / 27), col = static_cast<double>(i % 27);
    centres.x[i] += 6 * col / 26;
    centres.y[i] -= 2.5 * row / 21;
  }
  const PhaseResult drifting = phase_of({}, centres);
  ASSERT_TRUE(drifting.drift);
  EXPECT_NEAR(drifting.drift->px, 6.5, 0.3);  // the hills have a slope of their own
  EXPECT_GT(drifting.drift->share, 0.5);
  EXPECT_THAT(drifting.lines(), ::testing::Contains(HasSubstr("descan or a slow field of the specimen")));
  EXPECT_FALSE(phase_of({.fit = "plane"}, centres).drift);
}

TEST(PhaseResult, NamesAnInvertedContrast) {
  EXPECT_THAT(warnings_of({.rotation = "-150", .transpose = "0"}).front(),
              HasSubstr("inverted contrast: the divergence is skewed by +"));
  EXPECT_THAT(warnings_of({.rotation = "-150", .transpose = "0", .sign = Contrast::valleys}), IsEmpty());
}

TEST(PhaseResult, RotationsOfOtherProgramsAreThoseOfThisOne) {
  EXPECT_THAT(warnings_of({.rotation = "-30", .transpose = "0", .convention = Convention::py4dstem}), IsEmpty());
  EXPECT_THAT(warnings_of({.rotation = "30", .transpose = "0", .convention = Convention::libertem}), IsEmpty());
  EXPECT_THAT(sonde::testing::error_of(
                  ErrorKind::usage,
                  [] { (void)PhaseOptions{.rotation = "30", .convention = Convention::libertem}.rotation_request(); }),
              HasSubstr("give --transpose 0 or --transpose 1, which is flip_y, too"));
}

TEST(PhaseResult, SaysThatNoiseHasNoRotation) {
  VectorField centres = make_field(20, 25);
  draw_normal({4, 0}, centres.x);
  draw_normal({4, 1}, centres.y);
  const auto warnings = warnings_of({}, std::move(centres));
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_THAT(warnings[0], HasSubstr("the rotation is not certain: confidence 0."));
  EXPECT_THAT(warnings[1], HasSubstr("hills and valleys of the phase may be exchanged"));
}

/// The waves with the scatter of so many counts, and its standard errors.
PhaseResult result_with_counts(double counts, const PhaseOptions& options = {}) {
  CentreErrors errors{.x = turned_waves().sigma_x, .y = turned_waves().sigma_y};
  for (std::vector<double>* sigma : {&errors.x, &errors.y})
    for (double& value : *sigma) value /= std::sqrt(counts);
  return make_phase(with_counts(turned_waves(), counts, 11), phase_scale("scan.h5", full_calibration(), 1, 1, options),
                    options, {}, errors);
}

TEST(PhaseResult, SaysHowFarCountsScatterTheCentres) {
  const PhaseResult result = result_with_counts(1e6);
  ASSERT_TRUE(result.noise.has_value());
  EXPECT_THAT(result.lines().at(2), ::testing::MatchesRegex("noise     counts scatter centres by 0\\.[0-9]+ px "
                                                            "\\(median\\), deflections are 0\\.[0-9]+ px \\(rms\\)"));
  EXPECT_LT(result.noise->share, 0.01);
  EXPECT_THAT(result.warnings, IsEmpty());
  EXPECT_EQ(result.to_value()["noise"]["share"], result.noise->share);
  // The least counts with which the phase is half noise.
  const double counts = 1e6 * result.noise->share;
  EXPECT_NEAR(result_with_counts(counts).noise->share, 0.5, 0.05);
}

TEST(PhaseResult, NamesTheNoiseOfCounts) {
  const double counts = 1e6 * result_with_counts(1e6).noise->share / 4;  // four times as much noise as signal
  const PhaseResult result = result_with_counts(counts, {.rotation = "30", .transpose = "0"});
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_THAT(result.warnings[0],
              ::testing::MatchesRegex("(7[7-9]|8[0-3]) % of the squared deflections is noise of the "
                                      "counts, which the integral turns into slow waves; .*"));
}

TEST(PhaseResult, NoiseOfCountsIsACauseOfAnUncertainRotation) {
  VectorField centres = make_field(20, 25);
  draw_normal({4, 0}, centres.x);
  draw_normal({4, 1}, centres.y);
  const auto first_warning = [&](double sigma) {
    const std::vector<double> errors(centres.x.size(), sigma);
    return make_phase(centres, phase_scale("scan.h5", full_calibration(), 1, 1, {}), {}, {}, {.x = errors, .y = errors})
        .warnings.at(0);
  };
  EXPECT_THAT(first_warning(1), HasSubstr("% of the squared deflections is noise of the counts. Give"));
  EXPECT_THAT(first_warning(0.1),
              HasSubstr("noise of the counts is only 1 % of the squared deflections: the scan is too "
                        "small, or the deflections are not those of a phase. Give"));
}

TEST(PhaseResult, NamesTheThreshold) {
  const PhaseOptions options;
  const auto threshold_line = [&](CentreErrors errors) {
    return make_phase(turned_waves().centres, phase_scale("scan.h5", full_calibration(), 1, 1, options), options, {},
                      std::move(errors))
        .lines()
        .at(2);
  };
  EXPECT_EQ(threshold_line({.threshold = 12.5, .counts_kept = 0.875}),
            "threshold 12.5 counts, pixels above have 87.5 % of all counts");
  EXPECT_EQ(threshold_line({.threshold = 3, .found_threshold = true}),
            "threshold 3 counts from the corners of the detector, pixels above have 100.0 % of all counts");
}

TEST(PhaseResult, WarnsOfFitsThatTakeTheSpecimenAway) {
  EXPECT_THAT(warnings_of({.fit = "plane"}),
              ElementsAre("--fit plane also takes slow variations of the specimen away; --fit file:SCAN of a vacuum "
                          "scan does not"));
}

TEST(PhaseResult, MissingPositionsAreNaNAndNamed) {
  VectorField centres = turned_waves().centres;
  for (const std::size_t here : {40U, 41U, 300U}) {
    centres.valid[here] = 0;
    centres.x[here] = centres.y[here] = std::numeric_limits<double>::quiet_NaN();
  }
  const PhaseResult result = phase_of({}, centres);
  EXPECT_TRUE(std::isnan(result.phase[40]));
  EXPECT_TRUE(std::isfinite(result.phase[39]));
  EXPECT_THAT(warnings_of({}, centres),
              ElementsAre("3 of 594 positions are missing and were filled from beside them; --method cg leaves them "
                          "out"));
  EXPECT_THAT(warnings_of({.method = IntegralMethod::cg}, centres), IsEmpty());
}

TEST(PhaseResult, TheBorderOfAKernelSumIsFlagged) {
  const PhaseResult result = phase_of({.method = IntegralMethod::ricom, .kernel = 5});
  Index complete = 0;
  for (const std::uint8_t flag : result.complete) complete += flag;
  EXPECT_EQ(complete, (22 - 10) * (27 - 10));
  EXPECT_THAT(result.warnings, ElementsAre("the kernel damps features wider than about 10 steps"));
}

TEST(PhaseResult, DescanOfAReferenceIsTakenAway) {
  VectorField centres = turned_waves().centres, vacuum = make_field(22, 27);
  for (Index i = 0; i < centres.positions(); ++i) {
    const auto here = static_cast<std::size_t>(i);
    const double row = static_cast<double>(i / 27), col = static_cast<double>(i % 27);
    vacuum.x[here] = 0.05 * col + 0.002 * row * row;
    vacuum.y[here] = -0.03 * col + 0.001 * row * col;
    centres.x[here] += vacuum.x[here];
    centres.y[here] += vacuum.y[here];
  }
  const PhaseOptions options{.fit = "file:vacuum.h5"};
  const PhaseScale scale = phase_scale("scan.h5", full_calibration(), 1, 1, options);
  const PhaseResult found = make_phase(centres, scale, options, vacuum), clean = phase_of({.fit = "none"});
  for (std::size_t i = 0; i < clean.phase.size(); ++i) ASSERT_NEAR(found.phase[i], clean.phase[i], 1e-9) << i;
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] { (void)make_phase(centres, scale, options, make_field(5, 6)); }),
              HasSubstr("the reference has 5 x 6 positions, the scan 22 x 27"));
}

TEST(PhaseResult, NeedsTwoPositions) {
  VectorField centres = make_field(3, 4);
  centres.valid.assign(12, 0);
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)phase_of({}, centres); }),
              HasSubstr("0 of 12 positions have counts; a phase needs 2 or more\nhint: lower --min-counts"));
}

TEST(PhaseContents, MapsSayWhatTheyAre) {
  const Contents contents = phase_contents(phase_of({}), "sonde stem phase");
  for (const auto& [name, unit] :
       {std::pair("com/x", "px"), std::pair("com/sum", "counts"), std::pair("field/x", "1/A"),
        std::pair("field/curl", "1/A^2"), std::pair("field/angle", "rad"), std::pair("phase/icom", "rad")}) {
    SCOPED_TRACE(name);
    const Contents::Variable* variable = contents.find(name);
    ASSERT_NE(variable, nullptr);
    EXPECT_EQ(variable->unit(), unit);
    EXPECT_EQ(variable->values.shape(), (Shape{22, 27}));
    std::vector<std::string> keys;
    for (const auto& [key, value] : variable->attributes) keys.push_back(key);
    for (const char* key : {"frame", "calibration", "sonde_version", "command"})
      EXPECT_THAT(keys, ::testing::Contains(key));
  }
}

TEST(PhaseContents, HasStandardErrorsOfCounts) {
  EXPECT_EQ(phase_contents(phase_of({}), "sonde stem phase").find("com/sigma_x"), nullptr);
  const PhaseResult result = result_with_counts(1e6);
  const Contents contents = phase_contents(result, "sonde stem phase");
  for (const auto& [name, errors] :
       {std::pair("com/sigma_x", &result.errors.x), std::pair("com/sigma_y", &result.errors.y)}) {
    const Contents::Variable* variable = contents.find(name);
    ASSERT_NE(variable, nullptr);
    EXPECT_EQ(variable->unit(), "px");
    EXPECT_EQ((variable->values.view<float, 2>()(3, 4)), static_cast<float>((*errors)[3 * 27 + 4]));
  }
}

TEST(PhasePicture, HasFourPanelsAlsoWithGaps) {
  VectorField centres = turned_waves().centres;
  centres.valid[100] = 0;
  centres.x[100] = centres.y[100] = std::numeric_limits<double>::quiet_NaN();
  const Array picture = phase_picture(phase_of({}, centres));
  EXPECT_EQ(picture.shape()[2], 3);
  EXPECT_GT(picture.shape()[0], 2 * 22 * 17);  // positions of 17 pixels, two panels high
  EXPECT_GT(picture.shape()[1], 2 * 27 * 17);
}

TEST(PhaseOptionsTexts, AreChecked) {
  PhaseOptions options;
  Fields fields(options);
  for (const auto& [key, text, message] :
       {std::tuple("fit", "cubic", "expected none, mean, plane, parabola or file:SCAN"),
        std::tuple("threshold", "-1", "expected none, auto, or 0 or more counts"),
        std::tuple("rotation", "north", "expected auto, or degrees from -360 to 360"),
        std::tuple("transpose", "yes", "expected auto, 0 or 1")})
    EXPECT_THAT(
        sonde::testing::error_of(
            ErrorKind::usage, [&, key = key, text = text] { fields.assign_text(key, text, "--" + std::string(key)); }),
        HasSubstr(message));
}

TEST(PhaseOptionsTexts, ABandThatLetsNothingPassIsRefused) {
  PhaseOptions options;
  options.kernel_lowest = 2;
  options.kernel_highest = 5;
  options.check();
  options.kernel_highest = 2;
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::usage, [&] { options.check(); }),
              HasSubstr("no frequency of the kernel is above 2 and up to 2"));
}

}  // namespace
}  // namespace sonde::stem
