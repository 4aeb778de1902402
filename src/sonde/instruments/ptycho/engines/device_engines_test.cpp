// SPDX-License-Identifier: Apache-2.0
// Engines by the kernels of a device against the same engines by the CPU's threads, which engines_test.cpp holds
// against their formulas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/engines/lsqml_device.h"
#include "sonde/instruments/ptycho/engines/pie_device.h"
#include "sonde/instruments/ptycho/engines/projections_device.h"
#include "sonde/instruments/ptycho/engines/test_bench.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"
#include "tests/support/devices.h"

namespace sonde::ptycho {
namespace {

using testing::difference;
using testing::Scene;

/// A scene whose patterns are those of a specimen a little off the one that the engines begin with: there is something
/// to be found, and engines that search along lines find it.
Scene near_the_truth(Scene scene) {
  scene.build();
  for (Index j = 0; j < scene.frames.shape()[0]; ++j)
    for (Index m = 0; m < scene.modes; ++m) {
      const testing::Wave wave = scene.far_field(j, m);
      double* to = scene.frames.view<double, 3>().data + j * scene.pixels();
      for (Index i = 0; i < scene.pixels(); ++i)
        to[i] = (m == 0 ? 0 : to[i]) + std::norm(wave[static_cast<std::size_t>(i)]);
    }
  for (Index i = 0; i < scene.state.object.count(); ++i) {
    const double off = 0.1 * std::sin(static_cast<double>(3 * i));
    scene.state.object.view<complex128, 3>().data[i] *= std::polar(1.0, off);
    if (scene.type == ObjectType::potential) scene.state.phase.view<double, 3>().data[i] += off;
  }
  return scene;
}

/// Settings by name; an engine takes those that it has.
using Chosen = std::map<std::string, Value>;

std::unique_ptr<EngineSetup> chosen_setup(const EngineKind& kind, Index batch, const Chosen& chosen) {
  std::unique_ptr<EngineSetup> setup = kind.setup();
  Fields fields;
  setup->describe(fields);
  const auto set = [&](const char* name, const Value& value) {
    if (fields.find(name) != nullptr) fields.assign(name, value, name);
  };
  // Small batches stand for the other way to do it, where there are two.
  set("batch", Value(batch));
  if (kind.name == "mpie")
    set("momentum_every", Value(3));  // some kicks in a few iterations
  else
    set("order", Value(batch < 5 ? "sequential" : "disjoint"));
  if (setup->traits().keeps_waves) set("relax", Value(batch < 5 ? 0.0 : 0.05));
  for (const auto& [name, value] : chosen) set(name.c_str(), value);
  return setup;
}

/// A scene with one engine on it.
struct Prepared {
  Scene scene;
  Measurement measurement;
  std::unique_ptr<EngineSetup> setup;
  Model<double> model;
  std::optional<DevicePatterns> there;
  std::optional<Workbench<double>> bench;
  std::unique_ptr<Engine<double>> engine;

  /// Kernels have at most `group` patterns in flight.
  Prepared(Scene from, const EngineKind& kind, Index batch, std::optional<Device> kernels, Index group = 256,
           const Chosen& chosen = {})
      : scene(near_the_truth(std::move(from))),
        measurement(scene.frames, ZeroFrequency::corner, scene.mask, AmplitudeStorage::f64),
        setup(chosen_setup(kind, batch, chosen)),
        model(measurement, scene.slices, scene.modes, scene.propagators, setup->loss(), FftEffort::quick) {
    if (kernels) there.emplace(*kernels, measurement, PatternTier::device);
    bench.emplace(model, scene.state, testing::everyone, 3, WorkLimits{.groups = {.most = group}}, nullptr,
                  there ? &*there : nullptr);
    engine = setup->make(*bench);
  }

