// SPDX-License-Identifier: Apache-2.0
// The derivative of the record and its transpose, in media where every cell is different and in layers: where a sweep
// that is right in a homogeneous medium is not.
#include <gtest/gtest.h>

#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/propagate/test_problem.h"

namespace sonde::maxwell {
namespace {

using testing::MixedCase;
using testing::Numbers;

constexpr Index steps = 25;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double dot(const reference::Samples& a, const reference::Samples& b) {
  double sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) sum += dot(a[n], b[n]);
  return sum;
}

double dot(const State& a, const State& b) {
  double sum = 0;
  for (std::size_t c = 0; c < 6; ++c) {
    sum += dot(a.fields[c], b.fields[c]);
    for (std::size_t t = 0; t < 2; ++t) sum += dot(a.psi[c][t], b.psi[c][t]);
  }
  for (std::size_t p = 0; p < a.polarisation.size(); ++p)
    for (std::size_t e = 0; e < 3; ++e) sum += dot(a.polarisation[p][e], b.polarisation[p][e]);
  return sum;
}

/// A direction in all inputs, each share of the record's change of about the same size.
reference::Direction mixed_direction(const Problem& problem, const Acquisition& shot, unsigned seed) {
  Numbers numbers(seed);
  reference::Direction direction;
  const auto count = static_cast<std::size_t>(problem.grid.count());
  direction.poles.resize(problem.medium.poles.size());
  for (const Component c : problem.grid.components()) {
    if (!is_electric(c)) {
      direction.medium.mu_r[place(c)] = numbers.list(count);
      continue;
    }
    direction.medium.eps_r[place(c)] = numbers.list(count);
    direction.medium.sigma[place(c)] = numbers.list(count, -0.05, 0.05);
    for (DebyePole& pole : direction.poles) {
      pole.deps[place(c)] = numbers.list(count);
      pole.tau[place(c)] = numbers.list(count, -problem.dt / 5, problem.dt / 5);
    }
  }
  direction.sources = testing::mixed_samples(problem, shot.sources, steps, seed + 1);
  direction.start = testing::mixed_state(problem, seed + 2);
  return direction;
}

double dot(const reference::Direction& v, const reference::Gradient& g) {
  double sum = dot(v.sources, g.sources) + dot(*v.start, g.start);
  for (std::size_t c = 0; c < 3; ++c)
    sum += dot(v.medium.eps_r[c], g.medium.eps_r[c]) + dot(v.medium.sigma[c], g.medium.sigma[c]) +
           dot(v.medium.mu_r[c], g.medium.mu_r[c]);
  for (std::size_t p = 0; p < v.poles.size(); ++p)
    for (std::size_t c = 0; c < 3; ++c)
      sum += dot(v.poles[p].deps[c], g.poles[p].deps[c]) + dot(v.poles[p].tau[c], g.poles[p].tau[c]);
  return sum;
}

void add(std::vector<double>& to, const std::vector<double>& change, double h) {
  for (std::size_t i = 0; i < to.size() && i < change.size(); ++i) to[i] += h * change[i];
}

struct Inputs {
  Problem problem;
  reference::Samples sources;
  State start;
};

Inputs moved(Inputs inputs, const reference::Direction& v, double h) {
  for (std::size_t c = 0; c < 3; ++c) {
    add(inputs.problem.medium.eps_r[c], v.medium.eps_r[c], h);
    add(inputs.problem.medium.sigma[c], v.medium.sigma[c], h);
    add(inputs.problem.medium.mu_r[c], v.medium.mu_r[c], h);
    for (std::size_t p = 0; p < v.poles.size(); ++p) {
      add(inputs.problem.medium.poles[p].deps[c], v.poles[p].deps[c], h);
      add(inputs.problem.medium.poles[p].tau[c], v.poles[p].tau[c], h);
    }
  }
  for (std::size_t n = 0; n < inputs.sources.size(); ++n) add(inputs.sources[n], v.sources[n], h);
  for (std::size_t c = 0; c < 6; ++c) add(inputs.start.fields[c], v.start->fields[c], h);
  return inputs;
}

class ReferenceTranspose : public ::testing::TestWithParam<MixedCase> {
 protected:
  ReferenceTranspose()
      : problem_(testing::mixed_problem(GetParam())),
        shot_(testing::mixed_shot(problem_)),
        sources_(testing::mixed_samples(problem_, shot_.sources, steps, 3)),
        start_(testing::mixed_state(problem_, 4)) {}

  Problem problem_;
  Acquisition shot_;
  reference::Samples sources_;
  State start_;
};

TEST_P(ReferenceTranspose, OfTheDerivativeIsExact) {
  const reference::Direction v = mixed_direction(problem_, shot_, 5);
  const reference::Samples r = testing::mixed_samples(problem_, shot_.receivers, steps, 6);
  const reference::Samples jv = reference::jvp(problem_, shot_, sources_, start_, v);
  const reference::Gradient jtr = reference::vjp(problem_, shot_, sources_, start_, r);
  // Rounding of some 1e6 products of either sign.
  EXPECT_NEAR(dot(jv, r), dot(v, jtr), 1e-12 * std::sqrt(dot(jv, jv) * dot(r, r)));
}

TEST_P(ReferenceTranspose, DerivativeIsThatOfTheRecord) {
  const reference::Direction v = mixed_direction(problem_, shot_, 7);
  const reference::Samples jv = reference::jvp(problem_, shot_, sources_, start_, v);
  // Central differences: rounding 1e-16 / h and the third derivative h^2 are both near 1e-10 at the cube root.
  const double h = 3e-6;
  const Inputs inputs{problem_, sources_, start_};
  const auto record = [&](double step) {
    Inputs there = moved(inputs, v, step);
    return reference::forward(there.problem, shot_, there.sources, there.start);
  };
  const reference::Samples up = record(h), down = record(-h);
  double error = 0;
  for (std::size_t n = 0; n < up.size(); ++n)
    for (std::size_t r = 0; r < up[n].size(); ++r) error += std::pow((up[n][r] - down[n][r]) / (2 * h) - jv[n][r], 2);
  EXPECT_LT(std::sqrt(error / dot(jv, jv)), 1e-8);
}

INSTANTIATE_TEST_SUITE_P(Cases, ReferenceTranspose,
                         ::testing::Values(MixedCase{}, MixedCase{.order = 4}, MixedCase{.order = 6},
                                           MixedCase{.order = 8}, MixedCase{.order = 4, .loss = LossForm::exponential},
                                           MixedCase{.poles = 2}, MixedCase{.mode = Mode::em3d},
                                           MixedCase{.mode = Mode::em3d, .order = 4, .poles = 1},
                                           MixedCase{.mode = Mode::em3d, .order = 8}),
                         [](const auto& each) { return testing::text_of(each.param); });

}  // namespace
}  // namespace sonde::maxwell
