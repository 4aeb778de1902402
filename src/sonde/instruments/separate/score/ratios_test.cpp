// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/score/ratios.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace sonde::separate {
namespace {

using Samples = std::vector<float>;

View<const float, 2> stereo(const Samples& samples) {
  return {samples.data(), 2, static_cast<Index>(samples.size()) / 2};
}

TEST(Sdr, OfATenthAsError) {
  const Samples truth(1000, 1.0F), estimate(1000, 0.9F);
  EXPECT_NEAR(sdr_db(stereo(truth), stereo(estimate)), 20, 1e-5);  // 0.9 is rounded to 24 bits
}

TEST(Sdr, OfSilenceIsZero) { EXPECT_EQ(sdr_db(stereo(Samples(8)), stereo(Samples(8))), 0); }

TEST(SiSdr, DoesNotDependOnTheLoudness) {
  // Error and stem are orthogonal: a = 3, and the ratio is 9 |s|^2 / |error|^2.
  const Samples truth{1, -1, 1, -1}, estimate{3.3F, -2.7F, 3.3F, -2.7F};
  EXPECT_NEAR(si_sdr_db(stereo(truth), stereo(estimate)), 20, 1e-5);
}

TEST(SiSdr, OfSilence) {
  const Samples truth{1, 2, 3, 4}, silence(4);
  EXPECT_TRUE(std::isnan(si_sdr_db(stereo(silence), stereo(truth))));
  EXPECT_EQ(si_sdr_db(stereo(truth), stereo(silence)), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(si_sdr_db(stereo(truth), stereo(truth)), std::numeric_limits<double>::infinity());
}

TEST(ScoreFrames, AreFullOrTheWholeSignal) {
  const Frames frames{.window = 4, .hop = 3};
  EXPECT_EQ(frames.count(3), 1);
  EXPECT_EQ(frames.count(6), 1);
  EXPECT_EQ(frames.count(7), 2);
  EXPECT_EQ(frames.count(9), 2);
  EXPECT_EQ(frames.count(10), 3);
  const Samples samples(20);
  EXPECT_EQ(frames.part(stereo(samples), 2).data, samples.data() + 6);
  EXPECT_EQ(frames.part(stereo(samples), 2).extent[1], 4);
}

TEST(FramewiseSdr, IsNoNumberWhereTheStemIsSilent) {
  const Samples truth{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}, estimate{1, 1, 0.9F, 0.9F, 2, 2, 1, 1, 0.9F, 0.9F, 2, 2};
  const std::vector<double> found = framewise_sdr_db(stereo(truth), stereo(estimate), {.window = 2, .hop = 2});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_TRUE(std::isnan(found[0]));
  EXPECT_NEAR(found[1], 20, 1e-4);
  EXPECT_GT(found[2], 90);
}

TEST(Median, LeavesOutWhatIsNoNumber) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(median_of_numbers({none, 3, 1, 2}), 2);
  EXPECT_EQ(median_of_numbers({4, 1, none, 2, 3}), 2.5);
  EXPECT_TRUE(std::isnan(median_of_numbers({none})));
}

}  // namespace
}  // namespace sonde::separate