  /// The object first, then the probe too: other kernels are recorded for either.
  void iterate(Index iterations) {
    for (Index i = 1; i <= iterations; ++i)
      engine->iterate(*bench, {.number = i, .object_free = true, .probe_free = i > iterations / 2});
  }
};

bool knows(const EngineKind& kind, const Scene& scene) {
  if (kind.name == "mpie" && scene.type != ObjectType::complex) return false;  // momentum is for complex objects
  return kind.setup()->knows(scene.type, scene.slices);
}

class EnginesOnEach : public sonde::testing::EachDevice {};
INSTANTIATE_EACH_DEVICE(EnginesOnEach);

TEST_P(EnginesOnEach, WithKernelsFindWhatTheCpuFinds) {
  const auto scenes = [] {
    std::vector<Scene> all;
    all.push_back({.modes = 2, .fractional = true, .masked = true});
    all.push_back({.modes = 1, .type = ObjectType::potential});
    all.push_back({.modes = 2, .object_rows = 30, .object_cols = 41});  // room for frames that do not meet
    all.push_back({.slices = 2, .modes = 2, .fractional = true});
    return all;
  };
  for (const EngineKind& kind : engine_kinds()) {
    if (!kind.setup()->traits().has_kernels) continue;
    for (std::size_t which = 0; which < scenes().size(); ++which)
      for (const Index batch : {2, 5}) {
        if (!knows(kind, scenes()[which])) continue;
        SCOPED_TRACE(::testing::Message() << kind.name << ", scene " << which << ", batch " << batch);
        Prepared there(std::move(scenes()[which]), kind, batch, device());
        Prepared here(std::move(scenes()[which]), kind, batch, {});
        there.iterate(20);  // often enough that graphs are recorded, measured and replayed
        here.iterate(20);
        // Rounding of 1e-15, ten times larger for every few steps in the dim parts of a random object.
        EXPECT_LT(difference(there.scene.state.object, here.scene.state.object), 1e-9);
        EXPECT_LT(difference(there.scene.state.probe, here.scene.state.probe), 1e-9);
        for (std::size_t j = 0; j < 5; ++j)
          EXPECT_NEAR(there.bench->fit()[j].loss, here.bench->fit()[j].loss, 1e-8 * (here.bench->fit()[j].loss + 1));
      }
  }
}

TEST_P(EnginesOnEach, WithKernelsFindWhatTheCpuFindsInAnyScene) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    std::mt19937 generator(seed);
    const auto one_of = [&](Index least, Index most) {
      return least + static_cast<Index>(generator() % static_cast<unsigned>(most - least + 1));
    };
    const auto between = [&](double least, double most) {
      return std::uniform_real_distribution<double>(least, most)(generator);
    };
    const bool potential = one_of(0, 2) == 0;
    const Index rows = one_of(2, 14), cols = one_of(2, 14), slices = one_of(1, 3), modes = one_of(1, 3);
    const Index down = one_of(2, 30), across = one_of(2, 30);
    const bool fractional = one_of(0, 1) == 1, masked = one_of(0, 1) == 1;
    const Chosen chosen{{"step", between(0.05, 0.5)},        {"g", between(0.1, 1)},
                        {"step_object", between(0.05, 0.5)}, {"step_probe", between(0.05, 0.5)},
                        {"alpha_object", between(0.1, 1)},   {"alpha_probe", between(0.1, 1)},
                        {"support", between(0.5, 1)},        {"rate_object", between(0.001, 0.01)},
                        {"beta1", between(0, 0.95)},         {"alpha", between(0, 1)},
                        {"beta", between(0.5, 1)},           {"gamma", between(0.3, 1)},
                        {"relax", between(0.05, 0.2)},       {"keep_object", between(1e-4, 1e-2)},
                        {"keep_probe", between(1e-4, 1e-2)}};
    const auto scene = [&] {
      return Scene{.rows = rows,
                   .cols = cols,
                   .slices = slices,
                   .modes = modes,
                   .object_rows = rows + down,
                   .object_cols = cols + across,
                   .fractional = fractional,
                   .masked = masked,
                   .type = potential ? ObjectType::potential : ObjectType::complex,
                   .seed = seed};
    };
    const Index batch = one_of(1, 6), group = one_of(1, 5);
    for (const EngineKind& kind : engine_kinds()) {
      if (!kind.setup()->traits().has_kernels || !knows(kind, scene())) continue;
      SCOPED_TRACE(::testing::Message() << kind.name << ", seed " << seed << ", " << rows << " x " << cols);
      Prepared there(scene(), kind, batch, device(), group, chosen);
      Prepared here(scene(), kind, batch, {}, 256, chosen);
      there.iterate(4);
      here.iterate(4);
      // Windows of a few pixels have dim elements by which is divided: some digits more go.
      EXPECT_LT(difference(there.scene.state.object, here.scene.state.object), 1e-8);
      EXPECT_LT(difference(there.scene.state.probe, here.scene.state.probe), 1e-8);
    }
  }
}

