// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "sonde/engine/base/sampling.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "tests/support/budget.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::plenty;
using stem::testing::MemorySource;
using ::testing::Contains;
using ::testing::HasSubstr;

struct Case {
  Index scan_rows = 6, scan_cols = 7, rows = 11, cols = 9;
  Index det_bin = 1, scan_bin = 1;
  Edge edge = Edge::keep;
  LayoutChoice layout = LayoutChoice::pixel;
  bool transpose_scan = false, flip = false, transpose_detector = false, region = false, mask = false;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.scan_rows << "x" << c.scan_cols << "x" << c.rows << "x" << c.cols << " bin " << c.det_bin
             << " scan bin " << c.scan_bin << (c.edge == Edge::drop ? " drop" : "") << " layout "
             << static_cast<int>(c.layout) << (c.transpose_scan ? " T" : "") << (c.flip ? " flip" : "")
             << (c.transpose_detector ? " detector-T" : "") << (c.region ? " region" : "") << (c.mask ? " mask" : "");
}

template <class T>
std::vector<T> random_counts(Index n, std::uint64_t seed, T most) {
  std::mt19937_64 random(seed);
  std::vector<T> values(static_cast<std::size_t>(n));
  for (T& value : values) value = static_cast<T>(random() % (static_cast<std::uint64_t>(most) + 1));
  return values;
}

/// The resident scan by its definition: one sum per element, in 64 bits.
template <class T>
struct Reference {
  Index out_scan_rows, out_scan_cols, out_rows, out_cols;
  std::vector<std::uint64_t> elements;

  Reference(const Case& c, const std::vector<T>& stored, const ScanOrder& order,
            const std::vector<std::uint32_t>& mask) {
    const ScanRegion r = c.region ? ScanRegion{1, 5, 2, 6} : ScanRegion{0, order.rows, 0, order.cols};
    const Index rows = c.transpose_detector ? c.cols : c.rows, cols = c.transpose_detector ? c.rows : c.cols;
    const auto bins = [&](Index extent, Index bin) {
      return c.edge == Edge::keep ? (extent + bin - 1) / bin : extent / bin;
    };
    out_scan_rows = bins(r.row_last - r.row_first, c.scan_bin);
    out_scan_cols = bins(r.col_last - r.col_first, c.scan_bin);
    out_rows = bins(rows, c.det_bin);
    out_cols = bins(cols, c.det_bin);
    elements.resize(static_cast<std::size_t>(out_scan_rows * out_scan_cols * out_rows * out_cols));
    for (Index R = r.row_first; R < r.row_last; ++R)
      for (Index C = r.col_first; C < r.col_last; ++C)
        for (Index row = 0; row < rows; ++row)
          for (Index col = 0; col < cols; ++col) {
            const Index out_R = (R - r.row_first) / c.scan_bin, out_C = (C - r.col_first) / c.scan_bin;
            const Index out_row = row / c.det_bin, out_col = col / c.det_bin;
            if (out_R >= out_scan_rows || out_C >= out_scan_cols || out_row >= out_rows || out_col >= out_cols)
              continue;
            const Index pixel = c.transpose_detector ? col * c.cols + row : row * c.cols + col;
            if (!mask.empty() && mask_bit::is_bad(mask[static_cast<std::size_t>(pixel)])) continue;
            const Index frame = order.frame(R, C);
            elements[static_cast<std::size_t>(((out_R * out_scan_cols + out_C) * out_rows + out_row) * out_cols +
                                              out_col)] +=
                stored[static_cast<std::size_t>(frame * c.rows * c.cols + pixel)];
          }
  }
};

std::uint64_t element(const Array& array, Index i) {
  switch (array.dtype()) {
    case DType::u8:
      return static_cast<const std::uint8_t*>(array.data())[i];
    case DType::u16:
      return static_cast<const std::uint16_t*>(array.data())[i];
    default:
      return static_cast<const std::uint32_t*>(array.data())[i];
  }
}

LoadOptions options_of(const Case& c) {
  LoadOptions options;
  options.det_bin = std::to_string(c.det_bin);
  options.scan_bin = c.scan_bin;
  options.edge = c.edge;
  options.layout = c.layout;
  options.transpose_detector = c.transpose_detector;
  options.hot_pixels = BadPixelAction::none;
  if (c.region) options.scan_region = "1,5,2,6";
  return options;
}

