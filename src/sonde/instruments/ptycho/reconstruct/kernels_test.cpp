// SPDX-License-Identifier: Apache-2.0
// Whole reconstructions by the kernels of a device against those by the CPU's threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "sonde/instruments/ptycho/reconstruct/test_prepared.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::ptycho {
namespace {

using ::testing::HasSubstr;
using testing::Prepared;
using testing::Scene;

/// Two engines in turn, one after the other on the same device, with a constraint that changes what the device has.
Schedule schedule_on(std::optional<Device> kernels, const std::string& engine = "gd", Index iterations = 4) {
  Schedule schedule;
  for (int i = 0; i < 2; ++i) schedule.engines.push_back({engine, iterations, engine_kind(engine).setup()});
  schedule.constraints.push_back(chosen_constraint("probe_power", Value::object(), "test"));
  schedule.stop.rule = StopRule::off;
  schedule.kernels = kernels;
  return schedule;
}

Scene scene() { return {.modes = 2, .object_rows = 20, .object_cols = 22, .fractional = true, .masked = true}; }

double difference(const Array& a, const Array& b) {
  double most = 0, size = 0;
  for (Index i = 0; i < b.count(); ++i) {
    const complex128 x = static_cast<const complex128*>(a.data())[i], y = static_cast<const complex128*>(b.data())[i];
    most = std::max(most, std::abs(x - y));
    size = std::max(size, std::abs(y));
  }
  return most / size;
}

class KernelsOnEach : public sonde::testing::EachDevice {};
INSTANTIATE_EACH_DEVICE(KernelsOnEach);

TEST_P(KernelsOnEach, FindWhatTheCpuFindsWithConstraintsBetween) {
  const Prepared there(scene(), schedule_on(device())), here(scene(), schedule_on({}));
  const State &a = there.run(), &b = here.run();
  // Rounding of 1e-15, ten times larger for every few steps in the dim parts of a random object.
  EXPECT_LT(difference(a.object, b.object), 1e-9);
  EXPECT_LT(difference(a.probe, b.probe), 1e-9);
  for (std::size_t i = 0; i < 8; ++i) {
    const IterationRecord &x = there.reconstruction->history()[i], &y = here.reconstruction->history()[i];
    EXPECT_NEAR(x.fit.r_intensity, y.fit.r_intensity, 1e-9) << i;
    EXPECT_NEAR(x.power_ratio, y.power_ratio, 1e-9) << i;
  }
}

TEST_P(KernelsOnEach, CorrectPositionsAsTheCpuDoes) {
  for (const char* engine : {"gd", "epie", "dm", "lsqml"})
    for (const bool fractional : {false, true}) {
      SCOPED_TRACE(::testing::Message() << engine << (fractional ? ", between pixels" : ", on pixels"));
      const auto run = [&](std::optional<Device> kernels, bool corrects) {
        Schedule schedule = schedule_on(kernels, engine, 3);
        if (corrects) schedule.positions.method = PositionMethod::gradient;
        schedule.positions.start = 2;
        schedule.positions.every = 2;
        Scene from = scene();
        from.fractional = fractional;
        return Prepared(std::move(from), std::move(schedule));
      };
      const Prepared there = run(device(), true), here = run({}, true), fixed = run({}, false);
      const State &a = there.run(), &b = here.run(), &c = fixed.run();
      double moved = 0;
      for (std::size_t j = 0; j < b.positions.size(); ++j) {
        EXPECT_NEAR(a.positions[j].row, b.positions[j].row, 1e-9) << j;
        EXPECT_NEAR(a.positions[j].col, b.positions[j].col, 1e-9) << j;
        moved += std::abs(b.positions[j].row - c.positions[j].row);
      }
      EXPECT_GT(moved, 0.01);
      EXPECT_LT(difference(a.object, b.object), 1e-8);
      EXPECT_LT(difference(a.probe, b.probe), 1e-8);
    }
}

TEST_P(KernelsOnEach, PatternsThatWaitOnTheHostGiveTheSameBits) {
  for (const EngineKind& kind : engine_kinds()) {
    if (!kind.setup()->traits().has_kernels) continue;
    const std::string name(kind.name);
    SCOPED_TRACE(name);
    const auto run = [&](PatternTier tier) {
      Schedule schedule = schedule_on(device(), name, 2);
      schedule.patterns = tier;
      schedule.limits.groups.most = 2;  // the two buffers in turn
      return Prepared(scene(), std::move(schedule));
    };
    const Prepared streamed = run(PatternTier::host), resident = run(PatternTier::device);
    const State &a = streamed.run(), &b = resident.run();
    EXPECT_EQ(std::memcmp(a.object.data(), b.object.data(), a.object.allocated_bytes()), 0);
    EXPECT_EQ(std::memcmp(a.probe.data(), b.probe.data(), a.probe.allocated_bytes()), 0);
  }
}

TEST_P(KernelsOnEach, GoOnFromACheckpointBitForBit) {
  for (const EngineKind& kind : engine_kinds()) {
    if (!kind.setup()->traits().has_kernels) continue;
    const std::string name(kind.name);
    SCOPED_TRACE(name);
    const Prepared through(scene(), schedule_on(device(), name, 2));
    const State& expected = through.run();
    const sonde::testing::TemporaryFolder folder;
    {
      const Prepared half(scene(), schedule_on(device(), name, 2));
      for (int n = 0; n < 3; ++n) half.reconstruction->iterate();
      CheckpointWriter writer(folder.file("run.h5"), checkpoint_kind(), 3, "");
      half.reconstruction->save(writer);
      writer.finish();
    }
    const auto resumed = Reconstruction::resume(through.measurement, {}, schedule_on(device(), name, 2),
                                                CheckpointReader(folder.file("run.h5"), checkpoint_kind()));
    while (resumed->outcome().kind == Outcome::Kind::running) resumed->iterate();
    const State& found = resumed->state();
    EXPECT_EQ(std::memcmp(found.object.data(), expected.object.data(), found.object.allocated_bytes()), 0);
    EXPECT_EQ(std::memcmp(found.probe.data(), expected.probe.data(), found.probe.allocated_bytes()), 0);
  }
}

TEST(Kernels, AreRefusedByTheNameOfWhatHasNone) {
  const auto refusal = [](auto change) {
    Schedule schedule = schedule_on(Device::cpu());
    change(schedule);
    return sonde::testing::error_of(ErrorKind::not_supported, [&] { Prepared(scene(), std::move(schedule)); });
  };
  EXPECT_THAT(refusal([](Schedule& schedule) {
                schedule.engines = {{"dm", 1, engine_kind("dm").setup()}};
                schedule.limits.wave_encoding = Encoding::bf16;
              }),
              HasSubstr("compute.waves"));
  EXPECT_THAT(refusal([](Schedule& schedule) {
                schedule.engines = {{"dm", 1, engine_kind("dm").setup()}};
                schedule.limits.wave_tier = Tier::disk;
              }),
              HasSubstr("compute.wave_tier"));
  const std::string positions = refusal([](Schedule& schedule) { schedule.positions.method = PositionMethod::xcorr; });
  EXPECT_THAT(positions, HasSubstr("positions are corrected by xcorr only on the CPU (with kernels: gradient)"));
  EXPECT_THAT(positions, HasSubstr("use --device cpu"));
  EXPECT_THAT(refusal([](Schedule& schedule) { schedule.opr.modes = 1; }),
              HasSubstr("a probe that varies along the scan is only for the CPU"));
  EXPECT_THAT(refusal([](Schedule& schedule) {
                const std::vector<Placement> one(1);
                schedule.share = std::make_shared<Share>(Ranks::alone(), one, Window{16, 16}, 20, 22);
              }),
              HasSubstr("several processes share a scan only on the CPU"));
}

}  // namespace
}  // namespace sonde::ptycho
