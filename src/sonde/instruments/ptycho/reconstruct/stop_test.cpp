// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/reconstruct/stop.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

namespace sonde::ptycho {
namespace {

using Verdict = StopJudge::Verdict;

/// The iteration in which the judge first says something else than go_on, and what; 0 when it never does.
template <class Curve>
std::pair<int, Verdict> first_word(StopRule rule, Curve curve, double power_ratio = 1, int iterations = 200) {
  StopJudge judge({.rule = rule});
  double power = 1;
  for (int n = 1; n <= iterations; ++n) {
    power *= power_ratio;
    const Verdict verdict = judge.judge(curve(n), power_ratio, power);
    if (verdict != Verdict::go_on) return {n, verdict};
  }
  return {0, Verdict::go_on};
}

TEST(StopJudge, RelativeComparesMediansOfTenWithTheTenBefore) {
  // Flat from the start: the first two windows are complete in iteration 20.
  EXPECT_EQ(first_word(StopRule::relative, [](int) { return 0.2; }), std::pair(20, Verdict::converged));
  // Falling by 0.2 % in ten iterations is still a change; by 0.05 % it is none.
  EXPECT_EQ(first_word(StopRule::relative, [](int n) { return 0.2 * std::pow(0.998, n / 10.0); }),
            std::pair(0, Verdict::go_on));
  EXPECT_EQ(first_word(StopRule::relative, [](int n) { return 0.2 * std::pow(0.9995, n / 10.0); }),
            std::pair(20, Verdict::converged));
}

TEST(StopJudge, RelativeDoesNotCallAProbeThatGrowsConverged) {
  // 1 % an iteration is 10 % in ten; it is called diverged once it has doubled without a new best.
  const auto [when, verdict] = first_word(
      StopRule::relative, [](int) { return 0.2; }, 1.01);
  EXPECT_EQ(verdict, Verdict::diverged);
  EXPECT_EQ(when, 70);  // 1.01^70 = 2.007
}

TEST(StopJudge, RelativeCallsARisingMedianDiverged) {
  // Best median at iteration 20; then 1 % up an iteration: above 1.02 x best from the third median that is later, five
  // in a row.
  const auto [when, verdict] =
      first_word(StopRule::relative, [](int n) { return n <= 20 ? 0.4 - 0.01 * n : 0.2 * (1 + 0.01 * (n - 20)); });
  EXPECT_EQ(verdict, Verdict::diverged);
  EXPECT_GT(when, 25);
  EXPECT_LT(when, 35);
  // One wild iteration is no divergence.
  EXPECT_EQ(first_word(StopRule::relative, [](int n) { return n == 30 ? 0.9 : 0.2 * std::pow(0.99, n); }),
            std::pair(0, Verdict::go_on));
}

TEST(StopJudge, AbsoluteCountsSingleDifferences) {
  EXPECT_EQ(first_word(StopRule::absolute, [](int) { return 0.2; }), std::pair(11, Verdict::converged));
  const auto rising = [](int n) { return 0.2 + 0.002 * n; };
  EXPECT_EQ(first_word(StopRule::absolute, rising), std::pair(7, Verdict::diverged));
}

TEST(StopJudge, OffNeverStops) {
  EXPECT_EQ(first_word(
                StopRule::off, [](int n) { return 0.1 * n; }, 1.1),
            std::pair(0, Verdict::go_on));
}

TEST(StopJudge, ANewWindowForgetsWhatWasSeen) {
  StopJudge judge({});
  for (int n = 1; n <= 19; ++n) EXPECT_EQ(judge.judge(0.2, 1, 1), Verdict::go_on);
  judge.begin_window();
  for (int n = 1; n <= 19; ++n) EXPECT_EQ(judge.judge(0.2, 1, 1), Verdict::go_on);
  EXPECT_EQ(judge.judge(0.2, 1, 1), Verdict::converged);
}

TEST(StopJudge, WhatIsNoNumberEndsARunUnderEveryRule) {
  for (const StopRule rule : {StopRule::relative, StopRule::absolute, StopRule::off})
    for (const double wild : {INFINITY, NAN})
      EXPECT_EQ(first_word(rule, [=](int n) { return n == 3 ? wild : 0.2; }), std::pair(3, Verdict::diverged));
}

TEST(StopJudge, WarnsOnceOfAProbeWhosePowerDrifts) {
  StopJudge judge({.rule = StopRule::off});
  std::vector<int> warned;
  for (int n = 1; n <= 60; ++n) {
    if (n == 41) judge.begin_window();
    (void)judge.judge(0.2, 1.006, 1);  // 1.006^10 = 1.0616
    if (!judge.power_warning(n).empty()) warned.push_back(n);
  }
  EXPECT_EQ(warned, (std::vector{21, 50}));
  StopJudge still({.rule = StopRule::off});
  for (int n = 1; n <= 60; ++n) {
    (void)still.judge(0.2, n % 2 == 0 ? 1.02 : 1 / 1.02, 1);  // to and fro
    EXPECT_EQ(still.power_warning(n), "");
  }
}

}  // namespace
}  // namespace sonde::ptycho
