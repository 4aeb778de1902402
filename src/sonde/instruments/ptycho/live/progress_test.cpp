// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/live/progress.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde::ptycho {
namespace {

constexpr double floor_of_r = 0.1;

/// Thirty iterations that have settled well, at 1.2 times the floor.
struct ProgressDiagnoses : ::testing::Test {
  std::vector<IterationRecord> history;

  ProgressDiagnoses() {
    for (Index i = 1; i <= 30; ++i) {
      IterationRecord record;
      record.number = i;
      record.fit.r_intensity = 0.12;
      record.r_free = 0.125;
      record.positions = PositionReport{};
      history.push_back(record);
    }
  }

  [[nodiscard]] Diagnosis found(std::string_view name) const {
    for (const Diagnosis& diagnosis : diagnose_progress(history, floor_of_r, 100))
      if (diagnosis.name == name) return diagnosis;
    ADD_FAILURE() << "no diagnosis " << name;
    return {};
  }
  [[nodiscard]] Verdict verdict(std::string_view name) const { return found(name).verdict; }
};

TEST_F(ProgressDiagnoses, OfASoundRunAllAreGood) {
  const std::vector<Diagnosis> all = diagnose_progress(history, floor_of_r, 100);
  EXPECT_EQ(all.size(), 7u);
  for (const Diagnosis& diagnosis : all) EXPECT_EQ(diagnosis.verdict, Verdict::good) << diagnosis.name;
}

TEST_F(ProgressDiagnoses, BeforeTheFirstIterationThereAreNone) {
  EXPECT_TRUE(diagnose_progress({}, floor_of_r, 100).empty());
}

TEST_F(ProgressDiagnoses, AnErrorThatRisesIsNearDivergence) {
  for (std::size_t i = 26; i < 30; ++i) history[i].fit.r_intensity = 0.13;
  EXPECT_EQ(verdict("near_divergence"), Verdict::suspect);
  EXPECT_NEAR(found("near_divergence").value, 0.13 / 0.12, 1e-12);
}

TEST_F(ProgressDiagnoses, AnotherEngineBeginsWithAnErrorOfItsOwn) {
  for (std::size_t i = 20; i < 30; ++i) history[i].fit.r_intensity = 0.13, history[i].engine = 1;
  EXPECT_EQ(verdict("near_divergence"), Verdict::good);
}

TEST_F(ProgressDiagnoses, PowerDriftsEitherWay) {
  history.back().power_total = 1.06;
  EXPECT_EQ(verdict("power_drift"), Verdict::suspect);
  history.back().power_total = 1 / 1.06;
  EXPECT_EQ(verdict("power_drift"), Verdict::suspect);
  EXPECT_EQ(verdict("power_change"), Verdict::good);
  for (IterationRecord& record : history) record.power_total = 1.6;
  EXPECT_EQ(verdict("power_drift"), Verdict::good);
  EXPECT_EQ(verdict("power_change"), Verdict::suspect);
}

TEST_F(ProgressDiagnoses, AnErrorFarFromItsFloorCountsOnceItHasSettled) {
  for (IterationRecord& record : history) record.fit.r_intensity = 0.21;
  EXPECT_EQ(verdict("above_floor"), Verdict::suspect);
  for (std::size_t i = 10; i < 20; ++i) history[i].fit.r_intensity = 0.22;  // still falls by 5 %
  EXPECT_EQ(verdict("above_floor"), Verdict::unknown);
}

TEST_F(ProgressDiagnoses, AnErrorBelowItsFloorFitsNoise) {
  history.back().fit.r_intensity = 0.099;
  EXPECT_NE(verdict("below_floor"), Verdict::suspect) << "a right fit takes a part of the noise with it";
  history.back().fit.r_intensity = 0.079;
  EXPECT_EQ(verdict("below_floor"), Verdict::suspect);
}

TEST_F(ProgressDiagnoses, AFreeErrorThatRisesIsOverFitting) {
  history[12].r_free = 0.122;
  EXPECT_EQ(verdict("over_fitting"), Verdict::suspect);
  EXPECT_NEAR(found("over_fitting").value, 0.125 / 0.122, 1e-12);
  history.back().r_free.reset();
  EXPECT_EQ(verdict("over_fitting"), Verdict::unknown);
}

TEST_F(ProgressDiagnoses, PositionsAtTheirLimitAreOfTheLastCorrection) {
  history[25].positions->at_limit = 6;
  for (std::size_t i = 26; i < 30; ++i) history[i].positions.reset();
  EXPECT_EQ(verdict("positions_at_limit"), Verdict::suspect);
  EXPECT_NEAR(found("positions_at_limit").value, 0.06, 1e-12);
  history[25].positions->at_limit = 5;
  EXPECT_EQ(verdict("positions_at_limit"), Verdict::good);
}

}  // namespace
}  // namespace sonde::ptycho
