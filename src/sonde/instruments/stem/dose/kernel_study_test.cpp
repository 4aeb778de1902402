// SPDX-License-Identifier: Apache-2.0
// The study says of drawn crystals what their known places say.
#include "sonde/instruments/stem/dose/kernel_study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/bragg/bragg_result.h"
#include "sonde/instruments/stem/dose/test_study.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using stem::testing::known_disks;
using stem::testing::KnownDisk;
using stem::testing::StudiedCrystal;
using stem::testing::study_edge;
using stem::testing::study_options;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// The rms deviation of the disks that a kernel finds from where they were drawn, over their bounds.
double true_scatter(const std::vector<KnownDisk>& known, const Dataset& dataset, KernelShape kernel) {
  BraggOptions options = study_options();
  options.kernel = kernel;
  const BraggVectors found =
      make_bragg(dataset, find_probe(dataset, options), options, Budget(std::size_t{1} << 28, "test")).vectors;
  double squares = 0, count = 0;
  for (const KnownDisk& disk : known)
    for (auto at = static_cast<std::size_t>(found.first(disk.position));
         at < static_cast<std::size_t>(found.last(disk.position)); ++at) {
      const double dy = static_cast<double>(found.qy[at]) - disk.y, dx = static_cast<double>(found.qx[at]) - disk.x;
      if (std::hypot(dy, dx) > 2) continue;
      squares += dy * dy * disk.of_y + dx * dx * disk.of_x;
      count += 2;
    }
  EXPECT_EQ(count, 2 * static_cast<double>(known.size()));
  return std::sqrt(squares / count);
}

KernelStudy study_of(const Dataset& dataset, Index patterns = 24) {
  const BraggOptions options = study_options();
  return study_kernels(dataset, find_probe(dataset, options), options, patterns, Budget(std::size_t{1} << 28, "test"));
}

TEST(KernelStudy, SaysOfEveryKernelWhatTheKnownPlacesSay) {
  const StudiedCrystal crystal;
  const Dataset dataset = crystal.loaded();
  const KernelStudy study = study_of(dataset);
  EXPECT_EQ(study.with_lattice, 24);
  EXPECT_NEAR(study.profile.edge, study_edge, 0.15);
  // 25 disks of 24 patterns, two numbers each less six of a pattern: 2.2 % by chance.
  const KernelTrial& sigmoid = study.of(KernelShape::sigmoid);
  EXPECT_GT(sigmoid.over_bound, 1.35);
  EXPECT_LT(sigmoid.over_bound, 1.65);
  EXPECT_NEAR(sigmoid.counts_lost(), 0.55, 0.1) << "half of the dose";
  EXPECT_LT(study.of(KernelShape::ring).over_bound, 1.25);
  EXPECT_LT(study.of(KernelShape::poisson).over_bound, 1.12);
  EXPECT_EQ(study.recommended, KernelShape::poisson);
  EXPECT_THAT(study.warnings, IsEmpty());
  EXPECT_EQ(sigmoid.missed, 0);
  // The same counts; chance is in the six parameters of each lattice, and in counts and bounds that are measured: 2 %.
  const std::vector<KnownDisk> drawn = known_disks(crystal);
  for (const KernelShape kernel : {KernelShape::sigmoid, KernelShape::poisson}) {
    SCOPED_TRACE(name(kernel));
    const double known = true_scatter(drawn, dataset, kernel);
    EXPECT_NEAR(study.of(kernel).over_bound, known, 0.05 * known);
  }
}

// A maximum moves towards the brighter side of a disk, with every kernel.
TEST(KernelStudy, NamesDisksThatAreUnevenlyFilled) {
  StudiedCrystal crystal;
  crystal.uneven = 0.9;
  const KernelStudy study = study_of(crystal.loaded(), 12);
  EXPECT_EQ(study.patterns, 12);
  EXPECT_THAT(study.warnings, Contains(HasSubstr("unevenly filled")));
}

TEST(KernelStudy, TheTableHasARowForEveryKernelAndTheRecommendation) {
  KernelStudy study;
  study.bound = 0.05;
  study.recommended = KernelShape::poisson;
  study.because = "for a reason";
  for (int kernel = 0; kernel < 6; ++kernel)
    study.trials.push_back({.kernel = static_cast<KernelShape>(kernel), .over_bound = 1 + 0.1 * kernel});
  study.trials[0].over_bound = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::string> lines = study.lines();
  ASSERT_EQ(lines.size(), 3U + 6U + 1U);
  EXPECT_THAT(lines[3], AllOf(HasSubstr("flat"), Not(HasSubstr("%")))) << "it found too few disks";
  EXPECT_THAT(lines[5], AllOf(HasSubstr("sigmoid "), HasSubstr("0.0600"), HasSubstr("1.20"), HasSubstr("31 %")));
  EXPECT_THAT(lines[9], AllOf(HasSubstr("poisson"), HasSubstr(" (for a reason)")));
  const Value value = study.to_value();
  EXPECT_THAT(to_json(value, -1), HasSubstr("\"recommended\":\"poisson\""));
}

TEST(KernelStudy, PatternsWithoutALatticeAreRefused) {
  StudiedCrystal crystal;
  crystal.orders = 0;
  const Dataset dataset = crystal.loaded();
  const std::string error = error_of(ErrorKind::bad_input, [&] { (void)study_of(dataset, 8); });
  EXPECT_THAT(error, HasSubstr("no lattice in the 8 patterns of the kernel study: "));
}

}  // namespace
}  // namespace sonde::stem
