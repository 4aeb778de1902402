// SPDX-License-Identifier: Apache-2.0
// Engines by the kernels of a device against the same engines by the CPU's threads, which engines_test.cpp holds
// against their formulas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/engines/test_bench.h"
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
  Prepared(Scene from, const EngineKind& kind, Index batch, std::optional<Device> kernels, Index group = 256)
      : scene(near_the_truth(std::move(from))),
        measurement(scene.frames, ZeroFrequency::corner, scene.mask, AmplitudeStorage::f64),
        setup(kind.setup()),
        model(measurement, scene.slices, scene.modes, scene.propagators, setup->loss(), FftEffort::quick) {
    Fields fields;
    setup->describe(fields);
    if (fields.find("batch") != nullptr) fields.assign("batch", Value(batch), "batch");
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

class EnginesOnEach : public sonde::testing::EachDevice {};
INSTANTIATE_EACH_DEVICE(EnginesOnEach);

TEST_P(EnginesOnEach, WithKernelsFindWhatTheCpuFinds) {
  const auto scenes = [] {
    std::vector<Scene> all;
    all.push_back({.modes = 2, .fractional = true, .masked = true});
    all.push_back({.modes = 1, .type = ObjectType::potential});
    all.push_back({.slices = 2, .modes = 2, .fractional = true});
    return all;
  };
  for (const EngineKind& kind : engine_kinds()) {
    if (!kind.has_kernels) continue;
    for (std::size_t which = 0; which < scenes().size(); ++which)
      for (const Index batch : {2, 5}) {
        if (kind.name == "ml" && scenes()[which].type == ObjectType::potential) continue;  // not for these
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

TEST_P(EnginesOnEach, SeeABatchOfSeveralGroupsAsOne) {
  for (const EngineKind& kind : engine_kinds()) {
    if (!kind.has_kernels) continue;
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
    if (!kind.has_kernels) continue;
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

TEST(EnginesWithKernels, AreNamed) { EXPECT_THAT(engines_with_kernels(), ::testing::HasSubstr("gd")); }

}  // namespace
}  // namespace sonde::ptycho
