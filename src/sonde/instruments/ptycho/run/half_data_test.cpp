// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/half_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sonde/instruments/ptycho/run/test_scan.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using ::testing::ElementsAre;
using testing::SmallScan;

TEST(Halves, AreAChessboardOnLinesOfEvenLength) {
  // Lines 0 1 2 3 / 4 5 6 7: neighbours along a line and across lines are in different halves.
  const auto [first, second] = halves({0, 1, 2, 3, 4, 5, 6, 7}, 4);
  EXPECT_THAT(first, ElementsAre(0, 2, 5, 7));
  EXPECT_THAT(second, ElementsAre(1, 3, 4, 6));
}

TEST(Halves, AreAChessboardOnLinesOfOddLength) {
  const auto [first, second] = halves({0, 1, 2, 3, 4, 5}, 3);
  EXPECT_THAT(first, ElementsAre(0, 2, 4));
  EXPECT_THAT(second, ElementsAre(1, 3, 5));
}

TEST(Halves, KeepLeftOutFramesOut) {
  const auto [first, second] = halves({0, 3, 4, 7}, std::nullopt);
  EXPECT_THAT(first, ElementsAre(0, 4));
  EXPECT_THAT(second, ElementsAre(3, 7));
}

RingCorrelation correlate(const SmallScan& scan) {
  const Job job(scan.run, scan.source, plan_job(scan.run, scan.source));
  return half_data_correlation(job, scan.run, SmallScan::all_frames(), scan.source.scan_shape->cols);
}

TEST(HalfData, AgreeFurtherWithMoreCounts) {
  const RingCorrelation few = correlate(SmallScan(2e2)), many = correlate(SmallScan(1e6));
  ASSERT_GE(many.correlation.size(), 4u);
  EXPECT_GT(many.correlation[2], 0.95);  // well inside of the aperture, at a thousandth of noise
  constexpr double beyond = 1e9;         // a curve that never falls below the threshold resolves everything
  EXPECT_GT(many.crossing().value_or(beyond), few.crossing().value_or(beyond));
}

TEST(HalfData, AHalfThatDivergesSaysSo) {
  const SmallScan wild(1e4, "[[engine]]\nname = \"epie\"\niterations = 200\nstep_object = 2.0\nstep_probe = 2.0\n");
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::not_converged, [&] { (void)correlate(wild); }),
      ::testing::AnyOf(::testing::HasSubstr("half of the frames diverged"), ::testing::HasSubstr("not finite")));
}

}  // namespace
}  // namespace sonde::ptycho
