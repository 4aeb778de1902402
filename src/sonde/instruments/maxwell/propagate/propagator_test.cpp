// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/propagator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/maxwell/propagate/test_problem.h"

namespace sonde::maxwell {
namespace {

using testing::MixedCase;

constexpr Index fast_steps = 40;

std::vector<double> flat(const reference::Samples& samples) {
  std::vector<double> made;
  for (const auto& row : samples) made.insert(made.end(), row.begin(), row.end());
  return made;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

/// H times 377, so that one number says how far two records of both kinds of receivers are apart.
std::vector<double> weighted(std::vector<double> record, const Acquisition& shot) {
  for (std::size_t i = 0; i < record.size(); ++i)
    if (!is_electric(shot.receivers[i % shot.receivers.size()].component)) record[i] *= 377;
  return record;
}

class PropagatorOf : public ::testing::TestWithParam<MixedCase> {
 protected:
  PropagatorOf()
      : problem_(testing::mixed_problem(GetParam())),
        shot_(testing::mixed_shot(problem_)),
        sources_(testing::mixed_samples(problem_, shot_.sources, fast_steps, 3)),
        start_(testing::mixed_state(problem_, 4)) {}

  template <class T>
  std::vector<double> record(Index together = 0) const {
    Propagator<T> fast(problem_);
    fast.set_state(start_);
    std::vector<double> made(static_cast<std::size_t>(fast_steps) * shot_.receivers.size());
    fast.run(shot_, fast_steps, flat(sources_), made, {.together = together});
    return weighted(std::move(made), shot_);
  }
  [[nodiscard]] std::vector<double> expected() const {
    State state = start_;
    return weighted(flat(reference::forward(problem_, shot_, sources_, state)), shot_);
  }

  Problem problem_;
  Acquisition shot_;
  reference::Samples sources_;
  State start_;
};

TEST_P(PropagatorOf, RecordsWhatTheReferenceRecords) {
  const std::vector<double> wanted = expected();
  const double largest = std::abs(
      *std::max_element(wanted.begin(), wanted.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
  // Rounding of 40 steps of some ten operations each.
  EXPECT_LT(largest_difference(record<double>(), wanted), 1e-13 * largest);
  EXPECT_LT(largest_difference(record<float>(), wanted), 3e-5 * largest);
}

TEST_P(PropagatorOf, LeavesTheStateThatTheReferenceLeaves) {
  State wanted = start_;
  (void)reference::forward(problem_, shot_, sources_, wanted);
  Propagator<double> fast(problem_);
  fast.set_state(start_);
  std::vector<double> unread(static_cast<std::size_t>(fast_steps) * shot_.receivers.size());
  fast.run(shot_, fast_steps, flat(sources_), unread);
  const State made = fast.state();
  const auto expect_near = [](const std::vector<double>& a, const std::vector<double>& b) {
    ASSERT_EQ(a.size(), b.size());
    double largest = 1e-300;
    for (const double value : b) largest = std::max(largest, std::abs(value));
    EXPECT_LT(largest_difference(a, b), 1e-12 * largest);  // rounding, as above; small psi beside large fields
  };
  for (std::size_t c = 0; c < 6; ++c) {
    expect_near(made.fields[c], wanted.fields[c]);
    for (std::size_t t = 0; t < 2; ++t) expect_near(made.psi[c][t], wanted.psi[c][t]);
  }
  for (std::size_t p = 0; p < made.polarisation.size(); ++p)
    for (std::size_t e = 0; e < 3; ++e) expect_near(made.polarisation[p][e], wanted.polarisation[p][e]);
}

TEST_P(PropagatorOf, GivesTheSameBitsWithAnyNumberOfThreads) {
  const int before = thread_count();
  std::vector<std::vector<double>> records;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    records.push_back(record<float>());
  }
  set_thread_count(before);
  EXPECT_EQ(records[0], records[1]);
  EXPECT_EQ(records[0], records[2]);
}

TEST_P(PropagatorOf, GivesTheSameBitsWithAnyNumberOfStepsTogether) {
  const std::vector<double> wanted = record<float>(1);
  for (const Index together : {0, 2, 3, 8}) {
    SCOPED_TRACE(fmt::format("{} steps", together));
    EXPECT_EQ(record<float>(together), wanted);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, PropagatorOf,
                         ::testing::Values(MixedCase{}, MixedCase{.order = 4}, MixedCase{.order = 6},
                                           MixedCase{.order = 8}, MixedCase{.order = 4, .loss = LossForm::exponential},
                                           MixedCase{.poles = 2}, MixedCase{.mode = Mode::em3d},
                                           MixedCase{.mode = Mode::em3d, .order = 4},
                                           MixedCase{.mode = Mode::em3d, .order = 6, .poles = 1},
                                           MixedCase{.mode = Mode::em3d, .order = 8}),
                         [](const auto& each) { return testing::text_of(each.param); });

TEST(PropagatorBytes, AreNotMoreThanWasSaid) {
  for (const Mode mode : {Mode::tm2d, Mode::em3d}) {
    const Problem problem = testing::mixed_problem({.mode = mode, .poles = 1});
    const std::size_t most = Propagator<float>::bytes_for(problem.grid, 1).lasting;
    const std::size_t held = Propagator<float>(problem).bytes();
    EXPECT_LE(held, most);
    EXPECT_GT(held, most * 9 / 10);  // no two rows of this medium are equal
  }
}

TEST(HardSource, SetsTheFieldOfItsNode) {
  Problem problem = testing::mixed_problem({.mode = Mode::em3d, .order = 4});
  const Index node = problem.grid.index(4, 5, 6);
  problem.medium.sigma[2][static_cast<std::size_t>(node)] = std::numeric_limits<double>::infinity();
  const Acquisition shot{{{Component::Ez, {{node}}, true}}, {{Component::Ez, {{node}}}}};
  const reference::Samples volts{{1}, {-2}, {3}};
  std::vector<double> record(3);
  Propagator<double> fast(problem);
  fast.run(shot, 3, flat(volts), record);
  EXPECT_EQ(record, flat(volts));
  State state = make_state(problem);
  EXPECT_EQ(reference::forward(problem, shot, volts, state), volts);
}

TEST(PropagatorState, ContinuesAsIfItHadNotStopped) {
  const Problem problem = testing::mixed_problem({.mode = Mode::em3d, .order = 4, .poles = 1});
  const Acquisition shot = testing::mixed_shot(problem);
  const std::vector<double> sources = flat(testing::mixed_samples(problem, shot.sources, 20, 3));
  const std::size_t receivers = shot.receivers.size(), half = 10 * shot.sources.size();
  std::vector<double> whole(20 * receivers), parts(20 * receivers);
  Propagator<float> one(problem), first(problem), second(problem);
  one.run(shot, 20, sources, whole);
  first.run(shot, 10, std::span(sources).first(half), std::span(parts).first(10 * receivers));
  second.set_state(first.state());
  second.run(shot, 10, std::span(sources).subspan(half), std::span(parts).subspan(10 * receivers));
  EXPECT_EQ(whole, parts);
}

}  // namespace
}  // namespace sonde::maxwell