template <class T>
void expect_equals_reference(const Case& c, T most) {
  SCOPED_TRACE(::testing::Message() << c << " largest " << +most);
  const std::vector<T> stored = random_counts<T>(c.scan_rows * c.scan_cols * c.rows * c.cols, 7, most);
  auto source = std::make_unique<MemorySource<T>>(c.scan_rows, c.scan_cols, c.rows, c.cols, stored);
  Acquisition& acquisition = source->acquisition_to_change();
  if (c.transpose_scan) acquisition.scan = ScanOrder{c.scan_cols, c.scan_rows, 0, false, false, true};
  acquisition.scan.flip_rows = acquisition.scan.flip_cols = c.flip;
  if (c.mask) {
    acquisition.pixel_mask.resize(static_cast<std::size_t>(c.rows * c.cols));
    acquisition.pixel_mask[3] = mask_bit::dead;
    acquisition.pixel_mask[static_cast<std::size_t>(c.rows * c.cols - 1)] = mask_bit::noisy;
    acquisition.pixel_mask[4] = mask_bit::virtual_pixel;  // valid
  }
  const Reference<T> expected(c, stored, acquisition.scan, acquisition.pixel_mask);

  const Dataset dataset = load(std::move(source), options_of(c), plenty());
  EXPECT_EQ(dataset.shape(),
            (Shape{expected.out_scan_rows, expected.out_scan_cols, expected.out_rows, expected.out_cols}));
  const Index pixels = expected.out_rows * expected.out_cols, positions = dataset.positions();
  std::uint64_t largest = 0;
  const Moments& moments = dataset.moments();
  std::vector<std::uint64_t> sum(static_cast<std::size_t>(pixels)), most_of(sum.size()), nonzero(sum.size());
  for (Index p = 0; p < positions; ++p) {
    const Array pattern = dataset.pattern(p / expected.out_scan_cols, p % expected.out_scan_cols);
    std::uint64_t total = 0, moment_row = 0, moment_col = 0;
    for (Index q = 0; q < pixels; ++q) {
      const std::uint64_t value = expected.elements[static_cast<std::size_t>(p * pixels + q)];
      ASSERT_EQ(element(pattern, q), value) << "position " << p << " pixel " << q;
      total += value;
      moment_row += static_cast<std::uint64_t>(q / expected.out_cols) * value;
      moment_col += static_cast<std::uint64_t>(q % expected.out_cols) * value;
      sum[static_cast<std::size_t>(q)] += value;
      most_of[static_cast<std::size_t>(q)] = std::max(most_of[static_cast<std::size_t>(q)], value);
      nonzero[static_cast<std::size_t>(q)] += value != 0;
      largest = std::max(largest, value);
    }
    ASSERT_EQ((moments.total.view<std::uint64_t, 1>()(p)), total);
    ASSERT_EQ((moments.moment_row.view<std::uint64_t, 1>()(p)), moment_row);
    ASSERT_EQ((moments.moment_col.view<std::uint64_t, 1>()(p)), moment_col);
  }
  for (Index q = 0; q < pixels; ++q) {
    EXPECT_EQ((static_cast<const std::uint64_t*>(moments.pattern_sum.data())[q]), sum[static_cast<std::size_t>(q)]);
    EXPECT_EQ((static_cast<const std::uint64_t*>(moments.pattern_max.data())[q]), most_of[static_cast<std::size_t>(q)]);
    EXPECT_EQ((static_cast<const std::uint64_t*>(moments.nonzero.data())[q]), nonzero[static_cast<std::size_t>(q)]);
  }
  EXPECT_EQ(dataset.exactness().largest, static_cast<double>(largest));
  EXPECT_EQ(dataset.dtype(), narrowest_unsigned(largest));
  EXPECT_TRUE(dataset.exactness().exact());
}

TEST(Load, EveryBinAndEdgeEqualsTheDefinition) {
  for (Index bin = 1; bin <= 9; ++bin)
    for (const Edge edge : {Edge::keep, Edge::drop}) {
      expect_equals_reference<std::uint8_t>({.det_bin = bin, .edge = edge, .mask = true}, 255);
      expect_equals_reference<std::uint16_t>({.det_bin = bin, .edge = edge, .mask = true}, 999);
      expect_equals_reference<std::uint32_t>({.det_bin = bin, .edge = edge, .mask = true}, 50000000);
    }
}

