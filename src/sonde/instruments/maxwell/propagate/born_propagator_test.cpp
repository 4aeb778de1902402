// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/born_propagator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/maxwell/propagate/test_problem.h"

namespace sonde::maxwell {
namespace {

using testing::MixedCase;

constexpr Index born_steps = 30;

std::vector<double> in_line(const reference::Samples& samples) {
  std::vector<double> made;
  for (const auto& row : samples) made.insert(made.end(), row.begin(), row.end());
  return made;
}

class BornPropagatorOf : public ::testing::TestWithParam<MixedCase> {
 protected:
  BornPropagatorOf()
      : problem_(testing::mixed_problem(GetParam())),
        shot_(testing::mixed_shot(problem_)),
        sources_(testing::mixed_samples(problem_, shot_.sources, born_steps, 3)),
        changes_(testing::mixed_samples(problem_, shot_.sources, born_steps, 6)),
        start_(testing::mixed_state(problem_, 4)),
        start_change_(testing::mixed_state(problem_, 7)),
        change_(testing::mixed_change(problem_, 8)) {
    change_.poles = testing::mixed_pole_change(problem_, 9);
  }

  template <class T>
  [[nodiscard]] std::vector<double> found() const {
    BornPropagator<T> born(problem_, change_);
    born.set_state(start_, start_change_);
    std::vector<double> made(static_cast<std::size_t>(born_steps) * shot_.receivers.size());
    born.run(shot_, born_steps, in_line(sources_), in_line(changes_), {}, made);
    return made;
  }

  [[nodiscard]] ComponentChange without_poles() const { return {change_.eps_r, change_.sigma, change_.mu_r}; }

  Problem problem_;
  Acquisition shot_;
  reference::Samples sources_, changes_;
  State start_, start_change_;
  ComponentChange change_;
};

TEST_P(BornPropagatorOf, FindsWhatTheReferenceFinds) {
  const std::vector<double> wanted = in_line(
      reference::jvp(problem_, shot_, sources_, start_, {without_poles(), change_.poles, changes_, start_change_}));
  double most = 0;
  for (const double value : wanted) most = std::max(most, std::abs(value));
  const auto apart = [&](const std::vector<double>& made) {
    double worst = 0;
    for (std::size_t i = 0; i < made.size(); ++i) worst = std::max(worst, std::abs(made[i] - wanted[i]));
    return worst / most;
  };
  // Rounding of 30 steps.
  EXPECT_LT(apart(found<double>()), 1e-12);
  EXPECT_LT(apart(found<float>()), 1e-4);
}

TEST_P(BornPropagatorOf, GivesTheSameBitsWithAnyNumberOfThreads) {
  const int before = thread_count();
  set_thread_count(1);
  const std::vector<double> one = found<float>();
  set_thread_count(3);
  const std::vector<double> three = found<float>();
  set_thread_count(before);
  EXPECT_EQ(one, three);
}

INSTANTIATE_TEST_SUITE_P(Cases, BornPropagatorOf,
                         ::testing::Values(MixedCase{}, MixedCase{.order = 8},
                                           MixedCase{.order = 4, .loss = LossForm::exponential}, MixedCase{.poles = 2},
                                           MixedCase{.mode = Mode::em3d},
                                           MixedCase{.mode = Mode::em3d, .order = 4, .poles = 1}),
                         [](const auto& each) { return testing::text_of(each.param); });

}  // namespace
}  // namespace sonde::maxwell
