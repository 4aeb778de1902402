// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/instruments/ptycho/run/test_engine.h"
#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using testing::bytes_of;
using testing::engine;
using ::testing::HasSubstr;

RunSizes sizes(std::vector<EngineSize> engines) {
  RunSizes s;
  s.frames = 1000;
  s.rows = 64;
  s.cols = 32;
  s.block_bytes = 1000 * 64 * 32 * 2;
  s.object_rows = 200;
  s.object_cols = 100;
  s.engines = std::move(engines);
  return s;
}

// Every product by hand, so that a changed formula is seen.
TEST(MemoryPlan, CountsWhatIsHeld) {
  EngineSize gd = engine("gd");
  gd.tiles = 4;
  gd.tile_pixels = 30000;
  const MemoryPlan plan = plan_memory(sizes({engine("epie", {{"order", "disjoint"}}), gd}));
  EXPECT_EQ(bytes_of(plan, "patterns"), 1000u * 64 * 32 * 4);
  EXPECT_EQ(bytes_of(plan, "object"), 3u * 200 * 100 * 8);
  EXPECT_EQ(bytes_of(plan, "probe"), 3u * 64 * 32 * 8);
  EXPECT_EQ(bytes_of(plan, "threads"), 2u * (2 * 64 * 32 * 8 + 64 * 32 * 4));
  EXPECT_EQ(bytes_of(plan, "engine epie"), 200u * 100 * 8 + 16 * 64 * 32 * 8);
  EXPECT_EQ(bytes_of(plan, "engine gd"), (200u * 100 + 30000) * 12 + 5 * 64 * 32 * 12);
  EXPECT_EQ(bytes_of(plan, "while loading"), 1000u * 64 * 32 * 2);
  EXPECT_EQ(bytes_of(plan, "result"), 200u * 100 * 8);
}

// 160 000 patterns of 256 x 256 are more than 2^33 pixels, and their exit waves nearly 2^37 bytes.
TEST(MemoryPlan, OfAVeryLargeScanDoesNotOverflow) {
  RunSizes s = sizes({engine("dm")});
  s.frames = 160000;
  s.rows = s.cols = 256;
  const MemoryPlan plan = plan_memory(s);
  EXPECT_EQ(bytes_of(plan, "patterns"), 41943040000u);
  EXPECT_GT(bytes_of(plan, "engine dm"), 83886080000u);
  EXPECT_GT(plan.peak_bytes, 125829120000u);
}

TEST(MemoryPlan, OneOfSeveralProcessesHoldsWhatIsExchangedAndTheWholeObjectInTheEnd) {
  RunSizes s = sizes({engine("gd")});
  s.block_bytes = 0;  // loading is not the peak
  const MemoryPlan alone = plan_memory(s);
  s.processes = 4;
  s.whole_pixels = 350 * 190;
  const MemoryPlan part = plan_memory(s);
  EXPECT_EQ(bytes_of(part, "exchange"), 200u * 100 * 12);
  EXPECT_EQ(bytes_of(part, "result"), 3u * 350 * 190 * 8);
  EXPECT_EQ(part.peak_bytes - alone.peak_bytes, 200u * 100 * 12 + 3u * 350 * 190 * 8 - 200u * 100 * 8);
}

struct StorageCase {
  AmplitudeStorage storage;
  std::size_t count_bytes, pattern_bytes;
};
class Storage : public ::testing::TestWithParam<StorageCase> {};

TEST_P(Storage, DecidesTheBytesOfAPattern) {
  RunSizes s = sizes({engine("gd")});
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
  RunSizes s = sizes({engine("dm")});
  const std::size_t one = bytes_of(plan_memory(s), "engine dm");
  s.frames *= 2;
  EXPECT_EQ(bytes_of(plan_memory(s), "engine dm") - one, 1000u * 64 * 32 * 8);
  s.modes = 3;
  EXPECT_GT(bytes_of(plan_memory(s), "engine dm"), 3u * 2000 * 64 * 32 * 8);
}

// Both also as they were when the iteration began, for one that is interrupted.
TEST(MemoryPlan, MomentumHoldsTheObjectBeforeAndItsVelocityTwice) {
  EXPECT_EQ(bytes_of(plan_memory(sizes({engine("mpie")})), "engine mpie"), 4u * 200 * 100 * 8);
  EXPECT_EQ(bytes_of(plan_memory(sizes({engine("epie", {{"momentum_every", "5"}})})), "engine epie"),
            4u * 200 * 100 * 8);
}

