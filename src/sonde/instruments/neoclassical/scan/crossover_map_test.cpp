// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/scan/crossover_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/file.h"
#include "tests/support/files.h"

namespace sonde::neoclassical {
namespace {

using ::testing::HasSubstr;

constexpr ComputePath cpu[] = {ComputePath::cpu_f64, ComputePath::cpu_f32_refine};
constexpr ComputePath with_gpu[] = {ComputePath::gpu, ComputePath::cpu_f64};

const std::vector<MeasuredScan> measured = {
    {.unknowns = 100, .points = 8, .threads = 2, .seconds = {1.0, 1.2, 3.0}},
    {.unknowns = 100, .points = 128, .threads = 2, .seconds = {16.0, 15.0, 4.0}},
    {.unknowns = 900, .points = 8, .threads = 2, .seconds = {10.0, 6.0, 3.0}},
};

TEST(CrossoverMap, TheNearestScanDecides) {
  struct {
    Index unknowns, points;
    std::span<const ComputePath> possible;
    ComputePath expected;
  } const table[] = {
      {100, 8, cpu, ComputePath::cpu_f64},        {100, 20, with_gpu, ComputePath::cpu_f64},
      {100, 60, with_gpu, ComputePath::gpu},      {250, 8, cpu, ComputePath::cpu_f64},
      {350, 8, cpu, ComputePath::cpu_f32_refine}, {5000, 1, cpu, ComputePath::cpu_f32_refine},
      {5000, 1, with_gpu, ComputePath::gpu},
  };
  for (const auto& row : table)
    EXPECT_EQ(fastest_path(measured, row.unknowns, row.points, 2, row.possible).value, row.expected)
        << row.unknowns << " unknowns, " << row.points << " points";
}

TEST(CrossoverMap, TheFirstLaneIsLeftOnlyForAClearGain) {
  const Choice<ComputePath> made = fastest_path(measured, 100, 128, 2, cpu);
  EXPECT_EQ(made.value, ComputePath::cpu_f64) << "6 % may be noise";
  EXPECT_EQ(made.because, "128 points of 100 unknowns on 2 threads took: CPU, f64 16 s, CPU, f32-refine 15 s");
  EXPECT_EQ(fastest_path({}, 100, 128, 2, with_gpu).value, ComputePath::gpu) << "the rule where nothing was measured";
  EXPECT_THROW((void)fastest_path(measured, 100, 8, 2, {}), Error);
}

class CrossoverFile : public ::testing::Test {
 protected:
  sonde::testing::TemporaryFolder folder_;
  std::string path_ = folder_.file("new folder/crossover.json");
};

TEST_F(CrossoverFile, GivesBackWhatWasMeasured) {
  std::vector<MeasuredScan> some = measured;
  some[1].seconds[2].reset();
  keep_crossover_map(some, path_);
  const KeptMap kept = kept_crossover_map(path_);
  EXPECT_EQ(kept.scans, some);
  EXPECT_EQ(kept.note, "");
  EXPECT_TRUE(kept_crossover_map(folder_.file("missing")).scans.empty());
  EXPECT_EQ(kept_crossover_map(folder_.file("missing")).note, "") << "no map is nothing to tell of";
}

TEST_F(CrossoverFile, OfAnotherMachineOrDamagedIsNotUsedAndTold) {
  keep_crossover_map(measured, path_);
  const std::string text = read_text(path_);
  const auto with = [&](const std::string& old, const std::string& now) {
    std::string changed = text;
    const std::size_t at = changed.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    changed.replace(at, old.size(), now);
    std::ofstream(path_) << changed;
    const KeptMap kept = kept_crossover_map(path_);
    EXPECT_TRUE(kept.scans.empty()) << now;
    return kept.note;
  };
  EXPECT_THAT(with("\"cores\": ", "\"cores\": 1"), HasSubstr("another machine"));
  for (const auto& [old, now] : {std::pair{"\"unknowns\": 100", "\"unknowns\": -1"},
                                 {"\"threads\": 2", "\"threads\": \"two\""},
                                 {"\"CPU, f64\": 1.0", "\"CPU, f64\": 0"},
                                 {"\"scans\"", "\"points\""},
                                 {"crossover 1", "crossover 2"},
                                 {"{", "["}})
    EXPECT_THAT(with(old, now), HasSubstr("damaged"));
}

}  // namespace
}  // namespace sonde::neoclassical
