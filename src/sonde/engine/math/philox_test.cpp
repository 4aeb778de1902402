// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/philox.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

using Block = std::array<std::uint32_t, 4>;

// Known answers published with the authors' Random123 library (examples/kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(UnitInterval, NeverReachesItsEnds) {
  EXPECT_EQ(unit_interval(0, 0), 0x1p-53);
  EXPECT_EQ(unit_interval(~0u, ~0u), 1 - 0x1p-53);
}

}  // namespace
}  // namespace sonde