TEST_P(EnginesOnEach, SeeABatchOfSeveralGroupsAsOne) {
  for (const EngineKind& kind : engine_kinds()) {
    if (!kind.setup()->traits().has_kernels) continue;
    SCOPED_TRACE(kind.name);
    Prepared there({.modes = 2, .fractional = true}, kind, 5, device(), /*group=*/2);
    Prepared here({.modes = 2, .fractional = true}, kind, 5, {});
    there.iterate(6);
    here.iterate(6);
    EXPECT_LT(difference(there.scene.state.object, here.scene.state.object), 1e-10);
    EXPECT_LT(difference(there.scene.state.probe, here.scene.state.probe), 1e-10);
  }
}

TEST_P(EnginesOnEach, RememberTheSameOnEitherSide) {
  // What a checkpoint takes, and what it gives back, goes on where the kernels were.
  for (const EngineKind& kind : engine_kinds()) {
    if (!kind.setup()->traits().has_kernels) continue;
    SCOPED_TRACE(kind.name);
    Prepared through({.modes = 2}, kind, 5, device()), asked({.modes = 2}, kind, 5, device());
    through.iterate(4);
    for (Index i = 1; i <= 4; ++i) {
      asked.engine->iterate(*asked.bench, {.number = i, .object_free = true, .probe_free = i > 2});
      (void)asked.engine->memory();
    }
    EXPECT_EQ(difference(asked.scene.state.object, through.scene.state.object), 0);
    EXPECT_EQ(difference(asked.scene.state.probe, through.scene.state.probe), 0);
  }
}

TEST_P(EnginesOnEach, TakeLikelihoodStepsForEveryFrame) {
  for (const bool masked : {false, true})
    for (const Index group : {2, 5}) {
      const auto scene = [&] { return Scene{.modes = 2, .fractional = true, .masked = masked}; };
      const Chosen poisson{{"loss", Value("poisson")}};
      Prepared there(scene(), engine_kind("lsqml"), 5, device(), group, poisson);
      Prepared here(scene(), engine_kind("lsqml"), 5, {}, 256, poisson);
      there.iterate(6);
      here.iterate(6);
      EXPECT_LT(difference(there.scene.state.object, here.scene.state.object), 1e-10);
      EXPECT_LT(difference(there.scene.state.probe, here.scene.state.probe), 1e-10);
    }
}

TEST_P(EnginesOnEach, FollowSettingsThatChange) {
  // What has been recorded with the old ones is not replayed.
  const std::map<std::string, std::pair<const char*, double>> changes{
      {"epie", {"step_object", 0.1}}, {"rpie", {"alpha_object", 0.7}}, {"mpie", {"kick", 0.7}},
      {"gd", {"step", 0.1}},          {"adam", {"rate_object", 1e-4}}, {"lsqml", {"relax", 0.2}},
      {"ml", {"probe_scale", 0.3}},   {"dm", {"alpha", 0.5}},          {"raar", {"beta", 0.5}},
      {"rrr", {"gamma", 0.5}},        {"ap", {"keep_object", 0.1}},    {"projections", {"a", 0.1}}};
  for (const EngineKind& kind : engine_kinds()) {
    SCOPED_TRACE(kind.name);
    const auto& [setting, value] = changes.at(std::string(kind.name));
    const auto after = [&, setting = setting, value = value](std::optional<Device> kernels, bool change) {
      auto run = std::make_unique<Prepared>(Scene{.modes = 2}, kind, /*batch=*/2, kernels);
      run->iterate(4);
      Fields fields;
      run->setup->describe(fields);
      if (change) fields.assign(setting, Value(value), "test");
      run->setup->renew(*run->engine, *run->bench);
      run->iterate(4);
      return run->scene.state.object.clone();
    };
    const Array there = after(device(), true), here = after({}, true);
    EXPECT_LT(difference(there, here), 1e-9);
    EXPECT_GT(difference(after({}, false), here), 1e-6) << "the setting has no effect here";
  }
}

