// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/radial/radial_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "sonde/instruments/stem/pass/pass.h"
#include "sonde/instruments/stem/radial/radial_profiles.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using stem::testing::MemorySource;
using ::testing::HasSubstr;

constexpr Index height = 13, width = 18, pixels = height * width;  // no multiple of eight
const RadialGeometry detector{height, width, 5.3, 8.8};
const RadialBins ten_rings{10, 0, 9};
const RadialBins six_sectors{4, 1, 8, 6};

template <class T>
std::vector<T> frames_of(Index count, double most) {
  std::mt19937_64 random(7);
  std::vector<T> frames(static_cast<std::size_t>(count * pixels));
  for (T& value : frames) value = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-53 * most);
  return frames;
}

/// The definition, in double.
std::vector<double> sums_by_definition(const BinShares& shares, const RadialBins& bins, const auto& frames, Index count,
                                       int power) {
  std::vector<double> sums(static_cast<std::size_t>(count * bins.count()));
  for (Index k = 0; k < count; ++k)
    for (Index p = 0; p < pixels; ++p)
      for (std::uint32_t e = shares.first[static_cast<std::size_t>(p)];
           e < shares.first[static_cast<std::size_t>(p) + 1]; ++e)
        sums[static_cast<std::size_t>(k * bins.count()) + shares.bin[e]] +=
            std::pow(static_cast<double>(shares.share[e]), power) *
            static_cast<double>(frames[static_cast<std::size_t>(k * pixels + p)]);
  return sums;
}

template <class T>
void expect_definition(PixelSplit split, const RadialBins& bins, Index count, double most) {
  const BinShares shares = share_among_bins(detector, bins, split, {});
  const RadialPlan plan = RadialPlan::prepare(detector, bins, split, {});
  const std::vector<T> frames = frames_of<T>(count, most);
  std::vector<double> sums(static_cast<std::size_t>(count * bins.count())), squares = sums;
  RadialPlan::Scratch scratch(plan);
  plan.run(frames.data(), count, most, scratch, sums, squares);
  const std::vector<double> expected = sums_by_definition(shares, bins, frames, count, 1);
  const std::vector<double> expected_squares = sums_by_definition(shares, bins, frames, count, 2);
  const bool exact = split == PixelSplit::none && !std::is_floating_point_v<T>;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    // Sums of up to 60 terms in another order.
    const double rounding = exact ? 0 : 60 * std::numeric_limits<double>::epsilon() * expected[i];
    EXPECT_NEAR(sums[i], expected[i], rounding) << "bin " << i;
    EXPECT_NEAR(squares[i], expected_squares[i], rounding) << "bin " << i;
  }
}

TEST(RadialPlan, SumsOfListsAreThoseOfFrames) {
  constexpr Index count = 9;
  std::vector<std::uint16_t> frames = frames_of<std::uint16_t>(count, 30);
  for (std::uint16_t& value : frames) value = value < 26 ? 0 : value;  // most pixels are empty
  std::vector<std::size_t> first = {0};
  std::vector<std::uint32_t> pixel, values;
  for (Index k = 0; k < count; ++k) {
    for (Index p = 0; p < pixels; ++p)
      if (const std::uint16_t value = frames[static_cast<std::size_t>(k * pixels + p)]; value > 0) {
        pixel.push_back(static_cast<std::uint32_t>(p));
        values.push_back(value);
      }
    first.push_back(pixel.size());
  }
  for (const PixelSplit split : {PixelSplit::none, PixelSplit::bbox, PixelSplit::full})
    for (const RadialBins& bins : {ten_rings, six_sectors}) {
      const RadialPlan plan = RadialPlan::prepare(detector, bins, split, {});
      std::vector<double> sums(static_cast<std::size_t>(count * bins.count())), squares = sums, of_lists = sums,
                                                                                of_list_squares = sums;
      RadialPlan::Scratch scratch(plan);
      plan.run(frames.data(), count, 30, scratch, sums, squares);
      plan.run(SparseFrames{first, pixel, values}, of_lists, of_list_squares);
      for (std::size_t i = 0; i < sums.size(); ++i) {
        // Integers without a split; else sums of up to 60 terms, whose products may be fused.
        const double rounding =
            split == PixelSplit::none ? 0 : 60 * std::numeric_limits<double>::epsilon() * (sums[i] + 1);
        EXPECT_NEAR(of_lists[i], sums[i], rounding);
        EXPECT_NEAR(of_list_squares[i], squares[i], rounding);
      }
    }
}

TEST(RadialPlan, SumsAreThoseOfTheDefinition) {
  for (const PixelSplit split : {PixelSplit::none, PixelSplit::bbox, PixelSplit::full})
    for (const RadialBins& bins : {ten_rings, six_sectors})
      for (const Index count : {1, 3, 8, 9, 17}) {
        expect_definition<std::uint8_t>(split, bins, count, 255);
        expect_definition<std::uint16_t>(split, bins, count, 65535);
        expect_definition<std::uint32_t>(split, bins, count, 1e6);
        expect_definition<float>(split, bins, count, 3.5);
      }
  expect_definition<double>(PixelSplit::none, ten_rings, 9, 3.5);
  expect_definition<std::uint64_t>(PixelSplit::none, ten_rings, 9, 1e12);
}

TEST(RadialPlan, SumsAbove32BitsAreExact) {
  expect_definition<std::uint32_t>(PixelSplit::none, ten_rings, 5, 4294967295.0);
}

