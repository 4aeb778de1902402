// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using ::testing::HasSubstr;

RunSizes sizes(std::vector<EngineSize> engines) {
  RunSizes s;
  s.frames = 1000;
  s.rows = 64;
  s.cols = 32;
  s.stored_pattern_bytes = 1000 * 64 * 32 * 2;
  s.object_rows = 200;
  s.object_cols = 100;
  s.engines = std::move(engines);
  return s;
}

std::size_t bytes_of(const MemoryPlan& plan, const std::string& what) {
  for (const MemoryPlan::Line& line : plan.lines)
    if (line.what == what) return line.bytes;
  ADD_FAILURE() << "no line " << what << " in\n" << plan.text();
  return 0;
}

// Every product by hand, so that a changed formula is seen.
TEST(MemoryPlan, CountsWhatIsHeld) {
  const MemoryPlan plan = plan_memory(sizes({{"epie", 1}}));
  EXPECT_EQ(bytes_of(plan, "patterns"), 1000u * 64 * 32 * 4);
  EXPECT_EQ(bytes_of(plan, "object"), 3u * 200 * 100 * 8);
  EXPECT_EQ(bytes_of(plan, "probe"), 3u * 64 * 32 * 8);
  EXPECT_EQ(bytes_of(plan, "threads"), 2u * 2 * 64 * 32 * 8);
  EXPECT_EQ(bytes_of(plan, "engine epie"), 200u * 100 * 8);
  EXPECT_EQ(bytes_of(plan, "while loading"), 1000u * 64 * 32 * 2);
}

struct StorageCase {
  AmplitudeStorage storage;
  std::size_t count_bytes, pattern_bytes;
};
class Storage : public ::testing::TestWithParam<StorageCase> {};

TEST_P(Storage, DecidesTheBytesOfAPattern) {
  RunSizes s = sizes({{"gd", 64}});
  s.storage = GetParam().storage;
  s.count_bytes = GetParam().count_bytes;
  EXPECT_EQ(bytes_of(plan_memory(s), "patterns"), 1000 * 64 * 32 * GetParam().pattern_bytes);
}

INSTANTIATE_TEST_SUITE_P(
    MemoryPlan, Storage,
    ::testing::Values(StorageCase{AmplitudeStorage::f32, 2, 4}, StorageCase{AmplitudeStorage::f64, 2, 8},
                      StorageCase{AmplitudeStorage::f16, 4, 2}, StorageCase{AmplitudeStorage::bf16, 4, 2},
                      StorageCase{AmplitudeStorage::counts, 1, 1}, StorageCase{AmplitudeStorage::counts, 2, 2},
                      StorageCase{AmplitudeStorage::counts, 4, 4}));

TEST(MemoryPlan, ProjectionsHoldEveryExitWave) {
  RunSizes s = sizes({{"dm", 1}});
  const std::size_t one = bytes_of(plan_memory(s), "engine dm");
  s.frames *= 2;
  EXPECT_EQ(bytes_of(plan_memory(s), "engine dm") - one, 1000u * 64 * 32 * 8);
  s.modes = 3;
  EXPECT_GT(bytes_of(plan_memory(s), "engine dm"), 3u * 2000 * 64 * 32 * 8);
}

TEST(MemoryPlan, MomentumHoldsTheObjectBeforeAndItsVelocity) {
  EXPECT_EQ(bytes_of(plan_memory(sizes({{"mpie", 1}})), "engine mpie"), 2u * 200 * 100 * 8);
}

TEST(MemoryPlan, AProbeThatVariesHoldsItsComponentsAndSums) {
  RunSizes s = sizes({{"gd", 1}});
  const std::size_t without = plan_memory(s).lasting_bytes;
  s.components = 2;
  s.fractional = true;
  // Now, best and spectra; the sums in double; 16 parts of three sums; weights now and best, and three lists in double.
  const std::size_t expected = 2u * 64 * 32 * 8 * 3 + 2u * 64 * 32 * 16 + 16u * 3 * 64 * 32 * 8 + 1000u * 2 * (16 + 48);
  EXPECT_EQ(bytes_of(plan_memory(s), "probe variation"), expected);
  EXPECT_EQ(plan_memory(s).lasting_bytes, without + expected + 64 * 32 * 8);  // and the probe's spectrum
}

TEST(MemoryPlan, OneEngineWorksAtATime) {
  const MemoryPlan both = plan_memory(sizes({{"dm", 1}, {"epie", 1}})), one = plan_memory(sizes({{"dm", 1}}));
  EXPECT_EQ(both.peak_bytes, one.peak_bytes);
}

TEST(MemoryPlan, TryingStartsHoldsTwoReconstructionsOfOneMeasurement) {
  RunSizes s = sizes({{"gd", 64}});
  s.stored_pattern_bytes = 0;  // loading is not the peak
  const MemoryPlan one = plan_memory(s);
  s.starts = 5;
  EXPECT_EQ(plan_memory(s).peak_bytes, 2 * one.peak_bytes - bytes_of(one, "patterns"));
}

TEST(MemoryPlan, LoadingMayBeThePeak) {
  RunSizes s = sizes({{"epie", 1}});
  s.stored_pattern_bytes = std::size_t{1} << 30;
  const MemoryPlan plan = plan_memory(s);
  EXPECT_EQ(plan.peak_bytes, plan.loading_bytes);
}

TEST(MemoryPlan, HeadRoomIsATenth) {
  const MemoryPlan plan = plan_memory(sizes({{"epie", 1}}));
  EXPECT_EQ(plan.needed_bytes(), plan.peak_bytes + plan.peak_bytes / 10);
}

TEST(MemoryPlan, TooLittleMemorySaysWhatIsMissingAndWhatHelps) {
  const RunSizes s = sizes({{"epie", 1}});
  const MemoryPlan plan = plan_memory(s);
  EXPECT_NO_THROW(require_memory(plan, s, Budget(plan.needed_bytes(), "the test says so")));
  const std::string text = testing::error_of(
      ErrorKind::budget, [&] { require_memory(plan, s, Budget(plan.needed_bytes() - (1 << 20), "the test says so")); });
  EXPECT_THAT(text, HasSubstr("1.00 MiB are missing"));
  EXPECT_THAT(text, HasSubstr("most is for patterns"));
  EXPECT_THAT(text, HasSubstr("--storage counts"));
}

TEST(MemoryPlan, LargeExitWavesSuggestAnotherEngine) {
  const RunSizes s = sizes({{"raar", 1}});
  EXPECT_THAT(testing::error_of(ErrorKind::budget, [&] { require_memory(plan_memory(s), s, Budget(1, "no")); }),
              HasSubstr("an engine that keeps no exit waves"));
}

}  // namespace
}  // namespace sonde::ptycho