/// The resident elements of a scan of 3 x 4 positions after this bin.
std::vector<std::uint16_t> binned(Index rows, Index cols, const std::vector<std::uint16_t>& stored, const char* bin) {
  LoadOptions options;
  options.det_bin = bin;
  options.dtype = ResultType::u16;
  options.layout = LayoutChoice::frame;
  options.hot_pixels = BadPixelAction::none;
  const Dataset dataset =
      load(std::make_unique<MemorySource<std::uint16_t>>(3, 4, rows, cols, stored), options, plenty());
  std::vector<std::uint16_t> elements;
  for (Index position = 0; position < dataset.positions(); ++position) {
    const Array pattern = dataset.pattern(position / 4, position % 4);
    const auto* first = static_cast<const std::uint16_t*>(pattern.data());
    elements.insert(elements.end(), first, first + pattern.count());
  }
  return elements;
}

TEST(Load, BinsOfBinsAreBins) {
  const auto stored = random_counts<std::uint16_t>(3 * 4 * 11 * 9, 5, 4000);  // 16 of them are below 65536
  EXPECT_EQ(binned(6, 5, binned(11, 9, stored, "2"), "2"), binned(11, 9, stored, "4"));
}

TEST(Load, EveryLayoutHoldsTheSameElements) {
  for (const LayoutChoice layout :
       {LayoutChoice::pixel, LayoutChoice::frame, LayoutChoice::compressed, LayoutChoice::file})
    for (const Index scan_bin : {1, 2})
      expect_equals_reference<std::uint16_t>({.scan_bin = scan_bin, .layout = layout, .mask = true}, 3000);
}

TEST(Load, OrientationRegionsAndScanBinsEqualTheDefinition) {
  for (const bool transpose : {false, true})
    for (const bool flip : {false, true})
      for (const bool region : {false, true})
        for (const Index scan_bin : {1, 2, 3})
          expect_equals_reference<std::uint16_t>({.det_bin = 2,
                                                  .scan_bin = scan_bin,
                                                  .transpose_scan = transpose,
                                                  .flip = flip,
                                                  .region = region,
                                                  .mask = true},
                                                 40);
}

TEST(Load, ATransposedDetectorTakesItsMaskAlong) {
  expect_equals_reference<std::uint8_t>({.transpose_detector = true, .mask = true}, 200);
  expect_equals_reference<std::uint8_t>({.det_bin = 3, .transpose_detector = true, .mask = true}, 200);
}

TEST(Load, LargerScansCrossTilesAndBatches) {
  expect_equals_reference<std::uint16_t>({.scan_rows = 30, .scan_cols = 31, .rows = 17, .cols = 16}, 255);
  expect_equals_reference<std::uint16_t>({.scan_rows = 30, .scan_cols = 31, .rows = 17, .cols = 16, .flip = true}, 256);
  expect_equals_reference<std::uint32_t>(
      {.scan_rows = 30, .scan_cols = 31, .rows = 8, .cols = 8, .transpose_scan = true}, 65536);
}

/// Constant frames, one of which holds `value` at one pixel; sampling for the first element type does not meet it.
std::unique_ptr<MemorySource<std::uint32_t>> one_large_value(std::uint32_t value, Index frame = 777) {
  constexpr Index scan = 32, side = 8;
  std::vector<std::uint32_t> stored(scan * scan * side * side, 3);
  stored[static_cast<std::size_t>(frame * side * side + 20)] = value;
  return std::make_unique<MemorySource<std::uint32_t>>(scan, scan, side, side, stored);
}

TEST(Load, AnUnexpectedMaximumWidensAndLosesNothing) {
  for (const std::uint32_t value : {200u, 256u, 65535u, 65536u, 4294967295u}) {
    SCOPED_TRACE(value);
    LoadOptions options;
    options.hot_pixels = BadPixelAction::none;
    const Dataset dataset = load(one_large_value(value), options, plenty());
    EXPECT_EQ(dataset.dtype(), narrowest_unsigned(value));
    EXPECT_EQ(dataset.passes(), value > 255 ? 2 : 1);
    EXPECT_EQ(element(dataset.pattern(777 / 32, 777 % 32), 20), value);
  }
}

/// A budget in which the scan of one_large_value() fits as u16, but not as u32.
Budget room_for_u16() {
  constexpr std::size_t elements = 32 * 32 * 8 * 8;
  LoadSizes sizes;
  sizes.scan_rows = sizes.scan_cols = 32;
  sizes.rows = sizes.cols = 8;
  sizes.frames = 32 * 32;
  sizes.stored = DType::u32;
  sizes.stored_bytes = sizes.largest_batch_bytes = 4 * elements;
  sizes.workers = worker_limit();
  const auto as_u16 = estimate_load(sizes, 1, Edge::keep, 1, LayoutChoice::pixel, ResultType::automatic);
  return Budget(as_u16.predicted_peak_bytes + elements, "test");
}