TEST(MemoryPlan, AProbeThatVariesHoldsItsComponentsAndSums) {
  RunSizes s = sizes({engine("gd")});
  const std::size_t without = plan_memory(s).lasting_bytes;
  s.components = 2;
  s.fractional = true;
  // Now, before, best and spectra; the sums in double; 16 parts of three sums; weights now, before and best, and two
  // lists in double; far fields of the components for the one thread, twice.
  const std::size_t expected =
      2u * 64 * 32 * 8 * 4 + 2u * 64 * 32 * 16 + 16u * 3 * 64 * 32 * 8 + 1000u * 2 * (24 + 32) + 2u * 2 * 64 * 32 * 8;
  EXPECT_EQ(bytes_of(plan_memory(s), "probe variation"), expected);
  EXPECT_EQ(plan_memory(s).lasting_bytes, without + expected + 64 * 32 * 8);  // and the probe's spectrum
}

TEST(MemoryPlan, OneEngineWorksAtATime) {
  const MemoryPlan both = plan_memory(sizes({engine("dm"), engine("epie")})), one = plan_memory(sizes({engine("dm")}));
  EXPECT_EQ(both.peak_bytes, one.peak_bytes);
}

TEST(MemoryPlan, TryingStartsHoldsTwoReconstructionsOfOneMeasurement) {
  RunSizes s = sizes({engine("gd")});
  s.block_bytes = 0;  // loading is not the peak
  const MemoryPlan one = plan_memory(s);
  s.starts = 5;
  EXPECT_EQ(plan_memory(s).peak_bytes, 2 * one.peak_bytes - bytes_of(one, "patterns") - bytes_of(one, "result"));
}

TEST(MemoryPlan, LoadingMayBeThePeak) {
  RunSizes s = sizes({engine("epie")});
  s.block_bytes = std::size_t{1} << 30;
  const MemoryPlan plan = plan_memory(s);
  EXPECT_EQ(plan.peak_bytes, plan.loading_bytes);
}

TEST(MemoryPlan, HeadRoomIsATenth) {
  const MemoryPlan plan = plan_memory(sizes({engine("epie")}));
  EXPECT_EQ(plan.needed_bytes(), plan.peak_bytes + plan.peak_bytes / 10);
}

TEST(MemoryPlan, TooLittleMemorySaysWhatIsMissingAndWhatHelps) {
  const RunSizes s = sizes({engine("epie")});
  const MemoryPlan plan = plan_memory(s);
  EXPECT_NO_THROW(require_memory(plan, s, Budget(plan.needed_bytes(), "the test says so")));
  const std::string text = ::sonde::testing::error_of(
      ErrorKind::budget, [&] { require_memory(plan, s, Budget(plan.needed_bytes() - (1 << 20), "the test says so")); });
  EXPECT_THAT(text, HasSubstr("1.00 MiB are missing"));
  EXPECT_THAT(text, HasSubstr("most is for patterns"));
  EXPECT_THAT(text, HasSubstr("data.storage auto"));
}

// ---- What lies where -----------------------------------------------------------------------------------------------

RunSizes large(const std::string& name) {
  RunSizes s = sizes({engine(name)});
  s.frames = 100000;
  s.block_bytes = 1 << 20;
  return s;
}
constexpr std::size_t plenty = std::size_t{1} << 40;
/// Bytes of all patterns with so many of each pixel, and of all exit waves.
std::size_t patterns(std::size_t bytes) { return bytes * 100000 * 64 * 32; }
constexpr std::size_t other = 40 << 20;  // more than everything beside patterns and waves, less than any of them

TEST(ChooseStorage, TakesTheFirstWayThatFits) {
  struct Row {
    const char* engine;
    std::size_t host;  // bytes beside `other`, before the head-room
    AmplitudeStorage storage;
    Tier patterns, waves;
    const char* because;
  };
  const Row rows[] = {
      {"gd", patterns(4), AmplitudeStorage::f32, Tier::host, Tier::host, "patterns as f32 in memory"},
      {"gd", patterns(2), AmplitudeStorage::counts, Tier::host, Tier::host, "patterns as counts in memory"},
      {"gd", patterns(1), AmplitudeStorage::counts, Tier::disk, Tier::host, "patterns as counts on the disk"},
      {"dm", patterns(12), AmplitudeStorage::f32, Tier::host, Tier::host, "exit waves in full in memory"},
      {"dm", patterns(10), AmplitudeStorage::counts, Tier::host, Tier::host, "exit waves in full in memory"},
      {"dm", patterns(4), AmplitudeStorage::f32, Tier::host, Tier::disk, "exit waves in full on the disk"},
      {"dm", patterns(2), AmplitudeStorage::counts, Tier::host, Tier::disk, "exit waves in full on the disk"},
      {"dm", patterns(1), AmplitudeStorage::counts, Tier::disk, Tier::disk,
       "patterns as counts on the disk, exit waves in full on the disk"}};
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.engine) + ", " + row.because);
    const std::size_t host = (row.host + other) / 10 * 11;
    const Choice<RunSizes> choice = choose_storage(large(row.engine), {}, host, plenty);
    EXPECT_EQ(choice.value.storage, row.storage);
    EXPECT_EQ(choice.value.pattern_tier, row.patterns);
    EXPECT_EQ(choice.value.wave_tier, row.waves);
    EXPECT_THAT(choice.because, HasSubstr(row.because));
    EXPECT_LE(plan_memory(choice.value).needed_bytes(), host);
  }
}

