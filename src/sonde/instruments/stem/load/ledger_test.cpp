// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "sonde/engine/base/log.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/load/blocks.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/load/trusted.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "tests/support/budget.h"

namespace sonde::stem {
namespace {

using sonde::testing::plenty;
using stem::testing::MemorySource;
using ::testing::HasSubstr;

TEST(LedgerSum, CountsBeyond64BitsAreExact) {
  LedgerSum sum = std::uint64_t{18446744073709551615u};
  sum += std::uint64_t{18446744073709551615u};
  EXPECT_EQ(sum.digits(), "36893488147419103230");
  sum -= std::uint64_t{30};
  EXPECT_EQ(sum.digits(), "36893488147419103200");
}

TEST(Ledger, CountsBeyond63BitsAreTextsInJson) {
  Ledger ledger;
  ledger.stored = ledger.kept = std::uint64_t{18446744073709551615u};
  ledger.masked = std::uint64_t{0};
  EXPECT_EQ(ledger.to_value().find("stored")->as_text(), "18446744073709551615");
  EXPECT_EQ(ledger.to_value().find("masked")->as_whole(), 0);
  EXPECT_EQ(ledger.text(), "stored 18446744073709551615 = kept 18446744073709551615");
}

/// One scan of random counts with a hot pixel, a mask, sentinels and whatever is asked of it.
template <class T>
struct Scan {
  Index scan_rows, scan_cols, rows, cols;
  std::vector<T> stored;
  std::vector<std::uint32_t> mask;
  std::optional<std::uint64_t> sentinel;
  LoadOptions options;
  ScanRegion region;

