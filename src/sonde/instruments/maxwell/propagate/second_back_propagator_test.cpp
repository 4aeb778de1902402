// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/second_back_propagator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sonde/instruments/maxwell/propagate/born_propagator.h"
#include "sonde/instruments/maxwell/propagate/test_kept.h"
#include "sonde/instruments/maxwell/propagate/test_problem.h"

namespace sonde::maxwell {
namespace {

using testing::MixedCase;

constexpr Index second_steps = 30;

std::vector<double> in_sequence(const reference::Samples& samples) {
  std::vector<double> made;
  for (const auto& row : samples) made.insert(made.end(), row.begin(), row.end());
  return made;
}

class SecondBackPropagatorOf : public ::testing::TestWithParam<MixedCase> {
 protected:
  SecondBackPropagatorOf()
      : problem_(testing::mixed_problem(GetParam())),
        shot_(testing::mixed_shot(problem_)),
        sources_(testing::mixed_samples(problem_, shot_.sources, second_steps, 3)),
        residual_(testing::mixed_samples(problem_, shot_.receivers, second_steps, 5)),
        change_(testing::mixed_change(problem_, 8)) {
    change_.poles = testing::mixed_pole_change(problem_, 9);
  }

  /// The gradient at a medium that is moved by h times the change, of the same residual.
  [[nodiscard]] reference::Gradient gradient_at(double h) const {
    Problem moved = problem_;
    for (std::size_t c = 0; c < 3; ++c)
      for (const auto& [values, by] :
           {std::pair(&moved.medium.eps_r[c], &change_.eps_r[c]), std::pair(&moved.medium.sigma[c], &change_.sigma[c]),
            std::pair(&moved.medium.mu_r[c], &change_.mu_r[c])})
        for (std::size_t i = 0; i < by->size(); ++i) (*values)[i] += h * (*by)[i];
    for (std::size_t p = 0; p < change_.poles.size(); ++p)
      for (const auto part : {&DebyePole::deps, &DebyePole::tau})
        for (std::size_t c = 0; c < 3; ++c)
          for (std::size_t i = 0; i < (change_.poles[p].*part)[c].size(); ++i)
            (moved.medium.poles[p].*part)[c][i] += h * (change_.poles[p].*part)[c][i];
    return reference::vjp(moved, shot_, sources_, make_state(moved), residual_);
  }

  struct Found {
    ComponentChange medium;
    std::vector<DebyePole> poles;
    std::vector<double> sources;
  };
  [[nodiscard]] Found found() const {
    testing::AllFields<double> kept(problem_.grid), kept_change(problem_.grid);
    BornPropagator<double> born(problem_, change_);
    const std::size_t poles = problem_.medium.poles.size();
    const auto keep = [&] {
      kept.add_rows([&](Component c, Index k, Index j) { return born.row(c, k, j); });
      kept_change.add_rows([&](Component c, Index k, Index j) { return born.change_row(c, k, j); });
      kept.add_pole_rows(poles,
                         [&](std::size_t p, Component c, Index k, Index j) { return born.pole_row(p, c, k, j); });
      kept_change.add_pole_rows(
          poles, [&](std::size_t p, Component c, Index k, Index j) { return born.pole_change_row(p, c, k, j); });
    };
    keep();
    std::vector<double> unread(in_sequence(residual_).size());
    born.run(shot_, second_steps, in_sequence(sources_), {}, {}, unread, {.after = [&](Index) { keep(); }});
    SecondBackPropagator<double> back(problem_, change_);
    Found made;
    made.sources.resize(in_sequence(sources_).size());
    back.run(shot_, second_steps, in_sequence(residual_), {}, kept, kept_change, {.magnetic = true, .poles = poles > 0},
             made.sources);
    made.poles =
        pole_gradient_change(back.pole_sums(), back.sums(), change_.poles, problem_.medium, problem_.grid, problem_.dt);
    made.medium = gradient_of(back.sums(), problem_.medium, problem_.grid, problem_.dt, problem_.loss);
    return made;
  }

  Problem problem_;
  Acquisition shot_;
  reference::Samples sources_, residual_;
  ComponentChange change_;
};

TEST_P(SecondBackPropagatorOf, FindsTheChangeOfTheGradient) {
  const double h = 1e-5;
  const reference::Gradient plus = gradient_at(h), minus = gradient_at(-h);
  const Found made = found();
  const auto compare = [&](const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& by) {
    double most = 0, apart = 0;
    for (std::size_t i = 0; i < by.size(); ++i) {
      const double wanted = (a[i] - b[i]) / (2 * h);
      most = std::max(most, std::abs(wanted));
      apart = std::max(apart, std::abs(wanted - by[i]));
    }
    // What a central difference of this width is worth: its error of order h^2 and rounding over h.
    EXPECT_LE(apart, 2e-8 * most);
  };
  for (std::size_t c = 0; c < 3; ++c) {
    compare(plus.medium.eps_r[c], minus.medium.eps_r[c], made.medium.eps_r[c]);
    compare(plus.medium.sigma[c], minus.medium.sigma[c], made.medium.sigma[c]);
    compare(plus.medium.mu_r[c], minus.medium.mu_r[c], made.medium.mu_r[c]);
  }
  for (std::size_t p = 0; p < plus.poles.size(); ++p)
    for (std::size_t c = 0; c < 3; ++c) {
      compare(plus.poles[p].deps[c], minus.poles[p].deps[c], made.poles[p].deps[c]);
      compare(plus.poles[p].tau[c], minus.poles[p].tau[c], made.poles[p].tau[c]);
    }
  compare(in_sequence(plus.sources), in_sequence(minus.sources), made.sources);
}

INSTANTIATE_TEST_SUITE_P(Cases, SecondBackPropagatorOf,
                         ::testing::Values(MixedCase{}, MixedCase{.order = 4}, MixedCase{.order = 8},
                                           MixedCase{.poles = 2}, MixedCase{.mode = Mode::em3d},
                                           MixedCase{.mode = Mode::em3d, .order = 4, .poles = 1}),
                         [](const auto& each) { return testing::text_of(each.param); });

}  // namespace
}  // namespace sonde::maxwell