TEST_P(EnginesOnEach, FollowPositionsThatAreCorrected) {
  for (const EngineKind& kind : engine_kinds()) {
    if (!kind.setup()->traits().has_kernels) continue;
    SCOPED_TRACE(kind.name);
    Prepared there({.modes = 2, .fractional = true}, kind, 5, device(), /*group=*/2);
    Prepared here({.modes = 2, .fractional = true}, kind, 5, {});
    for (Prepared* run : {&there, &here}) {
      run->iterate(4);
      const std::vector<Placement> from = run->scene.state.placements;
      testing::move_positions(run->scene.state);
      run->bench->positions_changed();
      run->engine->positions_changed(*run->bench, from);
      run->iterate(4);
    }
    EXPECT_LT(difference(there.scene.state.object, here.scene.state.object), 1e-10);
    EXPECT_LT(difference(there.scene.state.probe, here.scene.state.probe), 1e-10);
  }
}

TEST_P(EnginesOnEach, TakeAStateThatSomebodyElseChanged) {
  Prepared there({.modes = 2}, engine_kind("gd"), 5, device());
  Prepared here({.modes = 2}, engine_kind("gd"), 5, {});
  for (Prepared* run : {&there, &here}) {
    run->iterate(2);
    auto* object = static_cast<complex128*>(run->scene.state.object.data());
    for (Index i = 0; i < run->scene.state.object.count(); ++i) object[i] *= 0.5;
    run->bench->renew_spectrum();
    run->engine->state_changed();
    run->iterate(2);
  }
  EXPECT_LT(difference(there.scene.state.object, here.scene.state.object), 1e-10);
}

/// Four windows that overlap, with boxes inside that do not, and what is in flight there.
struct InFlight {
  static constexpr Index rows = 6, cols = 8, modes = 2, slots = 4, object_rows = 11, object_cols = 14;
  static constexpr Index pixels = rows * cols, waves_count = slots * modes * pixels;
  using Wave = device::Complex<double>;

  std::vector<Placement> placements{{0, 0, 0, 0}, {0, 5, 0, 0}, {4, 0, 0, 0}, {4, 5, 0, 0}};
  std::vector<Index> order{2, 0, 3, 1};
  device::Group now{0, slots, 1, 0, slots};
  Box box{1, 1, 4, 5};
  std::vector<Wave> object, incident, waves, kept;
  std::vector<double> amplitudes, partial, by_slot;

  InFlight()
      : object(static_cast<std::size_t>(object_rows * object_cols)),
        incident(static_cast<std::size_t>(modes * pixels)),
        waves(static_cast<std::size_t>(waves_count)),
        kept(waves.size()),
        amplitudes(static_cast<std::size_t>(slots * pixels)),
        partial(static_cast<std::size_t>(slots * device::strips_of(pixels) * device::fit_sums)),
        by_slot(static_cast<std::size_t>(2 * slots)) {
    std::mt19937 generator(4);
    std::normal_distribution<double> normal;
    for (auto* list : {&object, &incident, &waves, &kept})
      for (Wave& value : *list) value = {normal(generator), normal(generator)};
    for (double& amplitude : amplitudes) amplitude = std::abs(normal(generator));
  }

  device::Flight<double> flight() {
    device::Flight<double> of;
    of.of = {rows, cols, modes, 1, object_rows, object_cols, slots, &now, order.data(), placements.data()};
    of.patterns = {amplitudes.data(), device::Stored::f64, false};
    of.eps = 1e-9;
    of.scale = 1.0 / static_cast<double>(pixels);
    of.waves = waves.data();
    of.object = object.data();
    of.incident = {incident.data(), 0};
    of.partial = partial.data();
    of.by_slot = by_slot.data();
    return of;
  }
};

std::complex<double> number(device::Complex<double> value) { return {value.re, value.im}; }

class KernelsInEitherOrder : public ::testing::TestWithParam<StepOrder> {};
INSTANTIATE_TEST_SUITE_P(Engines, KernelsInEitherOrder, ::testing::Values(StepOrder::forwards, StepOrder::backwards));