  [[nodiscard]] Dataset load() const {
    auto source = std::make_unique<MemorySource<T>>(scan_rows, scan_cols, rows, cols, stored);
    source->acquisition_to_change().pixel_mask = mask;
    source->acquisition_to_change().sentinel = sentinel;
    return stem::load(std::move(source), options, plenty());
  }
};

/// The resident elements, summed one by one.
std::uint64_t sum_of_elements(const Dataset& dataset) {
  std::uint64_t sum = 0;
  const auto add = [&](const auto* values, Index count) {
    for (Index i = 0; i < count; ++i) sum += static_cast<std::uint64_t>(values[i]);
  };
  for (Index row = 0; row < dataset.shape()[0]; ++row)
    for (Index col = 0; col < dataset.shape()[1]; ++col) {
      const Array pattern = dataset.pattern(row, col);
      if (pattern.dtype() == DType::u8)
        add(static_cast<const std::uint8_t*>(pattern.data()), pattern.count());
      else if (pattern.dtype() == DType::u16)
        add(static_cast<const std::uint16_t*>(pattern.data()), pattern.count());
      else
        add(static_cast<const std::uint32_t*>(pattern.data()), pattern.count());
    }
  return sum;
}

/// Every stored value, put where it belongs by the definition of the ledger.
template <class T>
void expect_every_count_accounted_for(const Scan<T>& scan) {
  const Dataset dataset = scan.load();
  const Ledger& ledger = dataset.ledger();
  const Index bin = dataset.det_bin(), scan_bin = dataset.scan_bin();
  const Index out_rows = dataset.shape()[2], out_cols = dataset.shape()[3];
  std::vector<std::uint8_t> bad(static_cast<std::size_t>(scan.rows * scan.cols));
  const BadPixelAction action = dataset.options().hot_pixels;
  for (const BadPixel& pixel : dataset.bad_pixels())
    bad[static_cast<std::size_t>(pixel.row * scan.cols + pixel.col)] = 1;

  std::uint64_t stored = 0, masked = 0, hot = 0, cut = 0, marked = 0, no_data = 0, masked_no_data = 0, read = 0;
  std::set<std::size_t> no_data_pixels;
  std::set<Index> no_data_frames;
  for (Index R = scan.region.row_first; R < scan.region.row_last; ++R)
    for (Index C = scan.region.col_first; C < scan.region.col_last; ++C) {
      if ((R - scan.region.row_first) / scan_bin >= dataset.shape()[0] ||
          (C - scan.region.col_first) / scan_bin >= dataset.shape()[1])
        continue;
      ++read;
      for (Index row = 0; row < scan.rows; ++row)
        for (Index col = 0; col < scan.cols; ++col) {
          const auto pixel = static_cast<std::size_t>(row * scan.cols + col);
          const std::uint64_t value =
              scan.stored[static_cast<std::size_t>(R * scan.scan_cols + C) * bad.size() + pixel];
          const bool is_masked = !scan.mask.empty() && mask_bit::is_bad(scan.mask[pixel]);
          if (scan.sentinel && value == *scan.sentinel) {
            ++(is_masked ? masked_no_data : no_data);
            if (!is_masked) no_data_pixels.insert(pixel);
            if (!is_masked) no_data_frames.insert(R * scan.scan_cols + C);
            continue;
          }
          stored += value;
          const bool is_cut = row / bin >= out_rows || col / bin >= out_cols;
          if (is_masked)
            masked += value;
          else if (bad[pixel] != 0 && action == BadPixelAction::zero)
            hot += value;
          else if (is_cut)
            cut += value;
          else if (bad[pixel] != 0)
            marked += value;
        }
    }
  EXPECT_TRUE(ledger.counts);
  EXPECT_EQ(ledger.unexplained(), 0);
  EXPECT_EQ(ledger.stored.digits(), std::to_string(stored));
  EXPECT_EQ(ledger.masked.digits(), std::to_string(masked));
  EXPECT_EQ(ledger.hot.digits(), std::to_string(hot));
  EXPECT_EQ(ledger.cut.digits(), std::to_string(cut));
  EXPECT_EQ(ledger.marked.digits(), std::to_string(marked));
  EXPECT_EQ(ledger.kept.digits(), std::to_string(sum_of_elements(dataset)));
  EXPECT_EQ(ledger.frames_read, read);
  EXPECT_EQ(ledger.frames_unread, static_cast<std::uint64_t>(scan.scan_rows * scan.scan_cols) - read);
  EXPECT_EQ(ledger.no_data, no_data);
  EXPECT_EQ(ledger.masked_no_data, masked_no_data);
  EXPECT_EQ(ledger.no_data_pixels, no_data_pixels.size());
  EXPECT_EQ(ledger.no_data_frames, no_data_frames.size());
}

template <class T>
Scan<T> any_scan() {
  Scan<T> scan;
  scan.scan_rows = *rc::gen::inRange<Index>(1, 13);
  scan.scan_cols = *rc::gen::inRange<Index>(1, 14);
  scan.rows = *rc::gen::inRange<Index>(3, 20);
  scan.cols = *rc::gen::inRange<Index>(3, 20);
  // Small, about the limits of the types, and large.
  const std::uint64_t most = std::min<std::uint64_t>(
      *rc::gen::element<std::uint64_t>(3, 255, 256, 40000, 65535, 65536, 20000000), std::numeric_limits<T>::max());
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  scan.stored.resize(static_cast<std::size_t>(scan.scan_rows * scan.scan_cols * scan.rows * scan.cols));
  for (T& value : scan.stored) value = static_cast<T>(random() % (most + 1));
  const auto pixels = static_cast<std::size_t>(scan.rows * scan.cols);
  constexpr std::uint64_t most_hot =
      std::min<std::uint64_t>(std::numeric_limits<T>::max() - 1, 300000000);  // sums fit u32
  if (*rc::gen::arbitrary<bool>())  // one pixel that counts too much, in all frames or in some
    for (std::size_t hot = random() % pixels, every = 1 + random() % 3; hot < scan.stored.size(); hot += every * pixels)
      scan.stored[hot] = static_cast<T>(most_hot);
  if (*rc::gen::arbitrary<bool>()) {
    scan.mask.resize(pixels);
    for (std::uint32_t& bits : scan.mask) bits = random() % 10 == 0 ? mask_bit::dead : 0;
  }
  if (*rc::gen::arbitrary<bool>()) {
    scan.sentinel = std::numeric_limits<T>::max();
    for (int i = 0; i < 5; ++i) scan.stored[random() % scan.stored.size()] = std::numeric_limits<T>::max();
  }
  scan.region = {0, scan.scan_rows, 0, scan.scan_cols};
  if (*rc::gen::arbitrary<bool>()) {
    scan.region.row_first = *rc::gen::inRange<Index>(0, scan.scan_rows);
    scan.region.col_last = *rc::gen::inRange<Index>(1, scan.scan_cols + 1);
    scan.options.scan_region = std::to_string(scan.region.row_first) + "," + std::to_string(scan.region.row_last) +
                               ",0," + std::to_string(scan.region.col_last);
  }
  LoadOptions& options = scan.options;
  options.det_bin = std::to_string(*rc::gen::inRange<Index>(1, 4));
  options.scan_bin = *rc::gen::inRange<Index>(1, 3);
  const Index least = std::min(scan.region.row_last - scan.region.row_first, scan.region.col_last);
  options.edge = options.scan_bin <= least && *rc::gen::arbitrary<bool>() ? Edge::drop : Edge::keep;
  options.scan_bin = std::min(options.scan_bin, least);
  options.layout =
      *rc::gen::element(LayoutChoice::pixel, LayoutChoice::frame, LayoutChoice::compressed, LayoutChoice::file);
  options.dtype = *rc::gen::element(ResultType::automatic, ResultType::u8, ResultType::u16);
  options.hot_pixels =
      *rc::gen::element(BadPixelAction::automatic, BadPixelAction::zero, BadPixelAction::mark, BadPixelAction::none);
  return scan;
}

RC_GTEST_PROP(LedgerProperty, EveryStoredCountHasOneFateU8, ()) {
  expect_every_count_accounted_for(any_scan<std::uint8_t>());
  RC_ASSERT(!::testing::Test::HasFailure());
}
RC_GTEST_PROP(LedgerProperty, EveryStoredCountHasOneFateU16, ()) {
  expect_every_count_accounted_for(any_scan<std::uint16_t>());
  RC_ASSERT(!::testing::Test::HasFailure());
}
RC_GTEST_PROP(LedgerProperty, EveryStoredCountHasOneFateU32, ()) {
  expect_every_count_accounted_for(any_scan<std::uint32_t>());
  RC_ASSERT(!::testing::Test::HasFailure());
}

/// 10 x 10 flat frames of 10 counts with a pixel of 5000 in all of them.
Scan<std::uint16_t> scan_with_hot_pixel(Index scan_rows = 10) {
  Scan<std::uint16_t> scan{scan_rows, 10, 9, 9, {}, {}, {}, {}, {0, scan_rows, 0, 10}};
  scan.stored.assign(static_cast<std::size_t>(scan_rows * 10 * 81), 10);
  for (std::size_t frame = 0; frame < static_cast<std::size_t>(scan_rows * 10); ++frame)
    scan.stored[frame * 81 + 40] = 5000;
  return scan;
}

TEST(Ledger, WhatInterpolationPutsInIsOnTheOtherSide) {
  Scan<std::uint16_t> scan = scan_with_hot_pixel();
  scan.options.hot_pixels = BadPixelAction::interpolate;
  const Dataset dataset = scan.load();
  const Ledger& ledger = dataset.ledger();
  EXPECT_EQ(ledger.stored.digits(), std::to_string(100 * (80 * 10 + 5000)));
  EXPECT_EQ(ledger.hot.digits(), "500000");
  EXPECT_EQ(ledger.interpolated.digits(), "1000");  // the median of the neighbours, 10, in 100 frames
  EXPECT_EQ(ledger.kept.digits(), std::to_string(100 * 81 * 10));
  EXPECT_EQ(ledger.unexplained(), 0);
  EXPECT_EQ(ledger.text(), "stored 580000 + interpolated 1000 = kept 81000 + hot 500000");
}

TEST(Ledger, WhatATypeClipsIsCountedInCounts) {
  Scan<std::uint16_t> scan = scan_with_hot_pixel();
  scan.options.hot_pixels = BadPixelAction::none;
  scan.options.dtype = ResultType::u8;
  EXPECT_EQ(scan.load().ledger().clipped.digits(), std::to_string(100 * (5000 - 255)));
  scan.options.hot_pixels = BadPixelAction::zero;  // what is zeroed was not clipped
  const Dataset zeroed = scan.load();
  EXPECT_EQ(zeroed.ledger().clipped.digits(), "0");
  EXPECT_EQ(zeroed.ledger().hot.digits(), "500000");
  EXPECT_EQ(zeroed.exactness().clipped, 0u);
}

TEST(Ledger, FewFramesMarkAPixelAndKeepItsCounts) {
  const Dataset few = scan_with_hot_pixel(9).load();  // 90 frames
  EXPECT_EQ(few.options().hot_pixels, BadPixelAction::mark);
  ASSERT_EQ(few.bad_pixels().size(), 1u);
  EXPECT_EQ(few.ledger().hot.digits(), "0");
  EXPECT_EQ(few.ledger().marked.digits(), std::to_string(90 * 5000));
  EXPECT_EQ((few.pattern(3, 3).view<std::uint16_t, 2>()(4, 4)), 5000);
  EXPECT_EQ(few.good()[40], 1);
  EXPECT_EQ(trusted_pixels(few)[40], 0);  // the centre is not found in it
  EXPECT_NE(few.mask_bits()[40] & mask_bit::over_responding, 0u);
  EXPECT_EQ(few.passes(), 1);
  const bool noted = std::any_of(few.choices().begin(), few.choices().end(), [](const auto& choice) {
    return choice.value == "bad pixels: 1 found, marked and not changed" &&
           choice.because ==
               "90 frames do not tell a hot pixel from a sharp spot, 100 do; hot_pixels zero sets them to zero";
  });
  EXPECT_TRUE(noted);
  const Dataset enough = scan_with_hot_pixel(10).load();
  EXPECT_EQ(enough.options().hot_pixels, BadPixelAction::zero);
  EXPECT_EQ(enough.ledger().hot.digits(), "500000");
}

TEST(Ledger, BrokenAndEmptyFramesAreNumbers) {
  auto source = std::make_unique<MemorySource<std::uint8_t>>(3, 4, 2, 2, std::vector<std::uint8_t>(10 * 4, 9));
  source->broken = {4};
  LoadOptions options;
  options.on_error = OnError::zero;
  options.scan_region = "1,3,0,4";
  const Dataset dataset = load(std::move(source), options, plenty());
  EXPECT_EQ(dataset.ledger().frames_read, 6u);  // of 10: the first row is outside of the region
  EXPECT_EQ(dataset.ledger().frames_unread, 4u);
  EXPECT_EQ(dataset.ledger().frames_broken, 1u);
  EXPECT_EQ(dataset.ledger().empty_positions, 3u);  // two without a frame, one with a broken one
  EXPECT_EQ(dataset.ledger().stored.digits(), std::to_string(5 * 4 * 9));
}

/// Frames of 3 x 3 floats; NaN in one pixel of two frames, infinity in another pixel of one of them.
Dataset load_not_finite(const LoadOptions& options, std::vector<std::uint32_t> mask = {}) {
  std::vector<float> stored(6 * 9, 0.5f);
  stored[4] = stored[9 + 4] = std::numeric_limits<float>::quiet_NaN();
  stored[9 + 7] = -std::numeric_limits<float>::infinity();
  auto source = std::make_unique<MemorySource<float>>(2, 3, 3, 3, stored);
  source->acquisition_to_change().pixel_mask = std::move(mask);
  return load(std::move(source), options, plenty());
}

TEST(NotFiniteValues, AreNoDataInSumsElementsAndLedger) {
  std::vector<std::string> warnings;
  const LogSink before = set_log_sink([&](LogLevel level, const std::string& text) {
    if (level == LogLevel::warning) warnings.push_back(text);
  });
  const Dataset dataset = load_not_finite({});
  set_log_sink(before);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
            "memory: 3 values in 2 pixels of 2 frames are not finite (NaN or infinity): taken as no data, which counts "
            "as zero");
  EXPECT_EQ((dataset.pattern(0, 1).view<float, 2>()(2, 1)), 0.0f);
  EXPECT_EQ((dataset.moments().total.view<double, 1>()(1)), 3.5);
  EXPECT_EQ((dataset.moments().pattern_sum.view<double, 2>()(2, 1)), 2.5);
  EXPECT_FALSE(dataset.ledger().counts);
  EXPECT_EQ(dataset.ledger().stored.real(), 25.5);  // sums of halves are exact
  EXPECT_EQ(dataset.ledger().kept.real(), 25.5);
  EXPECT_EQ(dataset.ledger().no_data, 3u);
  EXPECT_EQ(dataset.ledger().no_data_pixels, 2u);
  EXPECT_EQ(dataset.ledger().no_data_frames, 2u);
}

TEST(NotFiniteValues, AreKeptWhereElementsAreAskedForAsStored) {
  for (const LayoutChoice layout : {LayoutChoice::frame, LayoutChoice::file}) {
    LoadOptions options;
    options.layout = layout;
    const Dataset dataset = load_not_finite(options);
    std::size_t blocks = 0;
    for_each_block(dataset, std::size_t{1} << 20, NotFinite::kept, [&](const Array& frames, Index) {
      ++blocks;
      const auto values = frames.view<float, 3>();
      EXPECT_TRUE(std::isnan(values(0, 1, 1)) && std::isnan(values(1, 1, 1)));
      EXPECT_EQ(values(1, 2, 1), -std::numeric_limits<float>::infinity());
      EXPECT_EQ(values(5, 1, 1), 0.5f);
    });
    EXPECT_EQ(blocks, 1u);
    for_each_block(dataset, std::size_t{1} << 20, NotFinite::zero,
                   [&](const Array& frames, Index) { EXPECT_EQ((frames.view<float, 3>()(1, 2, 1)), 0.0f); });
  }
}

TEST(NotFiniteValues, AreNoCountsOfMaskedPixels) {
  const Dataset dataset = load_not_finite({}, {0, 0, 0, 0, mask_bit::dead, 0, 0, 0, 0});
  EXPECT_EQ(dataset.ledger().masked.real(), 2.0);
  EXPECT_EQ(dataset.ledger().masked_no_data, 2u);
  EXPECT_EQ(dataset.ledger().no_data, 1u);
  EXPECT_EQ(dataset.ledger().unexplained(), 0);
}

/// Values of exponents so far apart that sums of f64 round: each order of addition gives other last bits.
Dataset load_floats_with_threads(int threads, const LoadOptions& options) {
  set_thread_count(threads);
  std::mt19937_64 random(5);
  std::vector<float> stored(static_cast<std::size_t>(40 * 50 * 24 * 24));
  for (float& value : stored) {
    const int exponent = -static_cast<int>(random() % 80);
    value = static_cast<float>(std::ldexp(static_cast<double>(random() >> 40), exponent));
  }
  Dataset dataset = load(std::make_unique<MemorySource<float>>(40, 50, 24, 24, std::move(stored)), options, plenty());
  set_thread_count(0);
  return dataset;
}

TEST(SumsOfFloats, DoNotDependOnTheNumberOfThreads) {
  for (const char* bin : {"1", "3"})
    for (const Index scan_bin : {1, 2}) {
      SCOPED_TRACE(::testing::Message() << "bin " << bin << " scan bin " << scan_bin);
      LoadOptions options;
      options.det_bin = bin;
      options.scan_bin = scan_bin;
      const Dataset one = load_floats_with_threads(1, options);
      for (const int threads : {2, 3, 7}) {
        const Dataset several = load_floats_with_threads(threads, options);
        const Array &a = one.moments().pattern_sum, &b = several.moments().pattern_sum;
        EXPECT_TRUE(
            std::equal(a.view<double, 2>().data, a.view<double, 2>().data + a.count(), b.view<double, 2>().data))
            << threads << " threads";
        EXPECT_EQ(one.ledger().stored.real(), several.ledger().stored.real());
      }
    }
}

}  // namespace
}  // namespace sonde::stem
