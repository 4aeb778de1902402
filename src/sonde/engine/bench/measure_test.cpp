// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/bench/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "sonde/engine/base/interrupt.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

TEST(Measure, TheFirstCallIsKeptApart) {
  int calls = 0;
  const auto seconds = [&] { return calls++ == 0 ? 100.0 : 1.0; };
  const Measured measured = measure_in_turns({seconds}, {.least = 5, .most = 5}).front();
  EXPECT_EQ(measured.first_s, 100.0);
  EXPECT_EQ(measured.steady().median, 1.0);
  EXPECT_EQ(measured.steady().samples, 5);
}

TEST(Measure, OperationsTakeTurnsInAlternatingOrder) {
  std::string order;
  (void)measure_in_turns({[&] { return order += 'a', 1.0; }, [&] { return order += 'b', 1.0; }},
                         {.least = 3, .most = 3});
  EXPECT_EQ(order,
            "ab"
            "ab"
            "ba"
            "ab");
}

TEST(Measure, ASteadyOperationIsMeasuredTheFewestTimes) {
  EXPECT_EQ(measure_in_turns({[] { return 1.0; }}, {.least = 7, .most = 1000}).front().samples.size(), 7u);
}

TEST(Measure, ANoisyOperationIsMeasuredMoreOften) {
  int call = 0;
  const auto noisy = [&] { return 1.0 + 0.2 * (++call * 7919 % 101) / 101.0; };
  const auto samples =
      measure_in_turns({noisy}, {.least = 7, .most = 1000, .relative = 0.01, .most_s = 60}).front().samples;
  EXPECT_GT(samples.size(), 20u);
  EXPECT_LT(samples.size(), 1000u);
}

TEST(Measure, TheMostSamplesAreKept) {
  int call = 0;
  const auto wild = [&] { return static_cast<double>(1 + call++ % 9); };
  EXPECT_EQ(measure_in_turns({wild}, {.least = 3, .most = 20, .relative = 0, .most_s = 60}).front().samples.size(),
            20u);
}

TEST(Measure, OperationsWithoutTheirOwnClockAreTimed) {
  const Measured measured = measure([] {}, {.least = 3, .most = 3});
  EXPECT_GE(measured.first_s, 0);
  EXPECT_EQ(measured.samples.size(), 3u);
}

TEST(Measure, AnInterruptEndsTheMeasurement) {
  const auto interrupted = [] {
    request_interrupt(SIGINT);
    return 1.0;
  };
  testing::error_of(ErrorKind::interrupted, [&] { (void)measure_in_turns({interrupted}); });
  clear_interrupt();
}

TEST(HalfSampleMode, FindsTheDenserOfTwoSpeeds) {
  // Seven samples near 1.0, five near 2.0; the mean and a median of pairs would fall between.
  EXPECT_NEAR(half_sample_mode({1.00, 1.01, 2.0, 1.02, 0.99, 2.1, 1.01, 2.2, 1.0, 1.9, 2.05, 1.01}), 1.005, 0.01);
}

TEST(HalfSampleMode, OfOneAndTwoValues) {
  EXPECT_EQ(half_sample_mode({3}), 3);
  EXPECT_EQ(half_sample_mode({3, 5}), 4);
}

}  // namespace
}  // namespace sonde