// What a thread reads no other may write: the same by the formula, in whichever order threads come.
TEST_P(KernelsInEitherOrder, UpdateWhatLiesUnderTheirBoxes) {
  InFlight there;
  const InFlight before = there;
  std::vector<InFlight::Wave> next = there.object;
  const device::LargestLight<double> largest{there.flight()};
  run_serially({.blocks = largest.pieces()}, largest, GetParam());
  run_serially({.blocks = 1}, device::LargestOfSlots{there.flight().of, there.partial.data(), there.by_slot.data()},
               GetParam());
  device::UpdateUnder<double> update;
  update.flight = there.flight();
  update.of_object = {0.7, 0.3};
  update.of_probe = {0.4, 0.6};
  update.box = &there.box;
  update.next = next.data();
  run_serially({.blocks = update.pieces()}, update, GetParam());
  const device::CommitBoxes<double> commit{there.flight().of, &there.box, next.data(), there.object.data()};
  run_serially({.blocks = commit.pieces()}, commit, GetParam());

  auto expected = before.object;
  for (Index slot = 0; slot < InFlight::slots; ++slot) {
    const Placement& at = before.placements[static_cast<std::size_t>(before.order[static_cast<std::size_t>(slot)])];
    const auto under = [&](Index pixel) {
      return static_cast<std::size_t>((at.row + pixel / InFlight::cols) * InFlight::object_cols + at.col +
                                      pixel % InFlight::cols);
    };
    double most_light = 0, most_object = 0;
    std::vector<double> light(static_cast<std::size_t>(InFlight::pixels));
    for (Index i = 0; i < InFlight::pixels; ++i) {
      const auto k = static_cast<std::size_t>(i);
      for (Index m = 0; m < InFlight::modes; ++m)
        light[k] += std::norm(number(before.incident[static_cast<std::size_t>(m * InFlight::pixels + i)]));
      most_light = std::max(most_light, light[k]);
      most_object = std::max(most_object, std::norm(number(before.object[under(i)])));
    }
    for (Index i = 0; i < InFlight::pixels; ++i) {
      const std::complex<double> o = number(before.object[under(i)]);
      std::complex<double> sum = 0;
      for (Index m = 0; m < InFlight::modes; ++m) {
        const auto k = static_cast<std::size_t>((slot * InFlight::modes + m) * InFlight::pixels + i);
        const std::complex<double> chi = number(before.waves[k]);
        sum += std::conj(number(before.incident[static_cast<std::size_t>(m * InFlight::pixels + i)])) * chi;
        const std::complex<double> probe = 0.4 * std::conj(o) * chi / (0.4 * std::norm(o) + 0.6 * most_object);
        EXPECT_LT(std::abs(number(there.waves[k]) - probe), 1e-14);
      }
      const Index row = i / InFlight::cols, col = i % InFlight::cols;
      if (row < 1 || row >= 5 || col < 1 || col >= 6) continue;
      const std::complex<double> updated =
          o + 0.7 * sum / (0.7 * light[static_cast<std::size_t>(i)] + 0.3 * most_light);
      expected[under(i)] = {updated.real(), updated.imag()};
    }
  }
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_LT(std::abs(number(there.object[i]) - number(expected[i])), 1e-13) << i;
}

TEST_P(KernelsInEitherOrder, KickAfterSoManyUpdates) {
  InFlight there;
  const auto object = there.object;
  std::vector<InFlight::Wave> velocity(object.size(), {0.5, -0.25}), before(object.size(), {1, 2}), next(object.size());
  Index updates = 0;
  device::Kick<double> kick;
  kick.updates = &updates;
  kick.friction = 0.9;
  kick.strength = 0.2;
  kick.count = static_cast<Index>(object.size());
  kick.velocity = velocity.data();
  kick.before = before.data();
  kick.object = there.object.data();
  kick.next = next.data();
  for (Index update = 1; update <= 3; ++update) {
    run_serially({.blocks = 1}, device::CountUpdate{3, &updates}, GetParam());
    EXPECT_EQ(updates, update % 3);
    if (update == 3) {
      EXPECT_EQ(std::memcmp(there.object.data(), object.data(), object.size() * sizeof object[0]), 0);
    }
    run_serially({.blocks = device::strips_of(kick.count)}, kick, GetParam());
  }
  for (std::size_t i = 0; i < object.size(); ++i) {
    const std::complex<double> o = number(object[i]),
                               v = 0.9 * std::complex<double>(0.5, -0.25) + o - std::complex<double>(1, 2);
    EXPECT_LT(std::abs(number(velocity[i]) - v), 1e-14);
    EXPECT_LT(std::abs(number(there.object[i]) - (o + 0.2 * v)), 1e-14);
    EXPECT_EQ(number(before[i]), number(there.object[i]));
    EXPECT_EQ(number(next[i]), number(there.object[i]));
  }
}

