// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/trajectory/trajectory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/grid/constants.h"
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
  bool magnetic = true;  ///< whether H is kept too
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
    if (!how.magnetic) std::erase_if(made.components, [](Component c) { return !is_electric(c); });
    for (const Axis axis : all_axes)
      if (how.frozen) {
        made.box.first[dimension(axis)] = grid.low(axis);
        made.box.last[dimension(axis)] = grid.low(axis) + grid.cells(axis);
      }
    return made;
  }

  struct Gradient {
    ComponentChange medium;
    std::vector<DebyePole> poles;
    std::vector<double> record, sources;
    ComponentChange illumination;
  };
  template <class T>
  [[nodiscard]] Gradient gradient(const Kept& how, Device device = Device::cpu()) const {
    Propagator<T> fields(problem, device);
    StoragePlan plan{.mode = how.mode,
                     .encoding = how.encoding,
                     .layout = layout(how),
                     .steps = steps,
                     .states = how.states,
                     .block_steps = how.block_steps,
                     .state_bytes = fields.state_bytes()};
    if (how.mode == StorageMode::reconstruct)
      plan.shell =
          reconstruction_of(problem, plan.layout, steps, sizeof(T) == 4 ? Precision::f32 : Precision::f64).shell;
    plan.layout.poles = device.is_cpu() ? std::ssize(problem.medium.poles) : 0;
    const TierBudgets budgets = TierBudgets::around(device, Budget(1U << 30U, "a test"));
    const auto trajectory = make_trajectory<T>(plan, budgets, device);
    Gradient made;
    made.record.resize(residual.size());
    made.sources.resize(amplitudes.size());
    trajectory->run(fields, points, steps, amplitudes, made.record);
    BackPropagator<T> back(problem, device);
    back.run(points, steps, residual, trajectory.get(),
             {.magnetic = how.magnetic, .squares = true, .poles = plan.layout.poles > 0}, made.sources);
    const SweepSums sums = back.sums();
    made.illumination = illumination_of(sums, problem.dt);
    made.poles = pole_gradient_of(sums, problem.medium, problem.grid, problem.dt);
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
  const auto compare = [](const std::vector<double>& a, const std::vector<double>& b) {
    double most = 0, apart = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < b.size() && i < a.size(); ++i) {
      most = std::max(most, std::abs(b[i]));
      apart = std::max(apart, std::abs(b[i] - a[i]));
    }
    // Rounding of 25 steps.
    EXPECT_LE(apart, 1e-11 * most);
  };
  for (std::size_t c = 0; c < 3; ++c) {
    compare(made.medium.eps_r[c], wanted.medium.eps_r[c]);
    compare(made.medium.sigma[c], wanted.medium.sigma[c]);
    compare(made.medium.mu_r[c], wanted.medium.mu_r[c]);
    for (std::size_t p = 0; p < wanted.poles.size(); ++p) {
      compare(made.poles[p].deps[c], wanted.poles[p].deps[c]);
      compare(made.poles[p].tau[c], wanted.poles[p].tau[c]);
    }
  }
}

