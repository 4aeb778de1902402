// SPDX-License-Identifier: Apache-2.0
// Total variation: known minima, and a primal minimisation that shares nothing with the dual one.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "sonde/instruments/ptycho/constrain/test_constrain.h"

namespace sonde::ptycho {
namespace {

using testing::apply;
using testing::elements;
using testing::table;

const ConstraintContext nothing{.sampling = pixel_sampling(4, 4), .mean_counts = 1};

State potential(const std::vector<double>& phase, Index rows, Index cols) {
  State state;
  state.type = ObjectType::potential;
  state.phase = Array::from(phase, {1, rows, cols});
  state.object = Array(Device::cpu(), {1, rows, cols}, DType::c128);
  state.follow_phase();
  return state;
}

std::vector<double> denoised(const std::vector<double>& phase, Index rows, Index cols, const Value& settings) {
  State state = potential(phase, rows, cols);
  apply("tv", settings, nothing, state);
  return elements<double>(state.phase);
}

/// 1/2 sum |u - v|^2 + w sum sqrt(|grad u|^2 + soft^2) of complex images, and its gradient.
struct Energy {
  Index rows, cols;
  double weight, soft;
  const std::vector<complex128>& v;

  double operator()(const std::vector<complex128>& u, std::vector<complex128>* gradient = nullptr) const {
    double energy = 0;
    if (gradient != nullptr) gradient->assign(u.size(), 0);
    const auto at = [&](Index row, Index col) { return static_cast<std::size_t>(row * cols + col); };
    for (Index row = 0; row < rows; ++row)
      for (Index col = 0; col < cols; ++col) {
        const complex128 here = u[at(row, col)];
        const complex128 down = row + 1 < rows ? u[at(row + 1, col)] - here : 0;
        const complex128 across = col + 1 < cols ? u[at(row, col + 1)] - here : 0;
        const double slope = std::sqrt(std::norm(down) + std::norm(across) + soft * soft);
        energy += 0.5 * std::norm(here - v[at(row, col)]) + weight * slope;
        if (gradient == nullptr) continue;
        (*gradient)[at(row, col)] += here - v[at(row, col)] - weight * (down + across) / slope;
        if (row + 1 < rows) (*gradient)[at(row + 1, col)] += weight * down / slope;
        if (col + 1 < cols) (*gradient)[at(row, col + 1)] += weight * across / slope;
      }
    return energy;
  }
};

/// Nesterov's gradient descent on the softened energy. It is strongly convex (1), its gradient has the Lipschitz
/// constant 1 + 8 w / soft.
std::vector<complex128> primal_minimum(const Energy& energy) {
  const double lipschitz = 1 + 8 * energy.weight / energy.soft, root = std::sqrt(1 / lipschitz);
  const double momentum = (1 - root) / (1 + root);
  std::vector<complex128> u = energy.v, ahead = u, gradient;
  const int rounds = static_cast<int>(25 / root);  // reduces the error by e^-25
  for (int round = 0; round < rounds; ++round) {
    energy(ahead, &gradient);
    for (std::size_t i = 0; i < u.size(); ++i) {
      const complex128 next = ahead[i] - gradient[i] / lipschitz;
      ahead[i] = next + momentum * (next - u[i]);
      u[i] = next;
    }
  }
  return u;
}

const Value thoroughly = table({{"weight", Value(0.15)}, {"rounds", Value(20000)}, {"tolerance", Value(0.0)}});

TEST(Tv, TheStepsOfALineComeNearerByTheWeightOverTheirLengths) {
  // Minimum of n1/2 (a - u1)^2 + n2/2 (b - u2)^2 + w |u2 - u1|.
  const std::vector<double> step{0, 0, 0, 1, 1, 1, 1, 1};
  const auto u = denoised(step, 1, 8, thoroughly);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(u[i], i < 3 ? 0.15 / 3 : 1 - 0.15 / 5, 1e-6);
}

TEST(Tv, AStrongWeightLeavesTheMean) {
  const auto u = denoised({1, 2, 3, 6, 0, 0}, 2, 3,
                          table({{"weight", Value(100.0)}, {"rounds", Value(20000)}, {"tolerance", Value(0.0)}}));
  for (const double value : u) EXPECT_NEAR(value, 2, 1e-6);
}

TEST(Tv, IsThePrimalMinimumOnATinyImage) {
  std::mt19937 generator(7);
  std::normal_distribution<double> normal(0, 0.3);
  std::vector<double> v;
  for (int i = 0; i < 20; ++i) v.push_back(normal(generator) + (i % 5 > 2 ? 1 : 0));
  const std::vector<complex128> wave(v.begin(), v.end());
  const auto u = denoised(v, 4, 5, thoroughly);
  const auto expected = primal_minimum({4, 5, 0.15, 1e-6, wave});
  // The energies are within w * soft * 20 = 3e-6, the images thus within sqrt(2 * 3e-6).
  EXPECT_LT(testing::difference(u, expected), 2.5e-3);
  const Energy exact{4, 5, 0.15, 0, wave};
  EXPECT_NEAR(exact({u.begin(), u.end()}), exact(expected), 3e-6);
}

TEST(Tv, JoinsTheRealAndTheImaginaryPart) {
  std::mt19937 generator(8);
  std::normal_distribution<double> normal(0, 0.4);
  std::vector<complex128> v;
  for (int i = 0; i < 20; ++i) v.emplace_back(normal(generator), normal(generator));
  State state;
  state.object = Array::from(v, {1, 4, 5});
  apply("tv", thoroughly, nothing, state);
  EXPECT_LT(testing::difference(elements<complex128>(state.object), primal_minimum({4, 5, 0.15, 1e-6, v})), 2.5e-3);
}

/// A noisy step edge.
std::vector<double> noisy_step(Index rows, Index cols) {
  std::mt19937 generator(9);
  std::normal_distribution<double> normal(0, 0.1);
  std::vector<double> v;
  for (Index i = 0; i < rows * cols; ++i) v.push_back(normal(generator) + (i % cols >= cols / 2 ? 0.5 : 0));
  return v;
}

TEST(Tv, WithItsDefaultsLowersTheEnergyOfANoisyStepNearlyToTheMinimum) {
  const auto v = noisy_step(24, 30);
  const std::vector<complex128> wave(v.begin(), v.end());
  const Energy energy{24, 30, 0.05, 0, wave};
  const auto usual = denoised(v, 24, 30, table({{"weight", Value(0.05)}}));
  const auto best =
      denoised(v, 24, 30, table({{"weight", Value(0.05)}, {"rounds", Value(5000)}, {"tolerance", Value(0.0)}}));
  const double before = energy(wave), after = energy({usual.begin(), usual.end()});
  const double minimum = energy({best.begin(), best.end()});
  EXPECT_LT(after - minimum, 0.02 * (before - minimum));
  EXPECT_GE(after, minimum - 1e-12);
}

TEST(Tv, KeepsTheSumOfTheImage) {
  const auto v = noisy_step(12, 10);
  const auto u = denoised(v, 12, 10, table({{"weight", Value(0.1)}}));
  double before = 0, after = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    before += v[i];
    after += u[i];
  }
  EXPECT_NEAR(after, before, 1e-12);  // div has no sum
}

TEST(Tv, TakesSlicesOneByOne) {
  const auto a = noisy_step(6, 8), b = std::vector<double>(48, 1.0);
  std::vector<double> both = a;
  both.insert(both.end(), b.begin(), b.end());
  State state;
  state.type = ObjectType::potential;
  state.phase = Array::from(both, {2, 6, 8});
  state.object = Array(Device::cpu(), {2, 6, 8}, DType::c128);
  apply("tv", table({{"weight", Value(0.1)}}), nothing, state);
  auto expected = denoised(a, 6, 8, table({{"weight", Value(0.1)}}));
  expected.insert(expected.end(), b.begin(), b.end());
  EXPECT_EQ(elements<double>(state.phase), expected);
}

}  // namespace
}  // namespace sonde::ptycho
