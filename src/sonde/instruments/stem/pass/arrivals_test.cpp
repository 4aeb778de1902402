// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/arrivals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "sonde/instruments/stem/pass/moment_sums.h"
#include "sonde/instruments/stem/pass/pattern_statistics.h"
#include "sonde/instruments/stem/pass/test_arrivals.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using stem::testing::ListedArrivals;
using stem::testing::MemorySource;

constexpr Index arrival_lines = 11, arrival_steps = 17, arrival_rows = 7, arrival_cols = 10;
constexpr Index arrival_positions = arrival_lines * arrival_steps, arrival_pixels = arrival_rows * arrival_cols;

MemorySource<std::uint16_t> arrival_source() {
  std::mt19937_64 random(12);
  std::vector<std::uint16_t> values(static_cast<std::size_t>(arrival_positions * arrival_pixels));
  for (auto& value : values) value = static_cast<std::uint16_t>(random() % 900);
  return {arrival_lines, arrival_steps, arrival_rows, arrival_cols, std::move(values)};
}

PassSettings arrival_settings(const Source& source, Index det_bin = 1) {
  PassSettings settings;
  settings.detector = DetectorGrid::make(arrival_rows, arrival_cols, det_bin, Edge::keep);
  settings.scan = ScanGrid::make(source.acquisition(), std::nullopt, 1, Edge::keep);
  settings.mask_bits.assign(static_cast<std::size_t>(arrival_pixels), 0);
  return settings;
}

std::vector<Index> shuffled(Index frames, unsigned seed) {
  std::vector<Index> order(static_cast<std::size_t>(frames));
  std::iota(order.begin(), order.end(), Index{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(seed));
  return order;
}

std::string bytes_of_array(const Array& array) {
  return {static_cast<const char*>(array.data()), array.allocated_bytes()};
}

/// What moments and statistics find, as bytes.
struct ArrivalSums {
  MomentSums moments;
  PatternStatistics statistics;
  std::array<Operation*, 2> operations = {&moments, &statistics};

  [[nodiscard]] std::string bytes(const PassResult& result) const {
    std::string all = bytes_of_array(result.input_sum);
    for (const Array* array : {&moments.total, &moments.moment_row, &moments.moment_col, &statistics.sum,
                               &statistics.largest, &statistics.nonzero})
      all += bytes_of_array(*array);
    return all;
  }
};

TEST(Arrivals, InAnyOrderGiveTheBitsOfTheFile) {
  auto source = arrival_source();
  for (const Index bin : {1, 2}) {
    const PassSettings settings = arrival_settings(source, bin);
    ArrivalSums file;
    const std::string expected = file.bytes(run_pass(source, settings, file.operations));
    for (const int threads : {1, 2, 7})
      for (const std::size_t together : {1, 5, 64, 1000}) {
        SCOPED_TRACE(::testing::Message() << threads << " threads, " << together << " frames at a time, bin " << bin);
        set_thread_count(threads);
        ListedArrivals arrivals(source, shuffled(arrival_positions, 5), together);
        ArrivalSums sums;
        const ArrivalResult found = run_pass(source, arrivals, settings, sums.operations);
        set_thread_count(0);
        ASSERT_TRUE(sums.bytes(found.pass) == expected);
        ASSERT_EQ(found.counts.taken, arrival_positions);
        ASSERT_EQ(found.counts.repeated + found.counts.outside + found.counts.missing, 0);
        ASSERT_EQ(found.pass.frames, arrival_positions);
      }
  }
}

TEST(Arrivals, GapsAndRepetitionsAreCountedAndTheFirstFrameOfAPositionCounts) {
  auto source = arrival_source();
  const PassSettings settings = arrival_settings(source);
  ArrivalSums file;
  (void)run_pass(source, settings, file.operations);
  std::vector<Index> order = shuffled(arrival_positions, 9);
  const std::vector<Index> lost(order.end() - 20, order.end());
  order.resize(order.size() - 20);
  order.insert(order.begin() + 40, {order[3], order[39], arrival_positions, -1, arrival_positions + 7, order[60]});

  ListedArrivals arrivals(source, order, 13);
  arrivals.spoil_repetitions = true;  // a second frame of a position holds other values
  ArrivalSums sums;
  const ArrivalResult found = run_pass(source, arrivals, settings, sums.operations);
  EXPECT_EQ(found.counts.taken, arrival_positions - 20);
  EXPECT_EQ(found.counts.repeated, 3);
  EXPECT_EQ(found.counts.outside, 3);
  EXPECT_EQ(found.counts.missing, 20);
  const auto total = std::as_const(sums.moments.total).view<std::uint64_t, 1>();
  const auto expected = std::as_const(file.moments.total).view<std::uint64_t, 1>();
  for (Index position = 0; position < arrival_positions; ++position) {
    const bool missing = std::find(lost.begin(), lost.end(), position) != lost.end();
    ASSERT_EQ(found.pass.valid[static_cast<std::size_t>(position)], missing ? 0 : 1) << position;
    ASSERT_EQ(total(position), missing ? 0 : expected(position)) << position;
  }
}

/// Notes which positions each batch brings.
class NotedBatches final : public Operation {
 public:
  [[nodiscard]] Abilities abilities(const PassShape&) const override { return {}; }
  void start(const PassShape&) override {}
  void take(const Tile&, State*) override {}
  void after_batch(std::span<const Index> positions) override {
    batches.emplace_back(positions.begin(), positions.end());
  }
  std::vector<std::vector<Index>> batches;
};

TEST(Arrivals, OperationsLearnTheNewPositionsOfEachBatch) {
  auto source = arrival_source();
  ListedArrivals arrivals(source, {40, 7, 7, 9, 8, 40, 3}, 3);
  NotedBatches noted;
  Operation* const operation = &noted;
  (void)run_pass(source, arrivals, arrival_settings(source), std::span(&operation, 1));
  ASSERT_EQ(noted.batches.size(), 4);
  EXPECT_EQ(noted.batches[0], (std::vector<Index>{7, 40}));
  EXPECT_EQ(noted.batches[1], (std::vector<Index>{8, 9}));
  EXPECT_EQ(noted.batches[2], std::vector<Index>{3});
  EXPECT_EQ(noted.batches[3].size(), arrival_positions - 5);  // those without a frame
}

TEST(Arrivals, ErrorsOfTheStreamAndScanBinsEndThePass) {
  auto source = arrival_source();
  PassSettings settings = arrival_settings(source);
  ListedArrivals broken(source, {1, 2, 3}, 2);
  broken.fails_after = 1;
  ArrivalSums sums;
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::io, [&] { (void)run_pass(source, broken, settings, sums.operations); }),
      ::testing::HasSubstr("the stream broke"));
  settings.scan = ScanGrid::make(source.acquisition(), std::nullopt, 2, Edge::keep);
  ListedArrivals arrivals(source, {1, 2, 3}, 2);
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::not_supported,
                                       [&] { (void)run_pass(source, arrivals, settings, sums.operations); }),
              ::testing::HasSubstr("cannot be summed over scan positions"));
}

}  // namespace
}  // namespace sonde::stem
