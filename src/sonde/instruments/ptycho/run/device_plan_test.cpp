// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/device_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/device/pool.h"
#include "sonde/instruments/ptycho/engines/workbench.h"
#include "sonde/instruments/ptycho/model/test_scene.h"
#include "sonde/instruments/ptycho/run/test_engine.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using testing::bytes_of;
using testing::engine;

RunSizes small_run() {
  RunSizes s;
  s.frames = 4000;
  s.rows = 64;
  s.cols = 32;
  s.modes = 2;
  s.object_rows = 200;
  s.object_cols = 100;
  s.storage = AmplitudeStorage::f16;
  s.engines = {engine("gd", {{"batch", "100"}})};
  return s;
}

// Every product by hand, so that a changed formula is seen.
TEST(DevicePlan, CountsWhatTheDeviceHolds) {
  const MemoryPlan plan = plan_device_memory(small_run(), {PatternTier::device});
  EXPECT_EQ(bytes_of(plan, "patterns"), 4000u * 64 * 32 * 2);
  EXPECT_EQ(bytes_of(plan, "estimate"), 200u * 100 * 8 + 2 * 64 * 32 * 8);
  EXPECT_EQ(bytes_of(plan, "sums"), 200u * 100 * 12 + 2 * 64 * 32 * 8 + 64 * 32 * 4);
  EXPECT_EQ(bytes_of(plan, "waves"), 100u * 2 * 64 * 32 * 8);
  EXPECT_EQ(bytes_of(plan_device_memory(small_run(), {PatternTier::host}), "patterns"), 2u * 100 * 64 * 32 * 2);
}

TEST(DevicePlan, ShiftedProbesAndSlicesAddWaves) {
  RunSizes s = small_run();
  s.fractional = true;
  s.slices = 3;
  EXPECT_EQ(bytes_of(plan_device_memory(s, {PatternTier::device}), "waves"), 100u * 2 * 4 * 64 * 32 * 8);
}

TEST(DevicePlan, TryingStartsHoldsTwoReconstructions) {
  RunSizes s = small_run();
  s.starts = 5;
  EXPECT_EQ(plan_device_memory(s, {PatternTier::device}).peak_bytes,
            2 * plan_device_memory(small_run(), {PatternTier::device}).peak_bytes);
}

TEST(DevicePlan, EnginesHoldWhatTheyRemember) {
  const auto held = [](const EngineSize& one, auto change) {
    RunSizes s = small_run();
    s.engines = {one};
    change(s);
    return bytes_of(plan_device_memory(s, {}), "engine " + one.name);
  };
  const auto as_it_is = [](RunSizes&) {};
  const std::size_t object = 200u * 100 * 8, probe = 2u * 64 * 32 * 8;
  EXPECT_EQ(held(engine("gd"), as_it_is), 0u);
  EXPECT_EQ(held(engine("adam"), as_it_is), object * 3 / 2 + probe * 3 / 2);
  EXPECT_EQ(held(engine("adam"), [](RunSizes& s) { s.potential = true; }), object + probe * 3 / 2);
  // 256 patterns at once, the most there may be: 4000 in 16 groups of 250.
  EXPECT_EQ(held(engine("ml"), as_it_is), 2 * object + 2 * probe + 2 * 250 * probe);
  EXPECT_EQ(held(engine("ml"), [](RunSizes& s) { s.fractional = true; }), 2 * object + 3 * probe + 2 * 250 * probe);
  EXPECT_EQ(held(engine("dm"), as_it_is), 4000 * probe);
  EXPECT_EQ(held(engine("raar"), as_it_is), 4000 * probe);
  EXPECT_EQ(held(engine("epie"), as_it_is), object);
  EXPECT_EQ(held(engine("mpie"), as_it_is), 3 * object);
  // Waves of a batch, and those in flight once more where the probe's direction is shifted to them.
  EXPECT_EQ(held(engine("lsqml", {{"batch", "100"}}), as_it_is), object / 2 + 100 * probe);
  EXPECT_EQ(held(engine("lsqml", {{"batch", "100"}}), [](RunSizes& s) { s.fractional = true; }),
            object / 2 + 100 * probe + 251 * probe);
  EXPECT_EQ(held(engine("rpie", {{"order", "disjoint"}}), as_it_is), object);
}

TEST(DevicePlan, FramesOneByOneNeedTheWavesOfOne) {
  RunSizes s = small_run();
  s.engines = {engine("epie")};
  EXPECT_EQ(bytes_of(plan_device_memory(s, {}), "waves"), 2u * 64 * 32 * 8);
  s.engines = {engine("epie", {{"order", "disjoint"}})};
  EXPECT_EQ(bytes_of(plan_device_memory(s, {}), "waves"), 250u * 2 * 64 * 32 * 8);
}

TEST(DevicePlan, PositionsThatMoveHoldDerivatives) {
  RunSizes s = small_run();
  s.fractional = s.moves = true;
  EXPECT_EQ(bytes_of(plan_device_memory(s, {}), "position correction"), (2u * 100 + 1) * 2 * 64 * 32 * 8);
}

