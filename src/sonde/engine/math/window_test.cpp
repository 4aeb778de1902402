// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/window.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(HannWindow, CopiesHalfAWindowApartAddUpToOne) {
  const std::vector<double> window = hann_window(12);
  ASSERT_EQ(window.size(), 12u);
  EXPECT_EQ(window[0], 0);
  EXPECT_EQ(window[6], 1);
  for (std::size_t n = 0; n < 6; ++n) EXPECT_NEAR(window[n] + window[n + 6], 1, 4e-16) << n;  // the cosine's rounding
  EXPECT_NEAR(window[2], 0.25, 2e-16);                                                        // (1 - cos 60 deg) / 2
}

TEST(HannWindow, OfNothingIsEmpty) { EXPECT_TRUE(hann_window(0).empty()); }

}  // namespace
}  // namespace sonde
