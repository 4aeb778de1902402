// SPDX-License-Identifier: Apache-2.0
// How well the orientation of a simulated scan is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sonde/instruments/ptycho/orient/test_orient.h"

namespace sonde::ptycho {
namespace {

using ::testing::HasSubstr;

double apart(double a, double b) { return std::abs(std::remainder(a - b, 2 * std::numbers::pi)); }

TEST_F(FindOrientation, FindsHandednessAndAngle) {
  for (const auto& [transpose, rotation] : {std::pair{false, 25.0}, std::pair{true, -70.0}, std::pair{true, 160.0}}) {
    SCOPED_TRACE(::testing::Message() << rotation << (transpose ? " transposed" : ""));
    const RunFile settings;
    const Orientation found = found_for(scanned(transpose, rotation), {}, settings);
    EXPECT_EQ(found.frames, 144);
    ASSERT_GE(found.trials.size(), 11u);
    EXPECT_EQ(found.best().transpose, transpose);
    // The command promises a degree or two for any scan. Half of one moves the edge of these 10 A by a twentieth of a
    // step, which as many counts tell.
    EXPECT_LT(apart(found.best().rotation, rotation * degree), 0.5 * degree) << found.best().rotation / degree;
    EXPECT_TRUE(found.clear());
    EXPECT_LT((transpose ? found.transposed : found.straight).curl,
              (transpose ? found.straight : found.transposed).curl);
    for (std::size_t i = 1; i < found.trials.size(); ++i)
      EXPECT_LE(found.trials[i - 1].score(), found.trials[i].score());
    EXPECT_THAT(found.run_file_lines(), HasSubstr(transpose ? "transpose = true\n" : "transpose = false\n"));
  }
}

}  // namespace
}  // namespace sonde::ptycho
