// SPDX-License-Identifier: Apache-2.0
// Patterns and exit waves on the disk give the bits of those in memory.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <vector>

#include "sonde/instruments/ptycho/reconstruct/reconstruction.h"
#include "sonde/instruments/ptycho/reconstruct/test_scan.h"
#include "tests/support/files.h"

namespace sonde::ptycho {
namespace {

constexpr std::size_t plenty = std::size_t{64} << 20;

struct Kept {
  AmplitudeStorage storage = AmplitudeStorage::f32;
  Tier patterns = Tier::host, waves = Tier::host;
  Encoding encoding = Encoding::raw;
};

class Tiers : public ::testing::Test {
 protected:
  /// Four iterations of an engine; with a break the last two after a checkpoint.
  State reconstructed(const std::string& engine, const Kept& kept, bool with_a_break = false) {
    testing::SmallScan scan(9, 2, 0.25);
    const TierBudgets budgets{std::nullopt, Budget(plenty, "test"), Budget(plenty, "test"), folder_.path().string()};
    Measurement measurement(
        scan.counts.shape()[0], 16, 16, DType::u16,
        {.zero = ZeroFrequency::corner, .storage = kept.storage, .tier = kept.patterns, .budgets = budgets});
    measurement.add(scan.counts);
    measurement.complete();
    EXPECT_EQ(measurement.tier().value, kept.patterns);
    EXPECT_EQ(budgets.disk.reserved_bytes() > 0, kept.patterns == Tier::disk);
    Schedule schedule;
    schedule.engines.push_back({engine, 4, engine_kind(engine).setup()});
    schedule.stop.rule = StopRule::off;
    schedule.holdout = 0.1;
    schedule.limits = {.wave_tier = kept.waves, .wave_encoding = kept.encoding, .budgets = budgets};
    auto run = Reconstruction::prepare(measurement, std::move(scan.state), {}, schedule);
    if (with_a_break) {
      run->iterate();
      run->iterate();
      const std::string path = folder_.file("half.h5");
      CheckpointWriter writer(path, checkpoint_kind(), 2, "");
      run->save(writer);
      writer.finish();
      run = Reconstruction::resume(measurement, {}, schedule, CheckpointReader(path, checkpoint_kind()));
      std::filesystem::remove(path);
    }
    while (run->outcome().kind == Outcome::Kind::running) run->iterate();
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path())) << "the scratch file has a name";
    return std::move(run->state());
  }
  static void expect_same_bits(const State& a, const State& b) {
    EXPECT_EQ(std::memcmp(a.object.data(), b.object.data(), b.object.allocated_bytes()), 0);
    EXPECT_EQ(std::memcmp(a.probe.data(), b.probe.data(), b.probe.allocated_bytes()), 0);
  }

  ::sonde::testing::TemporaryFolder folder_;
};

TEST_F(Tiers, PatternsOnTheDiskGiveTheBitsOfThoseInMemory) {
  for (const AmplitudeStorage storage :
       {AmplitudeStorage::f32, AmplitudeStorage::f16, AmplitudeStorage::bf16, AmplitudeStorage::counts})
    for (const char* engine : {"gd", "epie", "lsqml", "ml"}) {
      SCOPED_TRACE(::testing::Message() << engine << ", storage " << static_cast<int>(storage));
      expect_same_bits(reconstructed(engine, {.storage = storage, .patterns = Tier::disk}),
                       reconstructed(engine, {.storage = storage}));
    }
}

TEST_F(Tiers, ExitWavesOnTheDiskGiveTheBitsOfThoseInMemory) {
  for (const Encoding encoding : {Encoding::raw, Encoding::bf16})
    for (const char* engine : {"dm", "raar"}) {
      SCOPED_TRACE(::testing::Message() << engine << ", " << name(encoding));
      const State memory = reconstructed(engine, {.encoding = encoding});
      expect_same_bits(reconstructed(engine, {.waves = Tier::disk, .encoding = encoding}), memory);
      expect_same_bits(reconstructed(engine, {.patterns = Tier::disk, .waves = Tier::disk, .encoding = encoding}),
                       memory);
    }
}

TEST_F(Tiers, ARunGoesOnFromACheckpointWhereverItsExitWavesAre) {
  for (const Tier tier : {Tier::host, Tier::disk}) {
    SCOPED_TRACE(name(tier));
    const Kept kept{.waves = tier, .encoding = Encoding::bf16};
    expect_same_bits(reconstructed("dm", kept, /*with_a_break=*/true), reconstructed("dm", kept));
  }
}

/// bf16 keeps 8 bits of significand: the error of a rounding is spread evenly over +-2^-8 of a number, so that its root
/// mean square is at most 2^-8 / sqrt(3). Five are made, of the first waves and in each of four iterations. dm carries
/// them on without enlarging them, as it would not between convex sets, and the object, solved by least squares, moves
/// no more than the waves where each of its pixels counts by its light.
TEST_F(Tiers, RoundedExitWavesGiveNearlyTheSameObject) {
  const State exact = reconstructed("dm", {}), rounded = reconstructed("dm", {.encoding = Encoding::bf16});
  const double change = testing::SmallScan::lit_difference<float>(rounded.object, exact.object, exact);
  EXPECT_GT(change, 0) << "nothing was rounded";
  EXPECT_LT(change, 5 * 0x1p-8 / std::sqrt(3.0));
}

}  // namespace
}  // namespace sonde::ptycho
