// SPDX-License-Identifier: Apache-2.0
// The reference set by the kernels of a device in single precision, against the CPU.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "sonde/instruments/ptycho/engines/engine.h"
#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"
#include "sonde/instruments/ptycho/reconstruct/test_v5.h"
#include "tests/support/devices.h"

namespace sonde::ptycho {
namespace {

class KernelsOnV5 : public sonde::testing::EachDevice {};
INSTANTIATE_EACH_DEVICE(KernelsOnV5);

/// Both ways in single precision from the same start: asked for is a relative difference of the objects
/// below 1e-3.
void expect_the_same(Device device, const std::string& engine, const std::string& order, Index iterations) {
  SONDE_NEED_DATA(data);
  const testing::V5 set(data, "1e6");
  const auto reconstruct = [&](std::optional<Device> kernels, AmplitudeStorage storage) {
    const Measurement measurement(set.frames, ZeroFrequency::centre, {}, storage);
    Schedule schedule;
    std::unique_ptr<EngineSetup> setup = engine_kind(engine).setup();
    Fields fields;
    setup->describe(fields);
    if (!order.empty()) fields.assign("order", Value(order), "test");
    schedule.engines.push_back({engine, iterations, std::move(setup)});
    schedule.stop.rule = StopRule::off;
    schedule.kernels = kernels;
    auto run = Reconstruction::prepare(measurement, set.start<float>(measurement.mean_counts()), {}, schedule);
    while (run->outcome().kind == Outcome::Kind::running) run->iterate();
    EXPECT_TRUE(run->history().back().r_free.has_value());  // of 256 frames some are held out
    return run;
  };
  const auto there = reconstruct(device, AmplitudeStorage::f32), here = reconstruct({}, AmplitudeStorage::f32);
  const auto *a = static_cast<const complex64*>(there->state().object.data()),
             *b = static_cast<const complex64*>(here->state().object.data());
  double change = 0, power = 0;
  for (Index i = 0; i < here->state().object.count(); ++i) {
    change += std::norm(complex128(a[i]) - complex128(b[i]));
    power += std::norm(complex128(b[i]));
  }
  EXPECT_LT(std::sqrt(change / power), 1e-3);  // as asked for
  EXPECT_NEAR(there->history().back().fit.r_intensity / here->history().back().fit.r_intensity, 1, 1e-4);
  EXPECT_NEAR(*there->history().back().r_free / *here->history().back().r_free, 1, 1e-3);
}

TEST_P(KernelsOnV5, FiftyIterationsOfGdAreThoseOfTheCpu) { expect_the_same(device(), "gd", "", 50); }
TEST_P(KernelsOnV5, TenIterationsOfAdamAreThoseOfTheCpu) { expect_the_same(device(), "adam", "", 10); }
TEST_P(KernelsOnV5, TenIterationsOfDmAreThoseOfTheCpu) { expect_the_same(device(), "dm", "", 10); }
TEST_P(KernelsOnV5, TenIterationsOfRaarAreThoseOfTheCpu) { expect_the_same(device(), "raar", "", 10); }
TEST_P(KernelsOnV5, TenIterationsOfRpieInGroupsAreThoseOfTheCpu) { expect_the_same(device(), "rpie", "disjoint", 10); }
TEST_P(KernelsOnV5, TenIterationsOfEpieInGroupsAreThoseOfTheCpu) { expect_the_same(device(), "epie", "disjoint", 10); }

}  // namespace
}  // namespace sonde::ptycho
