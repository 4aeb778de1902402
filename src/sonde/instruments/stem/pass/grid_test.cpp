// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sonde/instruments/stem/pass/memory_source.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using stem::testing::MemorySource;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DetectorGrid, EdgeBinsAreKeptOrDropped) {
  const DetectorGrid keep = DetectorGrid::make(7, 5, 2, Edge::keep), drop = DetectorGrid::make(7, 5, 2, Edge::drop);
  EXPECT_EQ(keep.out_rows, 4);
  EXPECT_EQ(keep.out_cols, 3);
  EXPECT_EQ(drop.out_rows, 3);
  EXPECT_EQ(drop.out_cols, 2);
}

TEST(DetectorGrid, ABinIsBadOnlyWhenAllItsPixelsAre) {
  const DetectorGrid grid = DetectorGrid::make(2, 4, 2, Edge::keep);
  const std::vector<std::uint32_t> bits = {mask_bit::dead,
                                           0,
                                           mask_bit::gap,
                                           mask_bit::gap,  //
                                           0,
                                           0,
                                           mask_bit::gap,
                                           mask_bit::noisy};
  EXPECT_THAT(grid.bin_mask(bits), ElementsAre(0u, mask_bit::gap | mask_bit::noisy));
  EXPECT_THAT(grid.good_per_bin(bits), ElementsAre(3u, 0u));
}

TEST(DetectorGrid, InterpolatedPixelsAreGood) {
  const DetectorGrid grid = DetectorGrid::make(1, 1, 1, Edge::keep);
  EXPECT_THAT(grid.good_per_bin(std::vector<std::uint32_t>{mask_bit::virtual_pixel}), ElementsAre(1u));
}

TEST(DetectorGrid, ImpossibleBinsAreRefused) {
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [] { (void)DetectorGrid::make(8, 8, 0, Edge::keep); }),
              HasSubstr("outside 1 to 64"));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [] { (void)DetectorGrid::make(3, 8, 4, Edge::drop); }),
              HasSubstr("leaves nothing"));
}

MemorySource<std::uint8_t> source_of(Index rows, Index cols, Index frames) {
  return {rows, cols, 2, 2, std::vector<std::uint8_t>(static_cast<std::size_t>(frames * 4))};
}

TEST(ScanGrid, BinsCollectTheirFrames) {
  auto source = source_of(4, 5, 20);
  const ScanGrid grid = ScanGrid::make(source.acquisition(), ScanRegion{1, 4, 0, 5}, 2, Edge::keep);
  EXPECT_EQ(grid.out_rows, 2);
  EXPECT_EQ(grid.out_cols, 3);
  std::vector<Index> frames;
  grid.frames_of(0, frames);
  EXPECT_THAT(frames, ElementsAre(5, 6, 10, 11));
  grid.frames_of(5, frames);  // the corner holds one position
  EXPECT_THAT(frames, ElementsAre(19));
}

TEST(ScanGrid, MissingFramesAreLeftOut) {
  auto source = source_of(2, 3, 4);
  const ScanGrid grid = ScanGrid::make(source.acquisition(), std::nullopt, 1, Edge::keep);
  std::vector<Index> frames;
  grid.frames_of(5, frames);
  EXPECT_TRUE(frames.empty());
}

TEST(ScanGrid, RegionsOutsideAreRefused) {
  auto source = source_of(4, 5, 20);
  for (const ScanRegion& region :
       {ScanRegion{0, 5, 0, 5}, ScanRegion{2, 2, 0, 5}, ScanRegion{-1, 2, 0, 5}, ScanRegion{0, 4, 3, 6}})
    EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                         [&] { (void)ScanGrid::make(source.acquisition(), region, 1, Edge::keep); }),
                HasSubstr("--scan-region"));
}

TEST(ScanOrder, FlipsAndTranspositionVisitEveryFrameOnce) {
  for (const bool transpose : {false, true})
    for (const bool flip_rows : {false, true})
      for (const bool flip_cols : {false, true}) {
        ScanOrder order{3, 4, 0, flip_rows, flip_cols, transpose};
        std::set<Index> seen;
        for (Index row = 0; row < 3; ++row)
          for (Index col = 0; col < 4; ++col) seen.insert(order.frame(row, col));
        EXPECT_EQ(seen.size(), 12u);
        EXPECT_EQ(*seen.rbegin(), 11);
      }
  EXPECT_EQ((ScanOrder{3, 4, 0, false, false, true}.frame(2, 1)), 5);   // stored 4 x 3: row 1, column 2
  EXPECT_EQ((ScanOrder{3, 4, 2, false, false, false}.frame(1, 0)), 8);  // two dropped frames a row
}

/// Every position once, every frame it needs in a read of its batch, reads in stored order without overlap.
void expect_complete(const ScanGrid& grid, const Schedule& schedule) {
  std::vector<int> seen(static_cast<std::size_t>(grid.positions()));
  std::vector<Index> frames;
  Index end = 0, next = 0;
  for (const Batch& batch : schedule.batches) {
    EXPECT_EQ(batch.first, next);
    next = batch.last;
    for (const FrameRange& read : batch.reads) {
      EXPECT_GE(read.first, end);
      end = read.last;
    }
    for (Index i = batch.first; i < batch.last; ++i) {
      const Index position = schedule.order[static_cast<std::size_t>(i)];
      ++seen[static_cast<std::size_t>(position)];
      grid.frames_of(position, frames);
      for (const Index frame : frames)
        EXPECT_TRUE(std::any_of(batch.reads.begin(), batch.reads.end(),
                                [&](const FrameRange& read) { return read.first <= frame && frame < read.last; }))
            << "frame " << frame;
    }
  }
  EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
}

TEST(Schedule, CoversEveryPositionOnce) {
  for (const Index scan_bin : {1, 2, 3})
    for (const bool transpose : {false, true})
      for (const Index frames : {300, 400}) {
        SCOPED_TRACE(::testing::Message()
                     << "scan bin " << scan_bin << " transpose " << transpose << " frames " << frames);
        auto source = source_of(20, 20, frames);
        source.acquisition_to_change().scan.transpose = transpose;
        const ScanGrid grid = ScanGrid::make(source.acquisition(), std::nullopt, scan_bin, Edge::keep);
        expect_complete(grid, make_schedule(grid, source, 128));
      }
}

TEST(Schedule, AListOfPositionsReadsNothingBetweenThem) {
  auto source = source_of(20, 20, 400);
  ScanGrid grid = ScanGrid::make(source.acquisition(), std::nullopt, 1, Edge::keep);
  grid.only = {7, 8, 9, 200, 399};
  const Schedule schedule = make_schedule(grid, source, 128);
  expect_complete(grid, schedule);
  ASSERT_EQ(schedule.batches.size(), 1u);
  EXPECT_EQ(schedule.batches.front().reads.size(), 3u);
  EXPECT_EQ(schedule.total_bytes, 5u * 4);  // 4 bytes a frame
}

TEST(Schedule, OrdinaryScansReadInBatchesOfTheTargetSize) {
  auto source = source_of(32, 32, 1024);
  const ScanGrid grid = ScanGrid::make(source.acquisition(), std::nullopt, 1, Edge::keep);
  const Schedule schedule = make_schedule(grid, source, 4 * 128);  // 4 bytes a frame
  EXPECT_EQ(schedule.batches.size(), 8u);
  EXPECT_EQ(schedule.largest_bytes, 512u);
  EXPECT_EQ(schedule.total_bytes, 4096u);
}

}  // namespace
}  // namespace sonde::stem
