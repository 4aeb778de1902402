// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "sonde/engine/math/random.h"
#include "sonde/instruments/maxwell/propagate/reference.h"
#include "sonde/instruments/maxwell/verify/checks.h"
#include "sonde/instruments/maxwell/verify/spectrum.h"
#include "sonde/instruments/maxwell/verify/trial.h"
#include "sonde/instruments/maxwell/verify/wave_trial.h"

namespace sonde::maxwell {
namespace {

/// All that a record depends on, a change of it, or derivatives by it.
using Inputs = reference::Gradient;

/// Calls body(one, other) for the same list of both.
template <class A, class B, class Body>
void for_each_list(A& a, B& b, const Body& body) {
  for (std::size_t c = 0; c < 3; ++c) {
    body(a.medium.eps_r[c], b.medium.eps_r[c]);
    body(a.medium.sigma[c], b.medium.sigma[c]);
    body(a.medium.mu_r[c], b.medium.mu_r[c]);
    for (std::size_t p = 0; p < a.poles.size(); ++p) {
      body(a.poles[p].deps[c], b.poles[p].deps[c]);
      body(a.poles[p].tau[c], b.poles[p].tau[c]);
    }
  }
  for (std::size_t n = 0; n < a.sources.size(); ++n) body(a.sources[n], b.sources[n]);
  for (std::size_t c = 0; c < 6; ++c) body(a.start.fields[c], b.start.fields[c]);
}

double dot_of_samples(const reference::Samples& a, const reference::Samples& b) {
  double sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) sum += dot(a[n], b[n]);
  return sum;
}

/// [step][point] of [point][step].
reference::Samples by_step(const std::vector<double>& series) {
  constexpr auto steps = static_cast<std::size_t>(trial_steps);
  reference::Samples made(steps);
  for (std::size_t i = 0; i < series.size(); ++i) made[i % steps].push_back(series[i]);
  return made;
}

class ReferenceTrial {
 public:
  explicit ReferenceTrial(const WaveCase& which) : problem_(trial_problem(which)), shot_(trial_shot(problem_.grid)) {
    const ComponentMedium& medium = problem_.medium;
    inputs_ = {{medium.eps_r, medium.sigma, medium.mu_r},
               medium.poles,
               by_step(shot_.amplitudes),
               mixed_ground_state(problem_)};
  }

  /// A change in which each part moves the record by about as much.
  [[nodiscard]] Inputs direction() const {
    Random random(8);
    Inputs made = inputs_;
    const auto draw = [&](std::array<std::vector<double>, 3>& lists, double size) {
      for (std::vector<double>& list : lists)
        list = random_between(random, static_cast<Index>(list.size()), -size, size);
    };
    draw(made.medium.eps_r, 1);
    draw(made.medium.sigma, 0.05);
    draw(made.medium.mu_r, 1);
    for (DebyePole& pole : made.poles) {
      draw(pole.deps, 1);
      draw(pole.tau, problem_.dt / 5);
    }
    made.sources = by_step(random_amplitudes(problem_.grid, shot_.points.sources, 9));
    made.start = mixed_ground_state(problem_, 10);
    return made;
  }

  [[nodiscard]] reference::Samples record_change(const Inputs& v) const {
    return reference::jvp(problem_, shot_.points, inputs_.sources, inputs_.start,
                          {v.medium, v.poles, v.sources, v.start});
  }

  /// <J v, r> - <v, J' r> over |J v| |r|.
  [[nodiscard]] double asymmetry(const Inputs& v) const {
    Random random(11);
    const auto count = static_cast<Index>(shot_.points.receivers.size()) * trial_steps;
    const reference::Samples r = by_step(random_between(random, count, -1, 1)), jv = record_change(v);
    const Inputs jtr = reference::vjp(problem_, shot_.points, inputs_.sources, inputs_.start, r);
    double transposed = 0;
    for_each_list(v, jtr, [&](const std::vector<double>& a, const std::vector<double>& b) {
      if (!a.empty()) transposed += dot(a, b);
    });
    return std::abs(dot_of_samples(jv, r) - transposed) / std::sqrt(dot_of_samples(jv, jv) * dot_of_samples(r, r));
  }

  /// The record where the inputs have moved by h v.
  [[nodiscard]] reference::Samples record(const Inputs& v, double h) const {
    Inputs moved = inputs_;
    for_each_list(moved, v, [&](std::vector<double>& to, const std::vector<double>& by) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += h * by[i];
    });
    Problem problem = problem_;
    problem.medium = {moved.medium.eps_r, moved.medium.sigma, moved.medium.mu_r, moved.poles};
    return reference::forward(problem, shot_.points, moved.sources, moved.start);
  }

  /// Of J v, to central differences of the record, in the norm.
  [[nodiscard]] double difference_from_limit(const Inputs& v) const {
    // Rounding 1e-16 / h and the third derivative h^2 are both near 1e-10 at the cube root.
    constexpr double h = 3e-6;
    const reference::Samples up = record(v, h), down = record(v, -h), jv = record_change(v);
    reference::Samples apart = jv;
    for (std::size_t n = 0; n < apart.size(); ++n)
      for (std::size_t r = 0; r < apart[n].size(); ++r) apart[n][r] -= (up[n][r] - down[n][r]) / (2 * h);
    return std::sqrt(dot_of_samples(apart, apart) / dot_of_samples(jv, jv));
  }

 private:
  Problem problem_;
  Shot shot_;
  Inputs inputs_;
};

}  // namespace

std::vector<VerifyRow> check_reference(VerifySize) {
  std::vector<VerifyRow> rows;
  for (const Mode mode : {Mode::tm2d, Mode::em3d})
    for (const int order : {2, 4, 6, 8})
      for (const auto& [loss, poles] : {std::pair(LossForm::semi_implicit, 0), std::pair(LossForm::exponential, 0),
                                        std::pair(LossForm::semi_implicit, 2)}) {
        const WaveCase which{.mode = mode, .order = order, .loss = loss, .poles = poles};
        const ReferenceTrial trial(which);
        const Inputs v = trial.direction();
        // Rounding of some 1e6 products of either sign.
        rows.push_back({"reference." + id_of(which), "<J v, r> - <v, J' r> over |J v| |r|, all inputs",
                        trial.asymmetry(v), 1e-12});
        rows.push_back({"reference." + id_of(which) + "_limit", "relative L2 distance of J v to central differences",
                        trial.difference_from_limit(v), 1e-8});
      }
  return rows;
}

}  // namespace sonde::maxwell