LoadOptions without_correction() {
  LoadOptions options;
  options.hot_pixels = BadPixelAction::none;
  return options;
}

bool says(const Dataset& dataset, const std::string& text) {
  return std::any_of(dataset.choices().begin(), dataset.choices().end(),
                     [&](const auto& choice) { return choice.because.find(text) != std::string::npos; });
}

TEST(Load, ASampleThatNeedsAWiderTypeChoosesTheLayoutAgain) {
  const Dataset dataset =
      load(one_large_value(70000, 0), without_correction(), room_for_u16());  // the first frame is sampled
  EXPECT_EQ(dataset.dtype(), DType::u32);
  EXPECT_EQ(dataset.layout(), LayoutChoice::file);
  EXPECT_EQ(dataset.passes(), 1);
  EXPECT_LE(dataset.estimate().predicted_peak_bytes, room_for_u16().limit_bytes());
  EXPECT_TRUE(says(dataset, "chosen again: counts need u32 (largest of 32 sampled frames is 70000)"));
  EXPECT_EQ(element(dataset.pattern(0, 0), 20), 70000u);
}

TEST(Load, AMaximumThatNeedsAWiderTypeChoosesTheLayoutAgain) {
  const Dataset dataset = load(one_large_value(70000), without_correction(), room_for_u16());
  EXPECT_EQ(dataset.dtype(), DType::u32);
  EXPECT_EQ(dataset.layout(), LayoutChoice::file);
  EXPECT_EQ(dataset.passes(), 1);  // nothing that was stored is needed, so nothing is decoded again
  EXPECT_TRUE(says(dataset, "chosen again: counts need u32 (the largest value is 70000)"));
  EXPECT_EQ(element(dataset.pattern(777 / 32, 777 % 32), 20), 70000u);
  EXPECT_EQ((dataset.moments().total.view<std::uint64_t, 1>()(777)), 70000u + 63u * 3u);
}

TEST(Load, AMaximumThatNeedsAWiderTypeChoosesTheBinAgain) {
  for (const Index frame : {Index{0}, Index{777}}) {
    LoadOptions options = without_correction();
    options.det_bin = "auto";
    const Dataset dataset = load(one_large_value(70000, frame), options, room_for_u16());
    EXPECT_EQ(dataset.dtype(), DType::u32);
    EXPECT_EQ(dataset.layout(), LayoutChoice::pixel);
    EXPECT_EQ(dataset.det_bin(), 2);
    EXPECT_LE(dataset.held_bytes(), room_for_u16().limit_bytes());
    EXPECT_EQ(element(dataset.pattern(frame / 32, frame % 32), 6), 70000u + 9u);
    EXPECT_EQ(dataset.ledger().unexplained(), 0);
  }
}

TEST(Load, AWiderTypeThatDoesNotFitIsRefused) {
  LoadOptions options = without_correction();
  options.layout = LayoutChoice::pixel;
  const std::string text =
      sonde::testing::error_of(ErrorKind::budget, [&] { (void)load(one_large_value(70000), options, room_for_u16()); });
  EXPECT_THAT(text, HasSubstr("the scan does not fit"));
  EXPECT_THAT(text, HasSubstr("while: choosing again: counts need u32 (the largest value is 70000)"));
}

TEST(Load, MeansArePlannedAsTheFloatsThatTheyAre) {
  LoadOptions options;
  options.det_bin = "2";
  options.bin_mode = BinMode::mean;
  options.layout = LayoutChoice::pixel;
  const Dataset dataset = load(one_large_value(200), options, plenty());
  EXPECT_EQ(dataset.estimate().resident_bytes, dataset.array().allocated_bytes());
}

