// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/orient/orient.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sonde/instruments/ptycho/orient/test_orient.h"
#include "sonde/instruments/ptycho/run/job.h"
#include "tests/support/errors.h"
#include "tests/support/interrupts.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

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
              HasSubstr("rotation_deg: \"north\" is not an angle"));
}

TEST_F(FindOrientation, WarnsOfTheScanAsARunDoes) {
  OrientOptions options;
  options.iterations = 2;
  options.scan = 12;  // all frames, so that both read the same
  options.refine = false;
  Source coarse = scanned(false, 0);
  coarse.step_a = 4;
  coarse.warnings = {"a warning of the reader"};
  RunFile run;
  run.parse("[probe]\nfwhm = 3\n[[engine]]\nname = \"gd\"\n", "a run");
  const Job job(run, coarse, plan_job(run, coarse));
  EXPECT_THAT(job.warnings(), ::testing::Contains(HasSubstr("results are rarely to be trusted")));
  EXPECT_THAT(job.warnings(), ::testing::Contains(HasSubstr("fwhm = 3 has no effect")));
  EXPECT_THAT(found_for(std::move(coarse), options, run).warnings, ::testing::ElementsAreArray(job.warnings()));
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