TEST_P(KernelsInEitherOrder, SumAlongDirectionsAsTheLoopsOfTheCpu) {
  // The second group of a batch whose first one had two members.
  InFlight there;
  there.order = {9, 9, 2, 0, 3, 1};
  there.now = {2, InFlight::slots, 0, 0, 6, 2};
  std::vector<InFlight::Wave> toward = there.object;
  for (InFlight::Wave& value : toward) value = {value.im, 2 * value.re};
  device::Flight<double> flight = there.flight();
  flight.brought = {there.kept.data(), InFlight::modes * InFlight::pixels};  // each pattern's own
  std::vector<double> along(6 * 3 * device::fit_sums, -1);
  flight.of.slices = 3;
  for (const bool with_probe : {true, false}) {
    const device::SumAlong<double> body{flight, toward.data(), with_probe};
    run_serially({.blocks = body.pieces()}, body, GetParam());
    run_serially({.blocks = 1}, device::AlongOfMembers{flight.of, 1, there.partial.data(), along.data()}, GetParam());
    for (Index slot = 0; slot < InFlight::slots; ++slot) {
      const Placement& at = there.placements[static_cast<std::size_t>(there.order[static_cast<std::size_t>(2 + slot)])];
      const auto window = [&](const std::vector<InFlight::Wave>& object) {
        View<const complex128, 2> view(
            reinterpret_cast<const complex128*>(object.data()) + at.row * InFlight::object_cols + at.col,
            InFlight::rows, InFlight::cols);
        view.stride[0] = InFlight::object_cols;
        return view;
      };
      const auto wave = [&](const std::vector<InFlight::Wave>& waves, Index which) {
        return reinterpret_cast<const complex128*>(waves.data()) + which * InFlight::modes * InFlight::pixels;
      };
      const StepSums expected =
          cpu::step_sums<double>(window(there.object), window(toward), wave(there.incident, 0), wave(there.kept, slot),
                                 wave(there.waves, slot), InFlight::modes);
      const double* found = along.data() + ((2 + slot) * 3 + 1) * device::fit_sums;
      // 96 products of order one.
      EXPECT_NEAR(found[0], expected.xx, 1e-11);
      EXPECT_NEAR(found[1], with_probe ? expected.yy : 0, 1e-11);
      EXPECT_NEAR(found[2], with_probe ? expected.xy : 0, 1e-11);
      EXPECT_NEAR(found[3], expected.chi_x, 1e-11);
      EXPECT_NEAR(found[4], with_probe ? expected.chi_y : 0, 1e-11);
    }
  }
  EXPECT_EQ(along[0], -1) << "of another group";
}

TEST_P(KernelsInEitherOrder, ChooseTrimmedStepsOfABatch) {
  constexpr Index members = 23, slices = 2;
  std::mt19937 generator(6);
  std::uniform_real_distribution<double> uniform(-0.2, 1);
  std::vector<double> along(members * slices * device::fit_sums), wanted(members), sorted(members), steps(slices + 1);
  for (double& value : along) value = uniform(generator);
  for (std::size_t i = 0; i < members * slices; ++i) {
    double* own = along.data() + i * device::fit_sums;
    own[0] = 2 + std::abs(own[0]);
    own[1] = 3 + std::abs(own[1]);
  }
  for (int k = 0; k < device::fit_sums; ++k) along[device::fit_sums + k] = 0;  // the second slice of a dark frame
  for (int k = 0; k < 4 * device::fit_sums; ++k) along[20 * device::fit_sums + k] = along[k];  // steps that are equal
  device::Group now{0, members, 1, 0, members};
  device::ChooseSteps body;
  body.now = &now;
  body.slices = slices;
  body.share = 0.3;
  body.probe_share = 0.9;
  body.along = along.data();
  body.wanted = wanted.data();
  body.sorted = sorted.data();
  body.steps = steps.data();
  run_serially({.blocks = 1}, body, GetParam());

  double probe = 0;
  for (Index s = 0; s < slices; ++s) {
    const auto own = [&](Index i) { return along.data() + (i * slices + s) * device::fit_sums; };
    double xx = 0, yy = 0;
    for (Index i = 0; i < members; ++i) {
      xx += own(i)[0] / members;
      yy += own(i)[1] / members;
    }
    std::vector<double> all;
    for (Index i = 0; i < members; ++i) {
      const double *sums = own(i), a = sums[0] + 0.1 * xx, b = sums[1] + 0.1 * yy;
      // Cramer's rule for [a c; c b] (object, probe) = (chi_x, chi_y); behind the first slice there is no probe.
      const double c = s == 0 ? sums[2] : 0, of_probe = s == 0 ? sums[4] : 0;
      all.push_back(0.3 * std::max(0.0, (b * sums[3] - c * of_probe) / (a * b - c * c)));
      if (s == 0) probe += 0.9 * std::max(0.0, (a * of_probe - c * sums[3]) / (a * b - c * c)) / members;
    }
    std::sort(all.begin(), all.end());
    double mean = 0;
    for (std::size_t i = 2; i < 21; ++i) mean += all[i] / 19;  // without a tenth at either end
    EXPECT_NEAR(steps[static_cast<std::size_t>(s)], mean, 1e-14);
  }
  EXPECT_NEAR(steps[slices], probe, 1e-14);
}

