// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/trajectory/trajectory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/propagate/back_propagator.h"
#include "sonde/instruments/maxwell/propagate/test_problem.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using testing::MixedCase;

struct Kept {
  StorageMode mode = StorageMode::host;
  Encoding encoding = Encoding::raw;
  Index interval = 1;
  Index states = 0, block_steps = 0;
  bool frozen = false;
};

std::vector<double> in_a_row(const reference::Samples& samples) {
  std::vector<double> made;
  for (const auto& row : samples) made.insert(made.end(), row.begin(), row.end());
  return made;
}

/// A shot of a problem, and the gradient of <record, residual> when its fields are kept in one way or another.
struct Shot {
  Problem problem;
  Acquisition points;
  std::vector<double> amplitudes, residual;
  Index steps;

  [[nodiscard]] SampleLayout layout(const Kept& how) const {
    const Grid& grid = problem.grid;
    SampleLayout made{.box = {{}, grid.extents()}, .components = grid.components(), .interval = how.interval};
    for (const Axis axis : all_axes)
      if (how.frozen) {
        made.box.first[dimension(axis)] = grid.low(axis);
        made.box.last[dimension(axis)] = grid.low(axis) + grid.cells(axis);
      }
    return made;
  }

  struct Gradient {
    ComponentChange medium;
    std::vector<double> record, sources;
    std::array<std::vector<double>, 3> energy;
  };
  template <class T>
  [[nodiscard]] Gradient gradient(const Kept& how, Device device = Device::cpu()) const {
    Propagator<T> fields(problem, device);
    const StoragePlan plan{.mode = how.mode,
                           .encoding = how.encoding,
                           .layout = layout(how),
                           .steps = steps,
                           .states = how.states,
                           .block_steps = how.block_steps,
                           .state_bytes = fields.state_bytes()};
    const TierBudgets budgets = TierBudgets::around(device, Budget(1U << 30U, "a test"));
    const auto trajectory = make_trajectory<T>(plan, budgets, device);
    Gradient made;
    made.record.resize(residual.size());
    made.sources.resize(amplitudes.size());
    trajectory->run(fields, points, steps, amplitudes, made.record);
    BackPropagator<T> back(problem, device);
    back.run(points, steps, residual, trajectory.get(), {.magnetic = true, .energy = true}, made.sources);
    const SweepSums sums = back.sums();
    made.energy = sums.energy;
    made.medium = gradient_of(sums, problem.medium, problem.grid, problem.dt, problem.loss);
    for (auto* values : {&made.medium.eps_r, &made.medium.sigma, &made.medium.mu_r})
      for (std::vector<double>& each : *values)
        for (double& value : each) value *= static_cast<double>(how.interval);
    return made;
  }
};

Shot mixed(const MixedCase& which, Index steps) {
  Shot made{testing::mixed_problem(which), {}, {}, {}, steps};
  made.points = testing::mixed_shot(made.problem);
  made.amplitudes = in_a_row(testing::mixed_samples(made.problem, made.points.sources, steps, 3));
  made.residual = in_a_row(testing::mixed_samples(made.problem, made.points.receivers, steps, 5));
  return made;
}

class KeptRun : public ::testing::TestWithParam<MixedCase> {};

TEST_P(KeptRun, GivesTheGradientOfTheReference) {
  const Shot shot = mixed(GetParam(), 25);
  const auto sources = testing::mixed_samples(shot.problem, shot.points.sources, shot.steps, 3);
  const auto residual = testing::mixed_samples(shot.problem, shot.points.receivers, shot.steps, 5);
  const reference::Gradient wanted =
      reference::vjp(shot.problem, shot.points, sources, make_state(shot.problem), residual);
  const auto made = shot.gradient<double>({});
  for (std::size_t c = 0; c < 3; ++c)
    for (const auto& [a, b] : {std::pair(&made.medium.eps_r[c], &wanted.medium.eps_r[c]),
                               std::pair(&made.medium.sigma[c], &wanted.medium.sigma[c]),
                               std::pair(&made.medium.mu_r[c], &wanted.medium.mu_r[c])}) {
      double most = 0, apart = 0;
      for (std::size_t i = 0; i < b->size(); ++i) {
        most = std::max(most, std::abs((*b)[i]));
        apart = std::max(apart, std::abs((*b)[i] - (*a)[i]));
      }
      // Rounding of 25 steps.
      EXPECT_LE(apart, 1e-11 * most);
    }
}

