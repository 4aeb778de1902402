// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

/// A typical scan: 512 x 512 positions, 192 x 192 pixels of u16, 3.2 GB stored in batches of 64 MiB.
LoadSizes large_scan() {
  LoadSizes sizes;
  sizes.scan_rows = sizes.scan_cols = 512;
  sizes.rows = sizes.cols = 192;
  sizes.frames = 512 * 512;
  sizes.stored = DType::u16;
  sizes.stored_bytes = 3200000000;
  sizes.largest_batch_bytes = std::size_t{64} << 20;
  sizes.workers = 2;
  return sizes;
}

struct BinCase {
  double budget_gib;
  Index bin;
};

// Resident u16 bytes: 512^2 x 192^2 x 2 = 18.00 GiB at bin 1, 4.50 at 2, 1.13 at 4, 0.28 at 8. Beside it the ring takes
// 0.19 GiB, index, order and moments 0.02 GiB. So 40 GiB hold bin 1, 12 hold bin 2, 3 hold bin 4, and 1 holds bin 8.
TEST(ChooseLoad, TakesTheSmallestBinThatFits) {
  for (const BinCase& c : {BinCase{40, 1}, {12, 2}, {3, 4}, {1, 8}}) {
    SCOPED_TRACE(c.budget_gib);
    const auto choice = choose_load(large_scan(), std::nullopt, Edge::keep, 1, LayoutChoice::automatic,
                                    ResultType::automatic, static_cast<std::size_t>(c.budget_gib * gib));
    EXPECT_EQ(choice.value.det_bin, c.bin);
    EXPECT_EQ(choice.value.layout, LayoutChoice::pixel);
    const double resident = 18.0 / static_cast<double>(c.bin * c.bin);
    EXPECT_NEAR(static_cast<double>(choice.value.resident_bytes) / gib, resident, 1e-9);
    EXPECT_GT(static_cast<double>(choice.value.predicted_peak_bytes) / gib, resident + 0.18);
    EXPECT_LT(static_cast<double>(choice.value.predicted_peak_bytes) / gib, resident + 0.25);
    EXPECT_THAT(choice.because, HasSubstr("budget"));
  }
}

TEST(ChooseLoad, AFixedBinFallsBackToCompressedAndThenToTheFile) {
  const auto layout_for = [](double budget) {
    return choose_load(large_scan(), 1, Edge::keep, 1, LayoutChoice::automatic, ResultType::automatic,
                       static_cast<std::size_t>(budget * gib))
        .value.layout;
  };
  EXPECT_EQ(layout_for(20), LayoutChoice::pixel);
  EXPECT_EQ(layout_for(5), LayoutChoice::compressed);
  EXPECT_EQ(layout_for(1), LayoutChoice::file);
}

TEST(ChooseLoad, TheCacheTakesWhatIsLeftAndNoMore) {
  LoadSizes sizes = large_scan();
  const auto choose = [&](double budget) {
    return choose_load(sizes, 8, Edge::keep, 1, LayoutChoice::pixel, ResultType::automatic,
                       static_cast<std::size_t>(budget * gib))
        .value;
  };
  const std::size_t without = choose(4).predicted_peak_bytes;
  sizes.useful_cache_bytes = std::size_t{1} << 30;
  EXPECT_EQ(choose(4).cache_bytes, sizes.useful_cache_bytes);
  EXPECT_EQ(choose(4).predicted_peak_bytes, without + sizes.useful_cache_bytes);
  EXPECT_LT(choose(1).cache_bytes, sizes.useful_cache_bytes);
  EXPECT_EQ(choose(1).predicted_peak_bytes, std::size_t{1} << 30);
}

TEST(ChooseLoad, ASmallScanFillsNoRing) {
  LoadSizes sizes = large_scan();
  const auto need = [&] {
    return estimate_load(sizes, 1, Edge::keep, 1, LayoutChoice::frame, ResultType::automatic).predicted_peak_bytes;
  };
  const std::size_t ring = 3 * sizes.largest_batch_bytes, full = need();
  sizes.stored_bytes = sizes.largest_batch_bytes = 1000000;  // all of it is one batch
  EXPECT_EQ(need(), full - ring + 1000000);
}

TEST(ChooseLoad, ChunksInWorkCount) {
  LoadSizes sizes = large_scan();
  const auto need = [&] {
    return estimate_load(sizes, 1, Edge::keep, 1, LayoutChoice::file, ResultType::automatic).predicted_peak_bytes;
  };
  const std::size_t without = need();
  sizes.reading_bytes = 12345678;
  EXPECT_EQ(need(), without + 12345678);
}

TEST(ChooseLoad, TooLittleMemoryNamesTheSmallestNeed) {
  const std::string text = sonde::testing::error_of(ErrorKind::budget, [] {
    (void)choose_load(large_scan(), std::nullopt, Edge::keep, 1, LayoutChoice::automatic, ResultType::automatic,
                      std::size_t{100} << 20);
  });
  EXPECT_THAT(text, HasSubstr("smallest need"));
  EXPECT_THAT(text, HasSubstr("bin 16"));
  EXPECT_THAT(text, HasSubstr("--scan-bin"));
}

TEST(Float32Table, IsTheDocumentedFormula) {
  const auto table = float32_table(large_scan());
  ASSERT_EQ(table.size(), 4u);
  EXPECT_DOUBLE_EQ(table[0].second / gib, 36.0);
  EXPECT_DOUBLE_EQ(table[1].second / gib, 9.0);
  EXPECT_DOUBLE_EQ(table[2].second / gib, 2.25);
  EXPECT_DOUBLE_EQ(table[3].second / gib, 0.5625);
}

}  // namespace
}  // namespace sonde::stem