TEST_P(KernelsInEitherOrder, FindTheLikeliestShareOfEveryPattern) {
  InFlight there;
  for (std::size_t i = 0; i < there.amplitudes.size(); i += 5) there.amplitudes[i] = 0;
  std::vector<double> weights(static_cast<std::size_t>(InFlight::pixels), 1);
  weights[7] = 0;
  for (const double* weighted : {static_cast<const double*>(nullptr), static_cast<const double*>(weights.data())}) {
    device::Flight<double> flight = there.flight();
    flight.weights = weighted;
    run_serially({.blocks = InFlight::slots}, device::PoissonShare<double>{flight}, GetParam());
    for (Index slot = 0; slot < InFlight::slots; ++slot) {
      const Index frame = there.order[static_cast<std::size_t>(slot)];
      const double expected = cpu::poisson_step<double>(
          {there.amplitudes.data() + frame * InFlight::pixels, weighted}, flight.eps, flight.scale,
          reinterpret_cast<const complex128*>(there.waves.data()) + slot * InFlight::modes * InFlight::pixels,
          InFlight::modes, InFlight::pixels);
      EXPECT_GT(expected, 0);
      EXPECT_NEAR(there.by_slot[static_cast<std::size_t>(2 * slot)], expected, 1e-12);
    }
  }
}

TEST_P(KernelsInEitherOrder, ProjectAsTheLoopsOfTheCpu) {
  for (const double bound : {0.0, 0.05, 100.0}) {
    SCOPED_TRACE(bound);
    InFlight there;
    const InFlight before = there;
    const device::Projected<double> projected{there.flight(), {-0.6, 1.1, 1.7, bound}, there.kept.data()};
    run_serially({.blocks = projected.pieces()}, device::AmplitudeError<double>{projected}, GetParam());
    run_serially({.blocks = 1},
                 device::DeviationKept{there.flight().of, there.partial.data(), bound, there.by_slot.data()},
                 GetParam());
    run_serially({.blocks = projected.pieces()}, device::Project<double>{projected}, GetParam());
    const Index each = InFlight::modes * InFlight::pixels;
    for (Index slot = 0; slot < InFlight::slots; ++slot) {
      const Index frame = before.order[static_cast<std::size_t>(slot)];
      std::vector<std::complex<double>> object, stored;
      for (Index i = 0; i < each; ++i) {
        object.push_back(number(before.waves[static_cast<std::size_t>(slot * each + i)]));
        stored.push_back(number(before.kept[static_cast<std::size_t>(frame * each + i)]));
      }
      const double scale = 1.0 / static_cast<double>(InFlight::pixels);
      cpu::project<double>({-0.6, 1.1, 1.7, bound}, {before.amplitudes.data() + frame * InFlight::pixels, nullptr},
                           1e-9, scale, scale, object.data(), stored.data(), InFlight::modes, InFlight::pixels);
      for (Index i = 0; i < each; ++i) {
        const auto k = static_cast<std::size_t>(i);
        EXPECT_LT(std::abs(number(there.kept[static_cast<std::size_t>(frame * each + i)]) - stored[k]), 1e-12);
        EXPECT_LT(std::abs(number(there.waves[static_cast<std::size_t>(slot * each + i)]) - object[k]), 1e-12);
      }
    }
  }
}

TEST(EnginesWithKernels, AreNamed) {
  const std::string names = engines_that([](const EngineSetup& setup) { return setup.traits().has_kernels; });
  EXPECT_THAT(names, ::testing::StartsWith("epie, rpie, mpie, gd, adam, lsqml, ml"));
}

}  // namespace
}  // namespace sonde::ptycho
