// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/dose/disk_tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/dose/test_tuning.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using stem::testing::strain_error;
using stem::testing::StudiedCrystal;
using stem::testing::study_options;
using stem::testing::tuning_of;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

const TunedSetting& tuned(const DiskTuning& tuning, const std::string& key) {
  for (const TunedSetting& of : tuning.settings)
    if (of.key == key) return of;
  throw Error(ErrorKind::internal, "no setting " + key);
}

TEST(DiskTuning, ChoosesTheKernelThatTheCountsFavour) {
  StudiedCrystal crystal;
  crystal.counts = 300;
  const Dataset dataset = crystal.loaded();
  BraggOptions options = study_options();
  options.kernel = KernelShape::sigmoid;
  options.min_relative_intensity = 0.005;
  const DiskTuning tuning = tuning_of(dataset, options, 8);
  EXPECT_EQ(tuning.patterns, 8);
  EXPECT_EQ(tuning.with_lattice, 8);
  EXPECT_EQ(tuning.options.kernel, KernelShape::poisson);
  const TunedSetting& kernel = tuned(tuning, "kernel");
  EXPECT_EQ(kernel.trials.size(), 6U);
  EXPECT_EQ(kernel.trials[kernel.before].value, "sigmoid");
  EXPECT_EQ(kernel.trials[kernel.chosen].value, "poisson");
  EXPECT_THAT(kernel.because, AllOf(HasSubstr("in place of 1."), HasSubstr("sigmoid")));
  // Noise has maxima, of which the threshold leaves none.
  EXPECT_GT(tuning.options.min_relative_intensity, 0.005);
  EXPECT_EQ(tuned(tuning, "min_relative_intensity").trials[tuned(tuning, "min_relative_intensity").chosen].spurious, 0);
  // 8 patterns of 25 disks: the error is known to a twentieth, and so is its bound.
  EXPECT_NEAR(tuning.over_bound(), 1, 0.2);
  EXPECT_LT(strain_error(dataset, tuning.options), strain_error(dataset, options));
}

TEST(DiskTuning, IsTheSameForAnyThreads) {
  StudiedCrystal crystal;
  crystal.counts = 300;
  const Dataset dataset = crystal.loaded();
  std::vector<std::string> made;
  const int before = thread_count();
  for (const int threads : {1, 2, 7}) {
    set_thread_count(threads);
    made.push_back(to_json(tuning_of(dataset, study_options(), 4).to_value(), -1));
  }
  set_thread_count(before);
  EXPECT_EQ(made[0], made[1]);
  EXPECT_EQ(made[0], made[2]);
}

TEST(DiskTuning, ReportsWhatItTriedAndHowToRepeatIt) {
  DiskTuning tuning;
  tuning.patterns = 64;
  tuning.with_lattice = 63;
  tuning.bound = 1e-3;
  tuning.settings.push_back(
      {.key = "kernel",
       .trials = {{.value = "ring", .detections = 12, .spurious = 3, .missed = 2, .over_bound = 1.5},
                  {.value = "flat"}},
       .because = "a reason"});
  tuning.settings.push_back({.key = "min_peak_spacing", .trials = {{.value = "auto"}}, .because = "another"});
  const std::vector<std::string> lines = tuning.lines();
  ASSERT_EQ(lines.size(), 2U + 3U + 2U + 2U + 1U);
  EXPECT_THAT(lines[0], HasSubstr("64 patterns, 63 with a lattice; their counts allow an error of strain of 1.00e-03"));
  EXPECT_THAT(lines[3], AllOf(HasSubstr("* ring"), HasSubstr("1.50e-03"), HasSubstr("1.50")));
  EXPECT_THAT(lines[4], AllOf(HasSubstr("  flat"), HasSubstr(" - ")));
  EXPECT_THAT(lines[7], HasSubstr("(a reason)"));
  EXPECT_EQ(Error(ErrorKind::usage, lines[9]).spelled(Spelling::flags).what(),
            std::string("error: use       --kernel ring"));
  EXPECT_THAT(to_json(tuning.to_value(), -1), HasSubstr("\"chosen\":\"ring\""));
}

TEST(DiskTuning, PatternsWithoutALatticeAreRefused) {
  StudiedCrystal crystal;
  crystal.orders = 0;
  const Dataset dataset = crystal.loaded();
  EXPECT_THAT(
      error_of(ErrorKind::bad_input, [&] { (void)tuning_of(dataset, study_options(), 6); }),
      AllOf(HasSubstr("no lattice in the 6 patterns of the tuning: "), HasSubstr("give more patterns, --tune N")));
}

TEST(DiskTuning, SaysThatNoSettingHelpsUnevenDisks) {
  StudiedCrystal crystal;
  crystal.uneven = 0.7;
  EXPECT_THAT(tuning_of(crystal.loaded(), study_options(), 4).warnings, Contains(HasSubstr("unevenly filled")));
}

}  // namespace
}  // namespace sonde::stem
