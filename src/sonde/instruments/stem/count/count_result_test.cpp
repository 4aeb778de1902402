// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/count/count_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/io/npy.h"
#include "sonde/engine/math/random.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/count/test_counting.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "tests/support/budget.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::plenty;
using sonde::testing::TemporaryFolder;
using ::testing::Contains;
using testing::counted_by_definition;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MemorySource;
using testing::noisy_values;

constexpr Index height = 48, width = 61, scan_height = 5, scan_width = 8, in_scan = scan_height * scan_width;

template <class T>
Dataset scan_of(const std::vector<float>& values) {
  LoadOptions options;
  options.layout = LayoutChoice::file;
  return load(std::make_unique<MemorySource<T>>(scan_height, scan_width, height, width,
                                                std::vector<T>(values.begin(), values.end())),
              options, plenty());
}

CountResult counted_scan(const std::vector<float>& values, const CountOptions& options = {},
                         FrameCorrection correction = {}) {
  return make_count(scan_of<std::uint16_t>(values), std::move(correction), options, plenty());
}

TEST(CountResult, HoldsWhatTheDefinitionCountsWithItsThresholds) {
  const std::vector<float> values = noisy_values(in_scan, height, width, 20, 1, 0.005, 3);
  const CountResult result = counted_scan(values);
  EXPECT_NEAR(result.thresholds.limits.background, 24.16, 0.1);  // 20 + 4 sqrt(1 + 1/12), as in CountThresholds
  Index electrons = 0;
  for (Index p = 0; p < in_scan; ++p) {
    const std::vector<float> frame(values.begin() + p * height * width, values.begin() + (p + 1) * height * width);
    const auto expected = counted_by_definition(frame, height, width, {}, result.thresholds.limits);
    const auto list = result.list->of(p);
    EXPECT_EQ(std::vector<std::uint32_t>(list.begin(), list.end()), expected);
    electrons += static_cast<Index>(expected.size());
  }
  EXPECT_EQ(result.list->events(), electrons);
  EXPECT_NEAR(result.occupancy(), 0.005, 0.0005);
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(CountResult, DoesNotDependOnTheOrderOfTheSample) {
  const std::vector<float> values = noisy_values(in_scan, height, width, 20, 1, 0.005, 4);
  const CountOptions few{.samples = 7, .seed = 5};
  EXPECT_EQ(counted_scan(values, few).thresholds.limits.background,
            counted_scan(values, few).thresholds.limits.background);
  EXPECT_EQ(counted_scan(values, few).sampled, 7);
  EXPECT_EQ(counted_scan(values, {.samples = 1000}).sampled, in_scan);
}

TEST(CountResult, SubtractsADarkImage) {
  std::vector<float> values = noisy_values(in_scan, height, width, 40, 1, 0.005, 5);
  Random random(8);
  FrameCorrection correction;
  for (Index i = 0; i < height * width; ++i) correction.dark.push_back(static_cast<float>(random.below(15)));
  std::vector<float> raised = values;
  for (std::size_t i = 0; i < values.size(); ++i) raised[i] += correction.dark[i % correction.dark.size()];
  CountOptions options{.background = 44.5, .xray = 200};
  // Every pixel has another dark value; bad pixels are not looked for, as those of 15 among those of 0 are hot.
  EXPECT_EQ(counted_scan(raised, options, correction).list->index, counted_scan(values, options).list->index);
}

TEST(CountResult, SaysWhereElectronsAreTooMany) {
  const CountResult result = counted_scan(noisy_values(in_scan, height, width, 20, 1, 0.06, 6));
  EXPECT_GT(result.merged, 0.15);
  EXPECT_THAT(result.warnings, Contains(HasSubstr("of the electrons are lost, because another one is beside them: too "
                                                  "many in a frame for counting")));
}

TEST(CountResult, SaysWhereNoiseIsCounted) {
  const CountResult result =
      counted_scan(noisy_values(in_scan, height, width, 20, 1, 0.005, 7), {.background_sigma = 2.5});
  EXPECT_THAT(result.warnings, Contains(HasSubstr("noise by itself makes about ")));
  // Rounded noise of 22.5 and more is counted: Q(2.5), of 2928 pixels.
  EXPECT_NEAR(result.false_in_a_frame, 0.00621 * 2928, 2);
}

TEST(CountResult, SaysWhereElectronsAreCutAsXrays) {
  const CountResult result = counted_scan(noisy_values(in_scan, height, width, 20, 1, 0.005, 8), {.xray = 52});
  EXPECT_THAT(result.warnings, Contains(HasSubstr("maxima as electrons are above the x-ray threshold of 52")));
}

TEST(CountResult, MayBeNoElectron) {
  const CountResult result = counted_scan(noisy_values(in_scan, height, width, 20, 1, 0, 9), {.background = 90});
  EXPECT_EQ(result.list->events(), 0);
  EXPECT_EQ(result.merged, 0);
  Value value = result.to_value();
  EXPECT_EQ(to_json(value["status"], -1), R"("no electrons")");
}

TEST(CountResult, OfValuesThatAreNotFiniteIsRefused) {
  std::vector<float> values = noisy_values(in_scan, height, width, 0, 1, 0.01, 2);
  values[700] = std::numeric_limits<float>::quiet_NaN();
  const Dataset dataset = scan_of<float>(values);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)make_count(dataset, {}, {}, plenty()); }),
              HasSubstr("memory: 1 values in good pixels are not finite; expected counts"));
}

