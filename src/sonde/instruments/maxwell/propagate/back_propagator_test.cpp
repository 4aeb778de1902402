// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/back_propagator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/maxwell/propagate/test_kept.h"
#include "sonde/instruments/maxwell/propagate/test_problem.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using testing::MixedCase;

constexpr Index back_steps = 30;

std::vector<double> in_one(const reference::Samples& samples) {
  std::vector<double> made;
  for (const auto& row : samples) made.insert(made.end(), row.begin(), row.end());
  return made;
}

/// Largest difference over the largest value.
double apart(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 1e-300, difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    most = std::max(most, std::abs(b[i]));
    difference = std::max(difference, std::abs(a[i] - b[i]));
  }
  return difference / most;
}

class BackPropagatorOf : public ::testing::TestWithParam<MixedCase> {
 protected:
  BackPropagatorOf()
      : problem_(testing::mixed_problem(GetParam())),
        shot_(testing::mixed_shot(problem_)),
        sources_(testing::mixed_samples(problem_, shot_.sources, back_steps, 3)),
        start_(testing::mixed_state(problem_, 4)),
        residual_(testing::mixed_samples(problem_, shot_.receivers, back_steps, 5)),
        wanted_(reference::vjp(problem_, shot_, sources_, start_, residual_)) {
    State state = start_;
    (void)reference::forward(problem_, shot_, sources_, state, [&](Index, const State& before, const State& after) {
      if (states_.empty()) states_.push_back(before);
      states_.push_back(after);
    });
  }

  struct Found {
    ComponentChange medium;
    std::vector<DebyePole> poles;
    std::vector<double> sources;
    State start;
  };
  template <class T>
  [[nodiscard]] Found found() const {
    testing::AllFields<T> kept(problem_.grid);
    for (const State& state : states_) kept.add(state);
    BackPropagator<T> back(problem_);
    Found made;
    made.sources.resize(in_one(sources_).size());
    back.run(shot_, back_steps, in_one(residual_), &kept, {.magnetic = true, .poles = true}, made.sources);
    made.poles = pole_gradient_of(back.sums(), problem_.medium, problem_.grid, problem_.dt);
    made.medium = gradient_of(back.sums(), problem_.medium, problem_.grid, problem_.dt, problem_.loss);
    made.start = back.start();
    return made;
  }

  /// The worst of all parts.
  [[nodiscard]] double difference(const Found& made) const {
    double worst = apart(made.sources, in_one(wanted_.sources));
    for (std::size_t c = 0; c < 3; ++c)
      for (const double each :
           {apart(made.medium.eps_r[c], wanted_.medium.eps_r[c]), apart(made.medium.sigma[c], wanted_.medium.sigma[c]),
            apart(made.medium.mu_r[c], wanted_.medium.mu_r[c])})
        worst = std::max(worst, each);
    for (std::size_t p = 0; p < wanted_.poles.size(); ++p)
      for (std::size_t c = 0; c < 3; ++c)
        worst = std::max({worst, apart(made.poles[p].deps[c], wanted_.poles[p].deps[c]),
                          apart(made.poles[p].tau[c], wanted_.poles[p].tau[c])});
    for (std::size_t c = 0; c < 6; ++c) {
      worst = std::max(worst, apart(made.start.fields[c], wanted_.start.fields[c]));
      for (std::size_t t = 0; t < 2; ++t)
        worst = std::max(worst, apart(in_layers(made.start.psi[c][t], c, t), in_layers(wanted_.start.psi[c][t], c, t)));
    }
    for (std::size_t p = 0; p < made.start.polarisation.size(); ++p)
      for (std::size_t e = 0; e < 3; ++e)
        worst = std::max(worst, apart(made.start.polarisation[p][e], wanted_.start.polarisation[p][e]));
    return worst;
  }

  /// Outside of the layers psi has no meaning: the plain loops have a gradient of it there all the same.
  [[nodiscard]] std::vector<double> in_layers(std::vector<double> psi, std::size_t c, std::size_t t) const {
    const CurlTerm term = curl_terms(static_cast<Component>(c))[t];
    if (psi.empty()) return psi;
    const PmlLine& line = problem_.pml[dimension(term.along)].at(is_half(static_cast<Component>(c), term.along));
    std::size_t node = 0;
    Triple at{};
    for (at[0] = 0; at[0] < problem_.grid.extent(Axis::z); ++at[0])
      for (at[1] = 0; at[1] < problem_.grid.extent(Axis::y); ++at[1])
        for (at[2] = 0; at[2] < problem_.grid.extent(Axis::x); ++at[2], ++node)
          if (line.b[static_cast<std::size_t>(at[dimension(term.along)])] == 0) psi[node] = 0;
    return psi;
  }

