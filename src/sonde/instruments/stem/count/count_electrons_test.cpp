// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/count/count_electrons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/correct/mask_bit.h"
#include "sonde/instruments/stem/count/test_counting.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "sonde/instruments/stem/pass/moment_sums.h"
#include "sonde/instruments/stem/pass/pass.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using testing::counted_by_definition;
using ::testing::HasSubstr;
using testing::MemorySource;
using testing::noisy_values;

constexpr Index scan_rows = 11, scan_cols = 17, rows = 23, cols = 38, positions = scan_rows * scan_cols;
constexpr Index frames = positions - 5;  // the last positions have none
constexpr CountLimits limits{.background = 24, .xray = 55};

std::vector<std::uint16_t> drawn_frames() {
  const std::vector<float> values = noisy_values(frames, rows, cols, 20, 1, 0.02, 4);
  return {values.begin(), values.end()};
}

PassSettings settings_for(const Source& source) {
  PassSettings settings;
  settings.detector = DetectorGrid::make(rows, cols, 1, Edge::keep);
  settings.scan = ScanGrid::make(source.acquisition(), std::nullopt, 1, Edge::keep);
  settings.mask_bits.assign(static_cast<std::size_t>(rows * cols), 0);
  return settings;
}

CountElectrons counted(const CountRule& rule, int threads, std::size_t batch_bytes = std::size_t{8} << 20) {
  MemorySource<std::uint16_t> source(scan_rows, scan_cols, rows, cols, drawn_frames());
  PassSettings settings = settings_for(source);
  settings.batch_bytes = batch_bytes;
  set_thread_count(threads);
  CountElectrons count(rule);
  MomentSums beside;
  const std::array<Operation*, 2> operations = {&beside, &count};
  (void)run_pass(source, settings, operations);
  set_thread_count(0);
  return count;
}

TEST(CountElectrons, AreThoseOfEachFrame) {
  const CountRule rule(rows, cols, {}, limits);
  const CountElectrons found = counted(rule, 2);
  EXPECT_EQ(found.list.scan_rows, scan_rows);
  EXPECT_EQ(found.list.scan_cols, scan_cols);
  EXPECT_EQ(found.list.rows, rows);
  EXPECT_EQ(found.list.cols, cols);
  const std::vector<std::uint16_t> all = drawn_frames();
  std::size_t electrons = 0, xrays = 0;
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(rows * cols));
  for (Index p = 0; p < frames; ++p) {
    const std::vector<std::uint16_t> frame(all.begin() + p * rows * cols, all.begin() + (p + 1) * rows * cols);
    const auto expected = counted_by_definition(frame, rows, cols, {}, limits);
    const auto list = found.list.of(p);
    ASSERT_EQ(std::vector<std::uint32_t>(list.begin(), list.end()), expected) << p;
    electrons += expected.size();
    xrays += counted_by_definition(frame, rows, cols, {}, {.background = 54.5}).size();
    for (const std::uint32_t pixel : expected) ++sums[pixel];
  }
  EXPECT_EQ(found.list.events(), static_cast<Index>(electrons));
  EXPECT_EQ(found.xrays, xrays);
  EXPECT_GT(xrays, 10U);
  const auto* pattern = static_cast<const std::uint64_t*>(found.pattern.data());
  EXPECT_EQ(std::vector<std::uint64_t>(pattern, pattern + rows * cols), sums);
}

TEST(CountElectrons, HaveNoFrameWhereTheScanHasNone) {
  const CountRule rule(rows, cols, {}, limits);
  const CountElectrons found = counted(rule, 1);
  EXPECT_EQ(std::accumulate(found.list.frames.begin(), found.list.frames.end(), 0U), frames);
  EXPECT_EQ(found.list.frames.back(), 0U);
  EXPECT_TRUE(found.list.of(positions - 1).empty());
}

TEST(CountElectrons, AreTheSameForAnyThreadsAndBatches) {
  const CountRule rule(rows, cols, {}, limits);
  const CountElectrons one = counted(rule, 1);
  for (const int threads : {2, 7})
    for (const std::size_t batch : {std::size_t{1}, std::size_t{20'000}, std::size_t{8} << 20}) {
      const CountElectrons other = counted(rule, threads, batch);
      EXPECT_EQ(other.list.offsets, one.list.offsets);
      EXPECT_EQ(other.list.index, one.list.index);
      EXPECT_EQ(other.xrays, one.xrays);
    }
}

TEST(CountElectrons, OfAnotherDetectorAreRefused) {
  const CountRule rule(cols, rows, {}, limits);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)counted(rule, 1); }),
              HasSubstr("a rule for a detector of 38 x 23 pixels, but frames of 23 x 38"));
}

TEST(CorrectedValues, AreThoseOfThePositionsThatArePassed) {
  MemorySource<std::uint16_t> source(scan_rows, scan_cols, rows, cols, drawn_frames());
  const CountRule rule(rows, cols, {.dark = std::vector<float>(rows * cols, 20.5F), .gain = {}, .good = {}}, {});
  CorrectedValues values(rule);
  Operation* const operation = &values;
  (void)run_pass(source, only_at(settings_for(source), {3, 40, positions - 1}), std::span(&operation, 1));
  const std::vector<std::uint16_t> all = drawn_frames();
  ASSERT_EQ(values.values.size(), static_cast<std::size_t>(3 * rows * cols));
  EXPECT_EQ(values.values[7], static_cast<float>(all[3 * rows * cols + 7]) - 20.5F);
  EXPECT_EQ(values.values[rows * cols + 7], static_cast<float>(all[40 * rows * cols + 7]) - 20.5F);
  EXPECT_EQ(values.present, (std::vector<std::uint8_t>{1, 1, 0}));
}

}  // namespace
}  // namespace sonde::stem