TEST(Load, PartsOfAScanHaveTheirOwnMoments) {
  const std::vector<std::uint16_t> stored = random_counts<std::uint16_t>(6 * 7 * 4 * 3, 3, 500);
  for (const Index scan_bin : {1, 2}) {
    LoadOptions options;
    options.scan_bin = scan_bin;
    options.hot_pixels = BadPixelAction::none;
    const Dataset dataset = load(std::make_unique<MemorySource<std::uint16_t>>(6, 7, 4, 3, stored), options, plenty());
    // Rows 1 to 2 and columns 2 to 3: with bins of two the last bin of columns is incomplete.
    const Index scan_cols = dataset.shape()[1];
    const Moments part = dataset.moments_of({scan_cols + 2, scan_cols + 3, 2 * scan_cols + 2, 2 * scan_cols + 3});
    for (Index q = 0; q < 12; ++q) {
      std::uint64_t sum = 0, most = 0;
      for (const Index row : {1, 2})
        for (const Index col : {2, 3}) {
          const std::uint64_t value = element(dataset.pattern(row, col), q);
          sum += value;
          most = std::max(most, value);
        }
      EXPECT_EQ((part.pattern_sum.view<std::uint64_t, 2>()(q / 3, q % 3)), sum);
      EXPECT_EQ((part.pattern_max.view<std::uint64_t, 2>()(q / 3, q % 3)), most);
    }
    EXPECT_EQ(part.total.shape(), (Shape{4}));
  }
  const Dataset whole = load(std::make_unique<MemorySource<std::uint16_t>>(6, 7, 4, 3, stored), {}, plenty());
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] {
                                         (void)whole.moments_of({3, 42});
                                       }),
              HasSubstr("positions 3 to 42: not within the 42 of the scan"));
}

TEST(Load, AChosenTypeClipsAndSaysHowOften) {
  LoadOptions options;
  options.dtype = ResultType::u8;
  options.hot_pixels = BadPixelAction::none;
  const Dataset dataset = load(one_large_value(1000), options, plenty());
  EXPECT_EQ(dataset.dtype(), DType::u8);
  EXPECT_EQ(element(dataset.pattern(777 / 32, 777 % 32), 20), 255u);
  EXPECT_EQ(dataset.exactness().clipped, 1u);
  EXPECT_EQ(dataset.exactness().largest, 1000);
  EXPECT_FALSE(dataset.exactness().exact());
}

TEST(Load, SumsOfBinsBeyond32BitsAreRefused) {
  std::vector<std::uint32_t> stored(4 * 4, 4294967295u);
  LoadOptions options;
  options.det_bin = "2";
  options.hot_pixels = BadPixelAction::none;
  const std::string text = sonde::testing::error_of(ErrorKind::not_supported, [&] {
    (void)load(std::make_unique<MemorySource<std::uint32_t>>(1, 1, 4, 4, stored), options, plenty());
  });
  EXPECT_THAT(text, HasSubstr("beyond 32 bits"));
}

TEST(Load, SentinelsCountAsNothingAndAreReported) {
  std::vector<std::uint16_t> stored(16 * 4, 5);
  stored[0] = stored[9] = 65535;
  auto source = std::make_unique<MemorySource<std::uint16_t>>(4, 4, 2, 2, stored);
  source->acquisition_to_change().sentinel = 65535;
  source->acquisition_to_change().pixel_mask = {0, mask_bit::dead, 0, 0};  // stored[9] is frame 2, pixel 1: masked
  LoadOptions options;
  options.hot_pixels = BadPixelAction::none;
  const Dataset dataset = load(std::move(source), options, plenty());
  EXPECT_EQ(dataset.exactness().sentinels, 1u);
  EXPECT_EQ(dataset.exactness().masked_sentinels, 1u);
  EXPECT_EQ(dataset.exactness().largest, 5);
  EXPECT_EQ((dataset.moments().total.view<std::uint64_t, 1>()(0)), 10u);  // three good pixels, one without data
}

TEST(Load, WithoutADeclaredSentinelTheLargestValueIsACount) {
  std::vector<std::uint8_t> stored(16 * 4, 255);
  LoadOptions options;
  options.hot_pixels = BadPixelAction::none;
  const Dataset dataset = load(std::make_unique<MemorySource<std::uint8_t>>(4, 4, 2, 2, stored), options, plenty());
  EXPECT_EQ((dataset.moments().total.view<std::uint64_t, 1>()(3)), 4u * 255u);
}

TEST(Load, SaturatedValuesAreCountedAndKept) {
  for (const char* bin : {"1", "2"}) {
    std::vector<std::uint16_t> stored(16 * 4, 5);
    stored[0] = stored[8] = 900;
    auto source = std::make_unique<MemorySource<std::uint16_t>>(4, 4, 2, 2, stored);
    source->acquisition_to_change().saturation = 899;
    LoadOptions options;
    options.det_bin = bin;
    options.hot_pixels = BadPixelAction::none;
    const Dataset dataset = load(std::move(source), options, plenty());
    EXPECT_EQ(dataset.exactness().saturated, 2u) << "bin " << bin;
    EXPECT_EQ((dataset.moments().total.view<std::uint64_t, 1>()(0)), 915u);
  }
}