/// Electrons of equal rates in each pixel, every one with a deposit of its own, of which those stay that are the
/// largest of their 3 x 3 pixels.
double share_lost(double rate, Index frames, Array& map) {
  constexpr Index rows = 40, cols = 56;
  Random random(11);
  map = Array::zeros(Device::cpu(), {rows, cols}, DType::u64);
  const auto counts = map.view<std::uint64_t, 2>();
  double fallen = 0, stayed = 0;
  for (Index frame = 0; frame < frames; ++frame) {
    std::vector<double> largest(static_cast<std::size_t>(rows * cols));
    for (double& deposit : largest)  // as many as Poisson's distribution has
      for (double left = random.uniform(); left > std::exp(-rate); left *= random.uniform()) {
        deposit = std::max(deposit, random.uniform());
        ++fallen;
      }
    for (Index row = 0; row < rows; ++row)
      for (Index col = 0; col < cols; ++col) {
        const double here = largest[static_cast<std::size_t>(row * cols + col)];
        bool most = here > 0;
        for (Index r = std::max<Index>(row - 1, 0); r <= std::min(row + 1, rows - 1); ++r)
          for (Index c = std::max<Index>(col - 1, 0); c <= std::min(col + 1, cols - 1); ++c)
            most = most && largest[static_cast<std::size_t>(r * cols + c)] <= here;
        counts(row, col) += most ? 1 : 0;
        stayed += most ? 1 : 0;
      }
  }
  return 1 - stayed / fallen;
}

TEST(MergedShare, IsThatOfElectronsBesideLargerOnes) {
  for (const double rate : {0.001, 0.01, 0.03}) {
    SCOPED_TRACE(rate);
    Array map;
    const double lost = share_lost(rate, 400, map);
    // Edges have fewer neighbours: 1/15 of the pixels lose less. The scatter of n electrons of which few are lost: four
    // times the root of those.
    const double fallen = rate * 400 * 40 * 56;
    EXPECT_NEAR(merged_share(map, 400), lost, 0.06 * lost + 4 * std::sqrt(lost / fallen));
  }
}

TEST(CountCorrection, OfAnotherShapeIsRefused) {
  const TemporaryFolder folder;
  write_npy(folder.file("dark.npy"), Array::zeros(Device::cpu(), {width, height}, DType::f32));
  EXPECT_THAT(
      error_of(ErrorKind::bad_file, [&] { (void)read_correction({.dark = folder.file("dark.npy")}, height, width); }),
      HasSubstr("dark.npy: shape (61, 48), the detector has 48 x 61 pixels"));
}

TEST(CountCorrection, ThatIsNotFiniteOrNegativeIsRefused) {
  const TemporaryFolder folder;
  write_npy(folder.file("nan.npy"), Array::from<float>({1, NAN, 2, 3, 4, 5}, {2, 3}));
  write_npy(folder.file("minus.npy"), Array::from<double>({1, 1, -0.5, 1, 1, 1}, {2, 3}));
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_correction({.dark = folder.file("nan.npy")}, 2, 3); }),
              HasSubstr("nan.npy: 1 of 6 pixels are not finite; expected finite values"));
  EXPECT_THAT(error_of(ErrorKind::bad_file,
                       [&] { (void)read_correction({.dark = "", .gain = folder.file("minus.npy")}, 2, 3); }),
              HasSubstr("minus.npy: a gain of -0.5; expected 0 or more, by which counts are multiplied"));
}

TEST(CountCorrection, IsReadAsItIsStored) {
  const TemporaryFolder folder;
  write_npy(folder.file("dark.npy"), Array::from<std::uint16_t>({1, 2, 3, 4, 5, 65535}, {2, 3}));
  const FrameCorrection read = read_correction({.dark = folder.file("dark.npy")}, 2, 3);
  EXPECT_EQ(read.dark, (std::vector<float>{1, 2, 3, 4, 5, 65535}));
  EXPECT_TRUE(read.gain.empty());
}

TEST(CountOptions, WithThresholdsInTheWrongOrderAreRefused) {
  EXPECT_THAT(error_of(ErrorKind::usage, [] { CountOptions{.background = 9, .xray = 8.5}.check(); }),
              HasSubstr("the background threshold (9) is not below the x-ray threshold (8.5)"));
}

}  // namespace
}  // namespace sonde::stem
