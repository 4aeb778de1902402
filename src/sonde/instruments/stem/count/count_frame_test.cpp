// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/count/count_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "sonde/engine/math/random.h"
#include "sonde/instruments/stem/count/test_counting.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using testing::counted_by_definition;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <class T>
std::vector<std::uint32_t> count(const CountRule& rule, const std::vector<T>& frame, Index* xrays = nullptr) {
  CountRule::Scratch scratch(rule);
  std::vector<std::uint32_t> events;
  const double largest = static_cast<double>(*std::max_element(frame.begin(), frame.end()));
  const Index found = rule.count(frame.data(), largest, scratch, events);
  if (xrays != nullptr) *xrays = found;
  return events;
}

/// The electrons of a small frame without correction, above 4.
template <class T = std::uint16_t>
std::vector<std::uint32_t> count(Index rows, Index cols, const std::vector<T>& frame) {
  return count(CountRule(rows, cols, {}, {.background = 4}), frame);
}

TEST(CountFrame, FindsThePeakOfACloud) {
  EXPECT_THAT(count(4, 5, {0, 1, 0,  2, 0,  //
                           3, 9, 30, 6, 1,  //
                           0, 5, 11, 5, 0,  //
                           0, 0, 1,  0, 2}),
              ElementsAre(7));
}

TEST(CountFrame, CountsAPlateauOfTwoOnce) {
  EXPECT_THAT(count(3, 4, {0, 0, 0, 0, 0, 9, 9, 0, 0, 0, 0, 0}), ElementsAre(5));  // beside each other
  EXPECT_THAT(count(3, 4, {0, 9, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0}), ElementsAre(1));  // one below the other
  EXPECT_THAT(count(3, 4, {9, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0}), ElementsAre(0));  // falling
  EXPECT_THAT(count(3, 4, {0, 0, 9, 0, 0, 9, 0, 0, 0, 0, 0, 0}), ElementsAre(5));  // rising
}

TEST(CountFrame, CountsAPlateauOfTwoOnceAtEveryEdge) {
  EXPECT_THAT(count(3, 4, {9, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), ElementsAre(0));
  EXPECT_THAT(count(3, 4, {9, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0}), ElementsAre(0));
  EXPECT_THAT(count(3, 4, {0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 9}), ElementsAre(7));
  EXPECT_THAT(count(3, 4, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 9}), ElementsAre(10));
  EXPECT_THAT(count(3, 4, {0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 9, 0}), ElementsAre(10));
}

TEST(CountFrame, UsesTheNeighboursThatExist) {
  EXPECT_THAT(count(3, 4, {8, 0, 0, 7, 0, 0, 0, 0, 6, 0, 0, 5}), ElementsAre(0, 3, 8, 11));
  EXPECT_THAT(count(1, 6, {5, 0, 7, 6, 0, 9}), ElementsAre(0, 2, 5));
  EXPECT_THAT(count(6, 1, {5, 0, 7, 6, 0, 9}), ElementsAre(0, 2, 5));
  EXPECT_THAT(count(1, 1, {5}), ElementsAre(0));
  EXPECT_THAT(count(1, 1, {4}), IsEmpty());
}

TEST(CountFrame, AnElectronIsBetweenTheThresholds) {
  const std::vector<std::uint16_t> frame = {4, 0, 5, 0, 19, 0, 20, 0, 21};
  Index xrays = 0;
  EXPECT_THAT(count(CountRule(1, 9, {}, {.background = 4, .xray = 20}), frame, &xrays), ElementsAre(2, 4));
  EXPECT_EQ(xrays, 2);
  EXPECT_THAT(count(CountRule(1, 9, {}, {.background = 4.5, .xray = 20.5}), frame, &xrays), ElementsAre(2, 4, 6));
  EXPECT_EQ(xrays, 1);
  EXPECT_THAT(count(CountRule(1, 9, {}, {.background = 21}), frame), IsEmpty());
}

TEST(CountFrame, ThresholdsThatSinglePrecisionRoundsAreKept) {
  const float above = std::nextafter(0.1F, 1.0F);  // 0.1F is above 0.1 itself
  const std::vector<float> frame = {0.1F, 0, above, 0, 0.3F};
  EXPECT_THAT(count(CountRule(1, 5, {}, {.background = 0.1}), frame), ElementsAre(0, 2, 4));
  EXPECT_THAT(count(CountRule(1, 5, {}, {.background = static_cast<double>(0.1F)}), frame), ElementsAre(2, 4));
}

TEST(CountFrame, SubtractsDarkWithoutWrappingAround) {
  const CountRule rule(1, 4, {.dark = {10, 10, 10, 10}, .gain = {}, .good = {}}, {.background = 4});
  EXPECT_THAT(count<std::uint16_t>(rule, {3, 0, 16, 9}), ElementsAre(2));
}