/// Flat frames of 10 counts with a pixel of 5000 in all of them.
std::vector<std::uint16_t> with_hot_pixel() {
  std::vector<std::uint16_t> stored(100 * 81, 10);
  for (std::size_t frame = 0; frame < 100; ++frame) stored[frame * 81 + 40] = 5000;
  return stored;
}

TEST(Load, AHotPixelIsZeroedWhateverTheLayoutAndBin) {
  for (const LayoutChoice layout : {LayoutChoice::pixel, LayoutChoice::frame, LayoutChoice::compressed})
    for (const char* bin : {"1", "3"}) {
      SCOPED_TRACE(::testing::Message() << "layout " << static_cast<int>(layout) << " bin " << bin);
      LoadOptions options;
      options.layout = layout;
      options.det_bin = bin;
      const Dataset dataset =
          load(std::make_unique<MemorySource<std::uint16_t>>(10, 10, 9, 9, with_hot_pixel()), options, plenty());
      ASSERT_EQ(dataset.bad_pixels().size(), 1u);
      EXPECT_EQ(dataset.bad_pixels()[0].row, 4);
      EXPECT_EQ(dataset.bad_pixels()[0].col, 4);
      EXPECT_EQ(dataset.dtype(), DType::u8);  // 10, or 90 in a bin of nine
      EXPECT_EQ(dataset.exactness().stored_largest, 5000);
      EXPECT_EQ(dataset.passes(), 1);
      EXPECT_EQ(dataset.exactness().largest, bin[0] == '1' ? 10 : 90);
      for (Index p = 0; p < 100; ++p) ASSERT_EQ((dataset.moments().total.view<std::uint64_t, 1>()(p)), 800u);
      EXPECT_EQ(element(dataset.pattern(3, 3), bin[0] == '1' ? 40 : 4), bin[0] == '1' ? 0u : 80u);
    }
}

TEST(Load, ZeroingInPlaceEqualsMaskingFromTheStart) {
  // Noise keeps the type at u16, so that the pixel is zeroed without decoding again. It is hot in frames that the
  // sample before the pass does not meet, so that it is found in the sums over all frames only.
  std::vector<std::uint16_t> stored = random_counts<std::uint16_t>(100 * 81, 3, 400);
  for (std::size_t frame = 1; frame < 100; frame += 25) stored[frame * 81 + 40] = 65000;
  for (const LayoutChoice layout : {LayoutChoice::pixel, LayoutChoice::frame}) {
    LoadOptions options;
    options.layout = layout;
    const Dataset found = load(std::make_unique<MemorySource<std::uint16_t>>(10, 10, 9, 9, stored), options, plenty());
    EXPECT_THAT(found.choices(), Contains(::testing::Field(&Choice<std::string>::value, HasSubstr("zeroed in place"))));
    EXPECT_EQ(found.passes(), 1);
    auto source = std::make_unique<MemorySource<std::uint16_t>>(10, 10, 9, 9, stored);
    source->acquisition_to_change().pixel_mask.resize(81);
    source->acquisition_to_change().pixel_mask[40] = mask_bit::over_responding;
    const Dataset masked = load(std::move(source), options, plenty());
    EXPECT_EQ(found.mask_bits(), masked.mask_bits());
    EXPECT_EQ(found.exactness().largest, masked.exactness().largest);
    for (Index p = 0; p < 100; ++p) {
      for (Index q = 0; q < 81; ++q)
        ASSERT_EQ(element(found.pattern(p / 10, p % 10), q), element(masked.pattern(p / 10, p % 10), q));
      for (const auto member : {&Moments::total, &Moments::moment_row, &Moments::moment_col})
        ASSERT_EQ(((found.moments().*member).view<std::uint64_t, 1>()(p)),
                  ((masked.moments().*member).view<std::uint64_t, 1>()(p)));
    }
    for (const auto member : {&Moments::pattern_sum, &Moments::pattern_max, &Moments::nonzero})
      for (Index q = 0; q < 81; ++q)
        ASSERT_EQ(static_cast<const std::uint64_t*>((found.moments().*member).data())[q],
                  static_cast<const std::uint64_t*>((masked.moments().*member).data())[q]);
  }
}

TEST(Load, APixelThatOnlyLookedHotInTheSampleKeepsItsCounts) {
  // Bright in exactly the frames that are sampled, so not three times brighter than its neighbours
  // overall.
  std::vector<std::uint16_t> stored(100 * 81, 100);
  for (Index i = 0; i < 4; ++i) stored[static_cast<std::size_t>(spread_sample(i, 32, 100) * 81 + 40)] = 3000;
  const Dataset dataset = load(std::make_unique<MemorySource<std::uint16_t>>(10, 10, 9, 9, stored), {}, plenty());
  EXPECT_TRUE(dataset.bad_pixels().empty());
  EXPECT_EQ(dataset.passes(), 2);
  EXPECT_EQ(element(dataset.pattern(0, 0), 40), 3000u);
  EXPECT_EQ((static_cast<const std::uint64_t*>(dataset.moments().pattern_sum.data())[40]), 4u * 3000u + 96u * 100u);
}

