// SPDX-License-Identifier: Apache-2.0
// Simulated scans whose nominal raster says nothing of how they lie.
#include "sonde/instruments/ptycho/orient/orient.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sonde/instruments/ptycho/simulate/simulate.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/interrupts.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

constexpr double degree = std::numbers::pi / 180;

double apart(double a, double b) { return std::abs(std::remainder(a - b, 2 * std::numbers::pi)); }

class FindOrientation : public ::testing::Test {
 protected:
  void SetUp() override { testing::write_bytes(folder_.file("simulated"), {}); }
  /// 12 x 12 patterns of 32 x 32 pixels as a raster without orientation.
  [[nodiscard]] Source scanned(bool transpose, double rotation_deg) const {
    SimulateOptions options;
    options.detector_px = 32;
    options.scan_shape = "12,12";
    options.scan_step_A = 0.9;
    options.transpose = transpose;
    options.scan_rotation_deg = rotation_deg;
    const Truth truth = truth_of(options);
    Source source;
    source.file = folder_.file("simulated");  // what provenance looks at
    source.shape = Shape{144, 32, 32};
    source.dtype = DType::u32;
    source.scan_shape = Extent{12, 12};
    source.energy_kev = options.energy_keV;
    source.mrad_per_px = 1000 * truth.sampling.angle_row();
    source.semiangle_mrad = options.semiangle_mrad;
    source.step_a = options.scan_step_A;
    source.probe = truth.start_probe.clone();
    const auto frames = std::make_shared<Array>(draw_frames(truth, 5, 0, 144, DType::u32));
    source.read_patterns = [frames] { return frames->clone(); };
    return source;
  }
  static Orientation found_for(Source source, const OrientOptions& options, const RunFile& settings) {
    return find_orientation(settings, std::move(source), options, Budget::automatic(Device::cpu()));
  }

  testing::TemporaryFolder folder_;
};

TEST_F(FindOrientation, FindsHandednessAndAngle) {
  for (const auto& [transpose, rotation] : {std::pair{false, 25.0}, std::pair{true, -70.0}, std::pair{true, 160.0}}) {
    SCOPED_TRACE(::testing::Message() << rotation << (transpose ? " transposed" : ""));
    const RunFile settings;
    const Orientation found = found_for(scanned(transpose, rotation), {}, settings);
    EXPECT_EQ(found.frames, 144);
    ASSERT_GE(found.trials.size(), 11u);
    EXPECT_EQ(found.best().transpose, transpose);
    // The command promises a degree or two for any scan. Half of one moves the edge of these 10 A by a twentieth of a
    // step, which as many counts tell.
    EXPECT_LT(apart(found.best().rotation, rotation * degree), 0.5 * degree) << found.best().rotation / degree;
    EXPECT_TRUE(found.clear());
    EXPECT_LT((transpose ? found.transposed : found.straight).curl,
              (transpose ? found.straight : found.transposed).curl);
    for (std::size_t i = 1; i < found.trials.size(); ++i)
      EXPECT_LE(found.trials[i - 1].score(), found.trials[i].score());
    EXPECT_THAT(found.run_file_lines(), HasSubstr(transpose ? "transpose = true\n" : "transpose = false\n"));
  }
}

TEST_F(FindOrientation, DoesNotDependOnTheOrientationInTheSettings) {
  OrientOptions options;
  options.scan = 8;
  options.iterations = 3;
  options.refine = false;
  RunFile turned;
  turned.geometry.transpose = true;
  turned.geometry.scan_rotation_deg = 77;
  const RunFile settings;
  const Orientation a = found_for(scanned(false, 25), options, settings),
                    b = found_for(scanned(false, 25), options, turned);
  EXPECT_EQ(a.frames, 64);
  ASSERT_EQ(a.trials.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(a.trials[i].rotation, b.trials[i].rotation);
    EXPECT_EQ(a.trials[i].score(), b.trials[i].score());
  }
}

TEST_F(FindOrientation, TriesTheAnglesThatAreAsked) {
  OrientOptions options;
  options.iterations = 2;
  options.scan = 6;
  options.refine = false;
  options.rotation_deg = {"10", "-20.5"};
  const RunFile settings;
  const Orientation found = found_for(scanned(false, 10), options, settings);
  ASSERT_EQ(found.trials.size(), 16u);
  for (const OrientTrial& trial : found.trials) {
    const double quarter = std::numbers::pi / 2;
    EXPECT_LT(std::min(std::abs(std::remainder(trial.rotation - 10 * degree, quarter)),
                       std::abs(std::remainder(trial.rotation + 20.5 * degree, quarter))),
              1e-12);
  }
  options.rotation_deg = {"north"};
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)found_for(scanned(false, 10), options, settings); }),
              HasSubstr("rotation_deg: \"north\" is no angle"));
}

TEST_F(FindOrientation, StopsInTheMiddleOfATrial) {
  OrientOptions options;
  options.iterations = 4;
  const RunFile settings;
  // 144 deflections and their slopes, two ways round; then trials of 144 patterns.
  for (const int look : {100, 400, 1000}) {
    const sonde::testing::InterruptAt request(look);
    (void)error_of(ErrorKind::interrupted, [&] { (void)found_for(scanned(false, 25), options, settings); });
    EXPECT_LE(request.looks(), look + thread_count());
  }
}

TEST_F(FindOrientation, NeedsWhatARunNeeds) {
  const RunFile settings;
  Source unknown = scanned(false, 0);
  unknown.energy_kev.reset();
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)found_for(std::move(unknown), {}, settings); }),
              HasSubstr("energy_keV is missing"));
  EXPECT_THAT(error_of(ErrorKind::budget,
                       [&] { (void)find_orientation(settings, scanned(false, 0), {}, Budget(1000, "a test")); }),
              HasSubstr("simulated"));
}

}  // namespace
}  // namespace sonde::ptycho