TEST(CountFrame, ABadPixelIsNeitherAnElectronNorAboveOne) {
  const FrameCorrection bad{.dark = {-50, 0, 0, 0}, .gain = {}, .good = {0, 1, 1, 1}};
  EXPECT_THAT(count<std::uint16_t>(CountRule(1, 4, bad, {.background = 4}), {0, 7, 0, 0}), ElementsAre(1));
  const FrameCorrection plain{.dark = {}, .gain = {}, .good = {0, 1, 1, 1}};
  EXPECT_THAT(count<float>(CountRule(1, 4, plain, {.background = -3}), {0, -1, -5, -2}), ElementsAre(1, 3));
}

TEST(CountFrame, OfAnotherSizeIsRefused) {
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [] {
                         (void)CountRule(2, 3, {.dark = {1, 2, 3, 4}, .gain = {}, .good = {}}, {});
                       }),
              HasSubstr("a dark image of 4 pixels, but frames of 2 x 3"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)CountRule(2, 3, {.dark = {}, .gain = {1}, .good = {}}, {}); }),
              HasSubstr("a gain image of 1 pixels, but frames of 2 x 3"));
}

/// Shapes, of which few are a multiple of what the processor takes at once; many plateaus, as values are few.
struct Drawn {
  Index rows, cols;
  std::uint64_t seed;
};

class CountFrameOf : public ::testing::TestWithParam<Drawn> {
 protected:
  template <class T>
  std::vector<T> draw(Index values) const {
    const auto& [rows, cols, seed] = GetParam();
    Random random(seed);
    std::vector<T> frame(static_cast<std::size_t>(rows * cols));
    for (T& value : frame) value = static_cast<T>(random.below(values));
    return frame;
  }
  template <class T>
  void expect_equal(const std::vector<T>& frame, const FrameCorrection& correction, const CountLimits& limits) const {
    const auto& [rows, cols, seed] = GetParam();
    const auto expected = counted_by_definition(frame, rows, cols, correction, limits);
    EXPECT_EQ(count(CountRule(rows, cols, correction, limits), frame), expected);
    EXPECT_GE(expected.size(), frame.size() / 100);  // else the test shows nothing
  }
};

TEST_P(CountFrameOf, BytesEqualsTheDefinition) {
  expect_equal(draw<std::uint8_t>(12), {}, {.background = 7.5, .xray = 11});
}
TEST_P(CountFrameOf, ShortsEqualsTheDefinition) {
  expect_equal(draw<std::uint16_t>(12), {}, {.background = 7, .xray = 11});
}
TEST_P(CountFrameOf, WordsEqualsTheDefinition) {
  expect_equal(draw<std::uint32_t>(12), {}, {.background = 7, .xray = 11});
}
TEST_P(CountFrameOf, FloatsEqualsTheDefinition) { expect_equal(draw<float>(12), {}, {.background = 6.3, .xray = 11}); }
TEST_P(CountFrameOf, LargeWordsEqualsTheDefinition) {
  auto frame = draw<std::uint32_t>(200);  // in single precision neighbours of 2^32 are 256 apart
  for (auto& value : frame) value = 4294900000U + 300 * value;
  expect_equal(frame, {}, {.background = 4294940000.0, .xray = 4294959000.0});
}
TEST_P(CountFrameOf, CorrectedShortsEqualsTheDefinition) {
  const auto& [rows, cols, seed] = GetParam();
  Random random(seed, 1);
  FrameCorrection correction;
  for (Index i = 0; i < rows * cols; ++i) {
    correction.dark.push_back(static_cast<float>(20 + random.normal()));
    correction.gain.push_back(static_cast<float>(1 + 0.1 * random.normal()));
    correction.good.push_back(random.below(20) == 0 ? 0 : 1);
  }
  auto frame = draw<std::uint16_t>(60);
  for (std::size_t i = 0; i < frame.size(); ++i)
    if (correction.good[i] == 0) frame[i] = 0;
  expect_equal(frame, correction, {.background = 5.25, .xray = 36});
}

INSTANTIATE_TEST_SUITE_P(Shapes, CountFrameOf,
                         ::testing::Values(Drawn{1, 1, 1}, Drawn{1, 40, 2}, Drawn{33, 1, 3}, Drawn{2, 2, 4},
                                           Drawn{7, 64, 5}, Drawn{64, 67, 6}, Drawn{31, 129, 7}, Drawn{100, 36, 8},
                                           Drawn{13, 200, 9}, Drawn{57, 95, 10}));

}  // namespace
}  // namespace sonde::stem