TEST(Load, AHotPixelIsInterpolatedOnRequest) {
  LoadOptions options;
  options.hot_pixels = BadPixelAction::interpolate;
  const Dataset dataset =
      load(std::make_unique<MemorySource<std::uint16_t>>(10, 10, 9, 9, with_hot_pixel()), options, plenty());
  EXPECT_EQ(element(dataset.pattern(0, 0), 40), 10u);
  EXPECT_EQ((dataset.moments().total.view<std::uint64_t, 1>()(0)), 810u);
  EXPECT_NE(dataset.mask_bits()[40] & mask_bit::virtual_pixel, 0u);
  EXPECT_NE(dataset.mask_bits()[40] & mask_bit::over_responding, 0u);
}

TEST(Load, ABrokenFrameEndsTheLoad) {
  auto source = std::make_unique<MemorySource<std::uint16_t>>(10, 10, 9, 9, with_hot_pixel());
  source->broken = {42};
  const std::string text =
      sonde::testing::error_of(ErrorKind::bad_file, [&] { (void)load(std::move(source), {}, plenty()); });
  EXPECT_THAT(text, HasSubstr("frame 42 is broken"));
  EXPECT_THAT(text, HasSubstr("while: loading memory"));
}

TEST(Load, ABrokenFrameIsZeroedAndListedOnRequest) {
  auto source = std::make_unique<MemorySource<std::uint16_t>>(10, 10, 9, 9, with_hot_pixel());
  source->broken = {42};
  LoadOptions options;
  options.on_error = OnError::zero;
  const Dataset dataset = load(std::move(source), options, plenty());
  ASSERT_EQ(dataset.failed_frames().size(), 1u);
  EXPECT_EQ(dataset.failed_frames()[0].frame, 42);
  EXPECT_EQ((dataset.moments().total.view<std::uint64_t, 1>()(42)), 0u);
  EXPECT_EQ(dataset.valid()[42], 0);
  EXPECT_FALSE(dataset.exactness().exact());
}

TEST(Load, MeansDivideByTheGoodPixelsOfABin) {
  std::vector<std::uint16_t> stored = {1, 2, 3, 4};
  auto source = std::make_unique<MemorySource<std::uint16_t>>(1, 1, 2, 2, stored);
  source->acquisition_to_change().pixel_mask = {0, 0, mask_bit::dead, 0};
  LoadOptions options;
  options.det_bin = "2";
  options.bin_mode = BinMode::mean;
  const Dataset dataset = load(std::move(source), options, plenty());
  EXPECT_EQ(dataset.dtype(), DType::f32);
  EXPECT_FLOAT_EQ((dataset.pattern(0, 0).view<float, 2>()(0, 0)), 7.0f / 3.0f);
}

TEST(Load, FloatDataKeepTheirValues) {
  std::vector<float> stored = {0.5f, -1.25f, std::numeric_limits<float>::quiet_NaN(), 8.0f};
  const Dataset dataset = load(std::make_unique<MemorySource<float>>(1, 1, 2, 2, stored), {}, plenty());
  EXPECT_EQ(dataset.dtype(), DType::f32);
  EXPECT_EQ((dataset.pattern(0, 0).view<float, 2>()(0, 1)), -1.25f);
  EXPECT_EQ((dataset.pattern(0, 0).view<float, 2>()(1, 0)), 0.0f);  // no data
  EXPECT_EQ((dataset.moments().total.view<double, 1>()(0)), 7.25);
  EXPECT_EQ(dataset.exactness().sentinels, 1u);
}

TEST(Load, SignedCountsLoadAndNegativeOnesAreRefused) {
  const Dataset dataset =
      load(std::make_unique<MemorySource<std::int16_t>>(1, 1, 2, 2, std::vector<std::int16_t>{300, 200, 300, 400}), {},
           plenty());
  EXPECT_EQ(dataset.dtype(), DType::u16);
  const std::string text = sonde::testing::error_of(ErrorKind::bad_file, [&] {
    (void)load(std::make_unique<MemorySource<std::int32_t>>(1, 1, 2, 2, std::vector<std::int32_t>{1, 2, -3, 4}), {},
               plenty());
  });
  EXPECT_THAT(text, HasSubstr("memory: frame 0 holds -3 at row 1, column 0; counts are between 0 and 4294967295"));
  EXPECT_THAT(text, HasSubstr("--dtype f32 loads such values as they are"));
}