TEST_P(KeptRun, HasTheSameBitsFromDiskAndComputedAgain) {
  const Shot shot = mixed(GetParam(), 37);
  const auto host = shot.gradient<float>({});
  for (const Kept& how :
       {Kept{.mode = StorageMode::disk}, Kept{.mode = StorageMode::recompute, .states = 3, .block_steps = 5},
        Kept{.mode = StorageMode::recompute, .states = 1, .block_steps = 10}}) {
    const auto made = shot.gradient<float>(how);
    EXPECT_EQ(made.record, host.record);
    EXPECT_EQ(made.sources, host.sources);
    EXPECT_EQ(made.medium.eps_r, host.medium.eps_r);
    EXPECT_EQ(made.medium.sigma, host.medium.sigma);
    EXPECT_EQ(made.medium.mu_r, host.medium.mu_r);
  }
}

TEST_P(KeptRun, OfTheModelOnlyHasTheSameGradientThere) {
  const Shot shot = mixed(GetParam(), 20);
  const auto all = shot.gradient<float>({}), frozen = shot.gradient<float>({.frozen = true});
  const NodeBox box = shot.layout({.frozen = true}).box;
  for (std::size_t c = 0; c < 3; ++c) {
    if (all.medium.eps_r[c].empty()) continue;
    for_each_node(shot.problem.grid, [&](const Triple& at, std::size_t node) {
      const bool inside = box.has_row(at[0], at[1]) && at[2] >= box.first[2] && at[2] < box.last[2];
      EXPECT_EQ(frozen.medium.eps_r[c][node], inside ? all.medium.eps_r[c][node] : 0);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, KeptRun,
                         ::testing::Values(MixedCase{.order = 4}, MixedCase{.poles = 2}, MixedCase{.mode = Mode::em3d},
                                           MixedCase{.mode = Mode::em3d, .order = 6}),
                         [](const auto& each) { return testing::text_of(each.param); });

class KeptRunOnEachDevice : public sonde::testing::EachDevice {
 protected:
  /// The mode that keeps everything where it is computed.
  [[nodiscard]] static StorageMode near() { return device().is_cpu() ? StorageMode::host : StorageMode::device; }
};

TEST_P(KeptRunOnEachDevice, HasTheGradientOfTheCpu) {
  for (const MixedCase& each : {MixedCase{.poles = 2}, MixedCase{.mode = Mode::em3d, .order = 4}})
    for (const Kept& how : {Kept{}, Kept{.interval = 3}, Kept{.interval = 1, .frozen = true}}) {
      SCOPED_TRACE(testing::text_of(each));
      SCOPED_TRACE(how.interval);
      const Shot shot = mixed(each, 8);
      Kept there = how;
      there.mode = near();
      const auto on_cpu = shot.gradient<double>(how), made = shot.gradient<double>(there, device());
      const auto expect_near = [](const std::vector<double>& a, const std::vector<double>& b) {
        ASSERT_EQ(a.size(), b.size());
        double most = 0, apart = 0;
        for (std::size_t i = 0; i < b.size(); ++i) {
          most = std::max(most, std::abs(b[i]));
          apart = std::max(apart, std::abs(b[i] - a[i]));
        }
        EXPECT_LE(apart, 1e-12 * most);  // rounding of eight steps
      };
      expect_near(made.record, on_cpu.record);
      expect_near(made.sources, on_cpu.sources);
      for (std::size_t c = 0; c < 3; ++c) {
        expect_near(made.medium.eps_r[c], on_cpu.medium.eps_r[c]);
        expect_near(made.medium.sigma[c], on_cpu.medium.sigma[c]);
        expect_near(made.medium.mu_r[c], on_cpu.medium.mu_r[c]);
        expect_near(made.energy[c], on_cpu.energy[c]);
      }
    }
}

TEST_P(KeptRunOnEachDevice, HasTheSameBitsFromEveryTierAndComputedAgain) {
  const Shot shot = mixed({.order = 4, .poles = 1}, 13);
  for (const Encoding encoding : {Encoding::raw, Encoding::bf16}) {
    const auto wanted = shot.gradient<float>({.mode = near(), .encoding = encoding}, device());
    for (const Kept& how :
         {Kept{.mode = StorageMode::host, .encoding = encoding}, Kept{.mode = StorageMode::disk, .encoding = encoding},
          Kept{.mode = StorageMode::recompute, .encoding = encoding, .states = 2, .block_steps = 4}}) {
      SCOPED_TRACE(static_cast<int>(how.mode));
      const auto made = shot.gradient<float>(how, device());
      EXPECT_EQ(made.record, wanted.record);
      EXPECT_EQ(made.sources, wanted.sources);
      EXPECT_EQ(made.medium.eps_r, wanted.medium.eps_r);
      EXPECT_EQ(made.medium.sigma, wanted.medium.sigma);
      EXPECT_EQ(made.medium.mu_r, wanted.medium.mu_r);
    }
  }
}

INSTANTIATE_EACH_DEVICE(KeptRunOnEachDevice);

constexpr double ricker_frequency = 200e6;

double ricker_at(double t) {
  const double p = std::numbers::pi * ricker_frequency * (t - 1.3 / ricker_frequency);
  return (1 - 2 * p * p) * std::exp(-p * p);
}

/// A Ricker wavelet through heterogeneous ground, and the record of a line of receivers as residual: both reach to
/// 2.76 times its frequency.
Shot ground() {
  GridSpec spec{.mode = Mode::tm2d, .cells = {60, 1, 60}, .spacing = {0.04, 1, 0.04}, .order = 4};
  spec.pml = {{{8, 8}, {0, 0}, {8, 8}}};
  const Grid grid(spec);
  Model model{std::vector<double>(3600), std::vector<double>(3600)};
  for (std::size_t i = 0; i < 3600; ++i) {
    const double z = static_cast<double>(i / 60), x = static_cast<double>(i % 60);
    model.eps_r[i] = 4 + 0.5 * std::sin(z / 7) * std::cos(x / 9);
    model.sigma[i] = 2e-3 * (1 + std::sin(x / 8));
  }
  Shot made{{grid, locate(model, grid), {}, 0}, {}, {}, {}, 700};
  made.problem.dt = 0.7 * largest_time_step(grid, made.problem.medium);
  made.problem.pml = pml_profiles(grid, made.problem.medium, {}, made.problem.dt, ricker_frequency);
  made.points.sources = {{Component::Ey, {{grid.index(12, 0, 38)}}}};
  for (const Index x : {16, 30, 44, 58}) made.points.receivers.push_back({Component::Ey, {{grid.index(64, 0, x)}}});
  for (Index n = 0; n < made.steps; ++n)
    made.amplitudes.push_back(ricker_at((static_cast<double>(n) + 0.5) * made.problem.dt));
  made.residual.resize(static_cast<std::size_t>(made.steps) * 4);
  made.residual = made.gradient<double>({}).record;
  return made;
}

struct Difference {
  double relative = 0, cosine = 0;
};
Difference difference(const std::vector<double>& a, const std::vector<double>& b) {
  double aa = 0, bb = 0, ab = 0, dd = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    aa += a[i] * a[i];
    bb += b[i] * b[i];
    ab += a[i] * b[i];
    dd += (a[i] - b[i]) * (a[i] - b[i]);
  }
  return {std::sqrt(dd / bb), ab / std::sqrt(aa * bb)};
}

TEST(KeptRunOfBand, HasNearlyItsGradientInBf16AndAtTheSafeInterval) {
  const Shot shot = ground();
  const Index safe = safe_interval(2.76 * ricker_frequency, shot.problem.dt);
  ASSERT_GT(safe, 4);
  const auto exact = shot.gradient<float>({});
  const auto compare = [&](const Kept& how, double most) {
    const auto made = shot.gradient<float>(how);
    for (const auto& [a, b] : {std::pair(&made.medium.eps_r[1], &exact.medium.eps_r[1]),
                               std::pair(&made.medium.sigma[1], &exact.medium.sigma[1])}) {
      const Difference apart = difference(*a, *b);
      EXPECT_LT(apart.relative, most);
      EXPECT_GT(apart.cosine, 0.99999);
    }
  };
  // bf16 keeps 8 bits; the products average. Beyond 2.76 f the wavelet is 40 dB down: its aliases are that small.
  compare({.encoding = Encoding::bf16}, 2e-3);
  compare({.interval = safe}, 1e-3);
  compare({.encoding = Encoding::bf16, .interval = safe}, 2e-3);
}

TEST(KeptRunOfBand, IsAliasedBeyondTheLongestInterval) {
  const Shot shot = ground();
  const double longest = longest_interval(2.76 * ricker_frequency, shot.problem.dt);
  const auto exact = shot.gradient<float>({});
  const auto made = shot.gradient<float>({.interval = static_cast<Index>(std::ceil(1.5 * longest))});
  EXPECT_GT(difference(made.medium.eps_r[1], exact.medium.eps_r[1]).relative, 1e-2);
}

TEST(KeptRunOfBand, SamplesLieOnDiskAndAreComputedAgainWithTheSameBits) {
  const Shot shot = ground();
  const auto host = shot.gradient<float>({.encoding = Encoding::bf16, .interval = 6});
  for (const Kept& how :
       {Kept{.mode = StorageMode::disk, .encoding = Encoding::bf16, .interval = 6},
        Kept{
            .mode = StorageMode::recompute, .encoding = Encoding::bf16, .interval = 6, .states = 4, .block_steps = 45}})
    EXPECT_EQ(shot.gradient<float>(how).medium.eps_r, host.medium.eps_r);
}

TEST(TrajectoryOfNothing, IsRefused) {
  EXPECT_EQ(sonde::testing::error_of(
                ErrorKind::bad_input,
                [] { (void)make_trajectory<float>({.mode = StorageMode::none}, TierBudgets::unlimited()); }),
            "error: storage mode none keeps no fields, and a gradient needs them\nhint: take another --storage-mode");
}

}  // namespace
}  // namespace sonde::maxwell