/// What a device really holds while an engine works there. The CPU plays the device, whose pool counts; what the CPU's
/// own loops would need is counted out, `exposures` times what they have for each thread.
std::size_t held_at_work(const EngineSize& one, const RunSizes& sizes, testing::Scene& scene, std::size_t exposures) {
  const Measurement measurement(scene.frames, ZeroFrequency::corner, {}, AmplitudeStorage::f64);
  const Model<double> model(measurement, scene.slices, scene.modes, scene.propagators, one.setup->loss(),
                            FftEffort::quick);
  const auto in_use = [] { return Pool::of(Device::cpu()).in_use_bytes(); };
  const std::size_t before = in_use();
  const PerWorker<Exposure<double>> of_threads([&] { return Exposure<double>(model); });
  const std::size_t of_the_cpu = in_use() - before;
  DevicePatterns there(Device::cpu(), measurement, PatternTier::device);
  Workbench<double> bench(model, scene.state, {0, 1, 2, 3, 4}, 1, {}, nullptr, &there);
  if (sizes.moves) bench.keep_spectrum();
  const std::unique_ptr<Engine<double>> engine = one.setup->make(bench);
  for (Index i = 1; i <= 2; ++i) engine->iterate(bench, {.number = i});
  if (sizes.moves) (void)bench.device_pass()->position_sums(bench.active());
  return in_use() - before - (1 + exposures) * of_the_cpu;
}

TEST(DevicePlan, IsWhatIsHeldAtWork) {
  struct Case {
    const char* engine;
    bool moves;
    std::size_t exposures;  // the pass has some, and some engines have
  };
  for (const Index slices : {1, 2})
    for (const Case& c : {Case{"gd", true, 1}, Case{"lsqml", false, 2}}) {
      SCOPED_TRACE(::testing::Message() << c.engine << ", slices " << slices);
      testing::Scene scene{.rows = 32,
                           .cols = 40,
                           .slices = slices,
                           .modes = 2,
                           .object_rows = 70,
                           .object_cols = 80,
                           .fractional = true};
      scene.build();
      RunSizes s;
      s.frames = 5;
      s.rows = scene.rows;
      s.cols = scene.cols;
      s.modes = scene.modes;
      s.slices = scene.slices;
      s.object_rows = scene.object_rows;
      s.object_cols = scene.object_cols;
      s.fractional = true;
      s.moves = c.moves;
      s.real_bytes = 8;
      s.storage = AmplitudeStorage::f64;
      s.engines = {engine(c.engine, {{"batch", "5"}})};
      const MemoryPlan plan = plan_device_memory(s, {});
      const std::size_t held = held_at_work(s.engines[0], s, scene, c.exposures);
      // The library's workspace is only a GPU's; some numbers for each pattern in flight are not planned.
      const std::size_t planned = plan.peak_bytes - bytes_of(plan, "transforms");
      EXPECT_LE(held, planned + planned / 100);
      EXPECT_GE(held, planned - planned / 100);
    }
}

TEST(DevicePlan, WavesOnTheDeviceAreNoneOfTheHosts) {
  RunSizes s = small_run();
  s.engines = {engine("dm")};
  const auto host = [&](std::optional<Tier> waves) {
    const RunSizes made = choose_storage(s, {.wave_tier = waves}, std::size_t{1} << 40, std::size_t{1} << 40).value;
    return plan_memory(made).peak_bytes;
  };
  EXPECT_EQ(host(Tier::host) - host(Tier::device), 4000u * 2 * 64 * 32 * 8);
}

TEST(DevicePlan, TheLargestEngineCounts) {
  RunSizes both = small_run(), one = small_run();
  both.engines = {engine("gd"), engine("adam")};
  one.engines = {engine("adam")};
  EXPECT_EQ(plan_device_memory(both, {}).peak_bytes, plan_device_memory(one, {}).peak_bytes);
}

TEST(DevicePlan, PatternsWaitOnTheHostWhenTheDeviceIsTooSmall) {
  const auto room = [](std::size_t bytes) {
    return choose_device_room(small_run(), Budget(bytes, "the test says so"));
  };
  const MemoryPlan all = plan_device_memory(small_run(), {PatternTier::device});
  const MemoryPlan some = plan_device_memory(small_run(), {PatternTier::host});
  EXPECT_EQ(room(all.needed_bytes()).value.patterns, PatternTier::device);
  const Choice<DeviceRoom> host = room(all.needed_bytes() - 1);
  EXPECT_EQ(host.value.patterns, PatternTier::host);
  EXPECT_THAT(host.because, ::testing::HasSubstr("may be used"));
  EXPECT_EQ(room(some.needed_bytes()).value.groups.waves_bytes, GroupLimits{}.waves_bytes);
}

TEST(DevicePlan, GroupsShrinkBeforeTheDeviceIsRefused) {
  const auto room = [](std::size_t bytes) {
    return choose_device_room(small_run(), Budget(bytes, "the test says so"));
  };
  const MemoryPlan some = plan_device_memory(small_run(), {PatternTier::host});
  const Choice<DeviceRoom> small = room(some.needed_bytes() - 1);
  EXPECT_LT(small.value.groups.waves_bytes, GroupLimits{}.waves_bytes);
  EXPECT_THAT(small.because, ::testing::HasSubstr("small groups"));
  EXPECT_LE(plan_device_memory(small_run(), small.value).needed_bytes(), some.needed_bytes() - 1);
  const MemoryPlan least = plan_device_memory(small_run(), {PatternTier::host, {.most = 1}});
  EXPECT_EQ(room(least.needed_bytes()).value.patterns, PatternTier::host);
  EXPECT_THAT(::sonde::testing::error_of(ErrorKind::budget, [&] { (void)room(least.needed_bytes() - 1); }),
              ::testing::HasSubstr("may be used"));
}

}  // namespace
}  // namespace sonde::ptycho