  Problem problem_;
  Acquisition shot_;
  reference::Samples sources_;
  State start_;
  reference::Samples residual_;
  reference::Gradient wanted_;
  std::vector<State> states_;
};

TEST_P(BackPropagatorOf, FindsWhatTheReferenceFinds) {
  // Rounding of 30 steps; in float32 of sums that cancel too.
  EXPECT_LT(difference(found<double>()), 1e-11);
  EXPECT_LT(difference(found<float>()), 3e-4);
}

TEST_P(BackPropagatorOf, GivesTheSameBitsWithAnyNumberOfThreads) {
  const int before = thread_count();
  set_thread_count(1);
  const Found one = found<float>();
  set_thread_count(3);
  const Found three = found<float>();
  set_thread_count(before);
  EXPECT_EQ(one.sources, three.sources);
  EXPECT_EQ(one.medium.eps_r, three.medium.eps_r);
  EXPECT_EQ(one.medium.mu_r, three.medium.mu_r);
}

/// Two runs of which the second goes on from the first: its gradient by its start is the end of the first.
TEST_P(BackPropagatorOf, OfTwoRunsThatAreJoinedIsThatOfOne) {
  constexpr Index before = 13;
  const auto whole = found<double>();
  const auto part_of = [](const reference::Samples& samples, Index first, Index last) {
    return reference::Samples(samples.begin() + first, samples.begin() + last);
  };
  BackPropagator<double> back(problem_);
  std::vector<double> late, early;
  const auto take_back = [&](Index first, Index last, const State* end, std::vector<double>& sources) {
    testing::AllFields<double> kept(problem_.grid);
    for (Index n = first; n <= last; ++n) kept.add(states_[static_cast<std::size_t>(n)]);
    sources.resize(in_one(part_of(sources_, first, last)).size());
    back.run(shot_, last - first, in_one(part_of(residual_, first, last)), &kept, {.magnetic = true, .poles = true},
             sources, {.end = end});
    return back.start();
  };
  const State middle = take_back(before, back_steps, nullptr, late);
  Found joined;
  joined.start = take_back(0, before, &middle, early);
  joined.sources = early;
  joined.sources.insert(joined.sources.end(), late.begin(), late.end());
  joined.medium = gradient_of(back.sums(), problem_.medium, problem_.grid, problem_.dt, problem_.loss);
  joined.poles = pole_gradient_of(back.sums(), problem_.medium, problem_.grid, problem_.dt);
  EXPECT_LT(apart(joined.sources, whole.sources), 1e-12);  // rounding of what is converted at the joint
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_LT(apart(joined.medium.eps_r[c], whole.medium.eps_r[c]), 1e-12);
    EXPECT_LT(apart(joined.medium.sigma[c], whole.medium.sigma[c]), 1e-12);
    EXPECT_LT(apart(joined.medium.mu_r[c], whole.medium.mu_r[c]), 1e-12);
  }
  EXPECT_LT(difference(joined), 1e-11);  // the reference
}

INSTANTIATE_TEST_SUITE_P(Cases, BackPropagatorOf,
                         ::testing::Values(MixedCase{}, MixedCase{.order = 4}, MixedCase{.order = 8},
                                           MixedCase{.order = 4, .loss = LossForm::exponential}, MixedCase{.poles = 2},
                                           MixedCase{.mode = Mode::em3d},
                                           MixedCase{.mode = Mode::em3d, .order = 4, .poles = 1},
                                           MixedCase{.mode = Mode::em3d, .order = 6}),
                         [](const auto& each) { return testing::text_of(each.param); });

TEST(BackPropagatorOfAHardSource, IsRefused) {
  const Problem problem = testing::mixed_problem({});
  const Acquisition shot{{{Component::Ey, {{30}}, true}}, {}};
  BackPropagator<float> back(problem);
  std::vector<double> gradient(1);
  EXPECT_EQ(
      sonde::testing::error_of(ErrorKind::not_supported,
                               [&] { back.run(shot, 1, {}, nullptr, {.difference = false, .sum = false}, gradient); }),
      "error: a source that sets the field has no gradient of its current");
}

}  // namespace
}  // namespace sonde::maxwell