/// The squares of the currents that a change of eps_r or of sigma makes.
TEST_P(KeptRun, IsLitAsTheReference) {
  const Shot shot = mixed(GetParam(), 25);
  const auto sources = testing::mixed_samples(shot.problem, shot.points.sources, shot.steps, 3);
  for (const Index interval : {1, 2}) {
    ComponentChange wanted;
    State state = make_state(shot.problem);
    (void)reference::forward(shot.problem, shot.points, sources, state,
                             [&](Index n, const State& before, const State& after) {
                               for (const Component c : shot.problem.grid.components()) {
                                 const auto& from = before.fields[static_cast<std::size_t>(c)];
                                 const auto& to = after.fields[static_cast<std::size_t>(c)];
                                 auto &eps_r = wanted.eps_r[place(c)], &sigma = wanted.sigma[place(c)];
                                 if (!is_electric(c) || n % interval != 0) continue;
                                 eps_r.resize(from.size());
                                 sigma.resize(from.size());
                                 for (std::size_t i = 0; i < from.size(); ++i) {
                                   eps_r[i] += std::pow(eps0 * (to[i] - from[i]) / shot.problem.dt, 2);
                                   sigma[i] += std::pow((to[i] + from[i]) / 2, 2);
                                 }
                               }
                             });
    const ComponentChange made = shot.gradient<double>({.interval = interval}).illumination;
    for (std::size_t c = 0; c < 3; ++c)
      for (const auto& [found, of] :
           {std::pair{&made.eps_r[c], &wanted.eps_r[c]}, {&made.sigma[c], &wanted.sigma[c]}}) {
        ASSERT_EQ(found->size(), of->size());
        // Rounding of 25 steps.
        for (std::size_t i = 0; i < of->size(); ++i) EXPECT_NEAR((*found)[i], (*of)[i], 1e-11 * std::abs((*of)[i]));
      }
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
    for (std::size_t p = 0; p < host.poles.size(); ++p) EXPECT_EQ(made.poles[p].tau, host.poles[p].tau);
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

class ReconstructedRunOf : public ::testing::TestWithParam<std::tuple<MixedCase, bool>> {
 protected:
  /// The largest difference of what is made from a stored run, over the largest number of its kind.
  template <class T>
  [[nodiscard]] static double error() {
    const auto& [medium, frozen] = GetParam();
    const Shot shot = mixed(medium, 60);
    const auto stored = shot.gradient<T>({.frozen = frozen});
    const auto made = shot.gradient<T>({.mode = StorageMode::reconstruct, .frozen = frozen});
    EXPECT_EQ(made.record, stored.record);
    EXPECT_EQ(made.sources, stored.sources);  // the sweep backwards does not read the fields for them
    double worst = 0;
    for (const auto part : {&ComponentChange::eps_r, &ComponentChange::sigma, &ComponentChange::mu_r}) {
      double most = 0, apart = 0;
      for (std::size_t c = 0; c < 3; ++c)
        for (std::size_t i = 0; i < (stored.medium.*part)[c].size(); ++i) {
          most = std::max(most, std::abs((stored.medium.*part)[c][i]));
          apart = std::max(apart, std::abs((made.medium.*part)[c][i] - (stored.medium.*part)[c][i]));
        }
      EXPECT_GT(most, 0);
      worst = std::max(worst, apart / most);
    }
    return worst;
  }
};

// What reconstruct promises; the loss of these media makes rounding grow by less than exp(5).
TEST_P(ReconstructedRunOf, HasTheGradientOfAStoredOneInFloat32) { EXPECT_LE(error<float>(), 1e-3); }
TEST_P(ReconstructedRunOf, HasTheGradientOfAStoredOneInFloat64) { EXPECT_LE(error<double>(), 1e-9); }

INSTANTIATE_TEST_SUITE_P(
    Cases, ReconstructedRunOf,
    ::testing::Combine(::testing::Values(MixedCase{}, MixedCase{.order = 4}, MixedCase{.order = 6},
                                         MixedCase{.order = 8}, MixedCase{.loss = LossForm::exponential},
                                         MixedCase{.mode = Mode::em3d}, MixedCase{.mode = Mode::em3d, .order = 4},
                                         MixedCase{.mode = Mode::em3d, .order = 6},
                                         MixedCase{.mode = Mode::em3d, .order = 8, .cells = {9, 8, 10}}),
                       ::testing::Bool()),
    [](const auto& each) {
      return testing::text_of(std::get<0>(each.param)) + (std::get<1>(each.param) ? "Frozen" : "");
    });

TEST(ReconstructionOf, AModelInLayersStoresThePlanesAboutTheirEdges) {
  GridSpec spec{.mode = Mode::em3d, .cells = {20, 20, 20}, .spacing = {1, 1, 1}, .order = 4};
  spec.pml = {{{10, 10}, {10, 10}, {10, 10}}};
  const Grid grid(spec);
  Problem problem{grid, {}, {}, 1e-10};
  for (std::size_t c = 0; c < 3; ++c) {
    problem.medium.eps_r[c].assign(static_cast<std::size_t>(grid.count()), 2);
    problem.medium.sigma[c].assign(static_cast<std::size_t>(grid.count()), 0.001);
  }
  const NodeBox model{{10, 10, 10}, {30, 30, 30}};
  const Reconstruction made =
      reconstruction_of(problem, {.box = model, .components = grid.components()}, 100, Precision::f32);
  EXPECT_EQ(made.shell.hollow.first, (Triple{12, 12, 12}));
  EXPECT_EQ(made.shell.hollow.last, (Triple{29, 29, 29}));  // plane 30 is the edge
  EXPECT_EQ(made.shell.box.first, (Triple{9, 9, 9}));       // 2M - 1 = 3 planes
  EXPECT_EQ(made.shell.box.last, (Triple{32, 32, 32}));
  EXPECT_EQ(made.shell.elements(), 3 * (23 * 23 * 23 - 17 * 17 * 17));
  EXPECT_NEAR(made.growth, 0.001 * 1e-8 / (2 * 8.8541878128e-12), 1e-12);
}

std::string obstacle_of(const Problem& problem) {
  const SampleLayout all{.box = {{}, problem.grid.extents()}, .components = problem.grid.components()};
  return reconstruction_of(problem, all, 10, Precision::f32).obstacle;
}

TEST(ReconstructionOf, WhatHasNoReverseIsNamed) {
  EXPECT_EQ(obstacle_of(testing::mixed_problem({})), "");
  EXPECT_EQ(obstacle_of(testing::mixed_problem({.poles = 1})),
            "the medium has Debye poles, whose memory is lost backwards");
  EXPECT_EQ(obstacle_of(testing::mixed_problem({.mode = Mode::em3d, .order = 8})),
            "an axis of the model has fewer than 8 cells, those of the stencil");
  Problem metal = testing::mixed_problem({});
  const auto node = static_cast<std::size_t>(metal.grid.index(8, 0, 9));
  metal.medium.sigma[1][node] = 2.1 * 8.8541878128e-12 * metal.medium.eps_r[1][node] / metal.dt;
  EXPECT_EQ(obstacle_of(metal), "in a cell sigma dt / eps is 2 or more, where a step has no reverse");
  metal.medium.sigma[1][node] = std::numeric_limits<double>::infinity();  // a conductor: E stays zero
  EXPECT_EQ(obstacle_of(metal), "");
}

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
        expect_near(made.illumination.eps_r[c], on_cpu.illumination.eps_r[c]);
        expect_near(made.illumination.sigma[c], on_cpu.illumination.sigma[c]);
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

TEST_P(KeptRunOnEachDevice, HasTheSameBitsWhereAStepLeavesItsFieldsBehind) {
  // Without H a GPU gathers nothing between steps.
  for (const MixedCase& which : {MixedCase{.order = 4, .poles = 1}, MixedCase{.mode = Mode::em3d}}) {
    const Shot shot = mixed(which, 5);
    for (const Encoding encoding : {Encoding::raw, Encoding::bf16})
      for (const StorageMode mode : {near(), StorageMode::host, StorageMode::recompute}) {
        SCOPED_TRACE(testing::text_of(which));
        SCOPED_TRACE(static_cast<int>(mode));
        Kept how{.mode = mode, .encoding = encoding, .states = 2, .block_steps = 2, .frozen = true};
        const auto wanted = shot.gradient<float>(how, device());
        how.magnetic = false;
        const auto made = shot.gradient<float>(how, device());
        EXPECT_EQ(made.record, wanted.record);
        EXPECT_EQ(made.medium.eps_r, wanted.medium.eps_r);
        EXPECT_EQ(made.medium.sigma, wanted.medium.sigma);
        EXPECT_EQ(made.illumination.eps_r, wanted.illumination.eps_r);
        EXPECT_EQ(made.illumination.sigma, wanted.illumination.sigma);
      }
  }
}

INSTANTIATE_EACH_DEVICE(KeptRunOnEachDevice);

TEST(TrajectoryOfNothing, IsRefused) {
  EXPECT_EQ(sonde::testing::error_of(
                ErrorKind::bad_input,
                [] { (void)make_trajectory<float>({.mode = StorageMode::none}, TierBudgets::unlimited()); }),
            "error: storage mode none keeps no fields, and a gradient needs them\nhint: take another --storage-mode");
}

}  // namespace
}  // namespace sonde::maxwell