TEST(Load, NegativeValuesLoadAsFloatsWhenAskedFor) {
  LoadOptions options;
  options.dtype = ResultType::f32;
  const Dataset dataset =
      load(std::make_unique<MemorySource<std::int32_t>>(1, 1, 2, 2, std::vector<std::int32_t>{1, 2, -3, 4}), options,
           plenty());
  EXPECT_EQ(dataset.dtype(), DType::f32);
  EXPECT_EQ((dataset.pattern(0, 0).view<float, 2>()(1, 0)), -3.0f);
  EXPECT_EQ((dataset.moments().total.view<double, 1>()(0)), 4.0);
  EXPECT_EQ((dataset.moments().pattern_max.view<float, 2>()(1, 0)), -3.0f);
  EXPECT_EQ(dataset.ledger().stored.real(), 4.0);
}

TEST(Load, LargeValuesLoadAsFloatsWhenAskedFor) {
  LoadOptions options;
  options.dtype = ResultType::f32;
  const std::vector<std::uint64_t> stored = {std::uint64_t{1} << 40, 0, 0, 7};
  const Dataset dataset = load(std::make_unique<MemorySource<std::uint64_t>>(1, 1, 2, 2, stored), options, plenty());
  EXPECT_EQ((dataset.pattern(0, 0).view<float, 2>()(0, 0)), 1099511627776.0f);
}

TEST(Load, AnIncompleteScanIsPaddedAndMarked) {
  auto source = std::make_unique<MemorySource<std::uint8_t>>(2, 3, 2, 2, std::vector<std::uint8_t>(4 * 4, 9));
  const Dataset dataset = load(std::move(source), {}, plenty());
  EXPECT_EQ(dataset.valid(), (std::vector<std::uint8_t>{1, 1, 1, 1, 0, 0}));
  EXPECT_EQ((dataset.moments().total.view<std::uint64_t, 1>()(3)), 36u);
  EXPECT_EQ((dataset.moments().total.view<std::uint64_t, 1>()(4)), 0u);
}

TEST(Load, WhatDoesNotFitIsRefusedBeforeAnyWork) {
  LoadOptions options;
  options.layout = LayoutChoice::pixel;
  const std::string text = sonde::testing::error_of(ErrorKind::budget, [&] {
    (void)load(std::make_unique<MemorySource<std::uint16_t>>(10, 10, 9, 9, with_hot_pixel()), options,
               Budget(1000, "test"));
  });
  EXPECT_THAT(text, HasSubstr("does not fit"));
}

TEST(Load, ReleaseHandsBudgetAndArraysBack) {
  Budget budget = plenty();
  Dataset dataset = load(std::make_unique<MemorySource<std::uint16_t>>(10, 10, 9, 9, with_hot_pixel()), {}, budget);
  EXPECT_GT(budget.reserved_bytes(), 0u);
  dataset.release();
  EXPECT_EQ(budget.reserved_bytes(), 0u);
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)dataset.array(); }), HasSubstr("released"));
}

TEST(Load, CalibrationGivenByTheUserIsRecordedAsSuch) {
  LoadOptions options;
  options.voltage = 300;
  options.scan_step = 0.2;
  const Dataset dataset =
      load(std::make_unique<MemorySource<std::uint16_t>>(10, 10, 9, 9, with_hot_pixel()), options, plenty());
  ASSERT_TRUE(dataset.calibration().high_tension_v);
  EXPECT_DOUBLE_EQ(dataset.calibration().high_tension_v->value, 300e3);
  EXPECT_EQ(dataset.calibration().high_tension_v->stated_by, StatedBy::user);
  EXPECT_FALSE(dataset.calibration().camera_length_m);
}

TEST(Load, TheContentHashIsThatOfTheBytes) {
  const auto hash_of = [](std::uint16_t first) {
    std::vector<std::uint16_t> stored = with_hot_pixel();
    stored[0] = first;
    return load(std::make_unique<MemorySource<std::uint16_t>>(10, 10, 9, 9, stored), {}, plenty()).content_hash();
  };
  EXPECT_EQ(hash_of(10), hash_of(10));
  EXPECT_NE(hash_of(10), hash_of(11));
}

}  // namespace
}  // namespace sonde::stem