TEST(ChooseStorage, DoesWhatIsAskedFor) {
  const Choice<RunSizes> asked = choose_storage(large("dm"),
                                                {.storage = AmplitudeStorage::bf16,
                                                 .pattern_tier = Tier::disk,
                                                 .wave_tier = Tier::disk,
                                                 .wave_encoding = Encoding::bf16},
                                                plenty, plenty);
  EXPECT_EQ(asked.value.storage, AmplitudeStorage::bf16);
  EXPECT_EQ(asked.value.pattern_tier, Tier::disk);
  EXPECT_EQ(asked.value.wave_tier, Tier::disk);
  EXPECT_EQ(plan_memory(asked.value).disk_bytes, patterns(2) + patterns(4));
  EXPECT_THAT(asked.because, HasSubstr("exit waves as bf16 on the disk"));
}

TEST(ChooseStorage, WideCountsAreRoundedInsteadOfKept) {
  RunSizes s = large("gd");
  s.count_bytes = 4;
  s.counts_are_whole = false;
  EXPECT_EQ(choose_storage(s, {}, (patterns(2) + other) / 10 * 11, plenty).value.storage, AmplitudeStorage::f16);
}

TEST(ChooseStorage, WideCountsAreNoCountsEvenWhenAsked) {
  RunSizes s = large("gd");
  s.count_bytes = 4;
  const Choice<RunSizes> choice = choose_storage(s, {.storage = AmplitudeStorage::counts}, plenty, plenty);
  EXPECT_EQ(choice.value.storage, AmplitudeStorage::f32);
  EXPECT_THAT(choice.because, HasSubstr("patterns as f32 in memory"));
}

TEST(ChooseStorage, TheDiskIsRefusedWhereNothingIsKeptOnIt) {
  const RunSizes s = choose_storage(large("gd"), {.pattern_tier = Tier::disk}, plenty, plenty).value;
  EXPECT_THAT(
      ::sonde::testing::error_of(ErrorKind::not_supported,
                                 [&] { require_memory(plan_memory(s), s, Budget(plenty, "the test says so")); }),
      HasSubstr("on the disk only by `sonde ptycho run`"));
}

TEST(ChooseStorage, LsqmlTakesSmallerBatchesUnlessAPersonChoseThem) {
  RunSizes s = large("lsqml");
  s.engines = {engine("lsqml", {{"batch", "4096"}})};  // 64 MiB of waves
  const std::size_t host = (std::size_t{45} << 20) / 10 * 11;
  const Choice<RunSizes> choice = choose_storage(s, {}, host, plenty);
  EXPECT_EQ(choice.value.engines[0].most_batch, 1024);
  EXPECT_THAT(choice.because, HasSubstr("batches of at most 1024 frames"));
  // Another engine's batch holds nothing, so it stays what it is.
  s.engines.push_back(engine("gd", {{"batch", "4096"}}));
  EXPECT_EQ(choose_storage(s, {}, host, plenty).value.engines[1].most_batch, std::numeric_limits<Index>::max());
  s.engines.pop_back();
  s.engines[0].batch_chosen = true;
  const RunSizes kept = choose_storage(s, {}, host, plenty).value;
  const TierBudgets budgets{std::nullopt, Budget(host, "the test says so"), Budget(plenty, "so does the disk"), ""};
  EXPECT_THAT(::sonde::testing::error_of(ErrorKind::budget, [&] { require_memory(plan_memory(kept), kept, budgets); }),
              HasSubstr("are missing"));
}

TEST(ChooseStorage, ADiskWithoutRoomIsNoWayOut) {
  const std::size_t host = (patterns(1) + other) / 10 * 11;
  const RunSizes s = choose_storage(large("gd"), {}, host, 1000).value;
  EXPECT_EQ(s.pattern_tier, Tier::host);
  EXPECT_THAT(::sonde::testing::error_of(ErrorKind::budget,
                                         [&] { require_memory(plan_memory(s), s, Budget(host, "the test says so")); }),
              HasSubstr("are missing"));
}

TEST(MemoryPlan, LargeExitWavesSuggestAnotherEngine) {
  const RunSizes s = sizes({engine("raar")});
  EXPECT_THAT(
      ::sonde::testing::error_of(ErrorKind::budget, [&] { require_memory(plan_memory(s), s, Budget(1, "no")); }),
      HasSubstr("an engine that keeps no exit waves"));
}

}  // namespace
}  // namespace sonde::ptycho