TEST(RadialPlan, AConstantPatternHasAConstantMean) {
  for (const PixelSplit split : {PixelSplit::none, PixelSplit::bbox, PixelSplit::full}) {
    const RadialPlan plan = RadialPlan::prepare(detector, ten_rings, split, {});
    const std::vector<std::uint16_t> frame(static_cast<std::size_t>(pixels), 321);
    std::vector<double> sums(static_cast<std::size_t>(ten_rings.count()));
    RadialPlan::Scratch scratch(plan);
    plan.run(frame.data(), 1, 321, scratch, sums, {});
    for (std::size_t bin = 0; bin < sums.size(); ++bin) EXPECT_NEAR(sums[bin] / plan.area()[bin], 321, 321e-12);
  }
}

TEST(RadialPlan, SplitPixelsKeepTheTotal) {
  const RadialBins all{30, 0, 30};
  const std::vector<std::uint16_t> frame = frames_of<std::uint16_t>(1, 5000);
  double total = 0;
  for (const std::uint16_t value : frame) total += value;
  for (const PixelSplit split : {PixelSplit::none, PixelSplit::bbox, PixelSplit::full}) {
    const RadialPlan plan = RadialPlan::prepare(detector, all, split, {});
    std::vector<double> sums(static_cast<std::size_t>(all.count()));
    RadialPlan::Scratch scratch(plan);
    plan.run(frame.data(), 1, 5000, scratch, sums, {});
    double sum = 0;
    for (const double each : sums) sum += each;
    EXPECT_NEAR(sum, total, 1e-6 * total);  // shares are single precision
  }
}

constexpr Index scan_rows = 7, scan_cols = 9, positions = scan_rows * scan_cols;

template <class T>
MemorySource<T> source_of(double most) {
  return {scan_rows, scan_cols, height, width, frames_of<T>(positions, most)};
}

PassSettings settings_for(const Source& source) {
  PassSettings settings;
  settings.detector = DetectorGrid::make(height, width, 1, Edge::keep);
  settings.scan = ScanGrid::make(source.acquisition(), std::nullopt, 1, Edge::keep);
  settings.mask_bits.assign(static_cast<std::size_t>(pixels), 0);
  return settings;
}

void run(Source& source, const PassSettings& settings, RadialProfiles& profiles, int threads = 0) {
  set_thread_count(threads);
  Operation* const operation = &profiles;
  (void)run_pass(source, settings, std::span(&operation, 1));
  set_thread_count(0);
}

TEST(RadialProfiles, MeansAndVariancesByPosition) {
  auto source = source_of<std::uint16_t>(900);
  const std::vector<std::uint16_t> frames = frames_of<std::uint16_t>(positions, 900);
  for (const PixelSplit split : {PixelSplit::none, PixelSplit::full}) {
    const BinShares shares = share_among_bins(detector, ten_rings, split, {});
    const RadialPlan plan = RadialPlan::prepare(detector, ten_rings, split, {});
    const std::vector<double> sums = sums_by_definition(shares, ten_rings, frames, positions, 1);
    const std::vector<double> squares = sums_by_definition(shares, ten_rings, frames, positions, 2);
    for (const int threads : {1, 2, 7}) {
      RadialProfiles profiles(plan, RadialProfiles::Variance::of_counts);
      run(source, settings_for(source), profiles, threads);
      for (Index i = 0; i < positions * ten_rings.count(); ++i) {
        const double area = plan.area()[static_cast<std::size_t>(i % ten_rings.count())];
        const auto at = static_cast<std::size_t>(i);
        ASSERT_FLOAT_EQ(static_cast<const float*>(profiles.mean.data())[i], static_cast<float>(sums[at] / area));
        ASSERT_FLOAT_EQ(static_cast<const float*>(profiles.variance.data())[i],
                        static_cast<float>(squares[at] / (area * area)));
      }
    }
  }
}

TEST(RadialProfiles, BinsWithoutAPixelHaveNoMean) {
  auto source = source_of<std::uint16_t>(900);
  const RadialBins narrow{400, 0, 9};  // some rings hold no centre of a pixel
  const RadialPlan plan = RadialPlan::prepare(detector, narrow, PixelSplit::none, {});
  RadialProfiles profiles(plan, RadialProfiles::Variance::no);
  run(source, settings_for(source), profiles);
  for (Index b = 0; b < narrow.count(); ++b)
    EXPECT_EQ(std::isnan(static_cast<const float*>(profiles.mean.data())[b]),
              plan.area()[static_cast<std::size_t>(b)] == 0);
  EXPECT_TRUE(profiles.variance.empty());
}

TEST(RadialProfiles, SayWhatIsWrong) {
  auto floats = source_of<float>(1);
  const RadialPlan plan = RadialPlan::prepare(detector, ten_rings, PixelSplit::none, {});
  RadialProfiles profiles(plan, RadialProfiles::Variance::of_counts);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { run(floats, settings_for(floats), profiles); }),
              HasSubstr("values that are not counts"));
  const RadialPlan other = RadialPlan::prepare({height, width + 1, 5, 5}, ten_rings, PixelSplit::none, {});
  RadialProfiles of_other(other, RadialProfiles::Variance::no);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { run(floats, settings_for(floats), of_other); }),
              HasSubstr("rings of a detector of 13 x 19 pixels, but patterns of 13 x 18"));
}

}  // namespace
}  // namespace sonde::stem
