// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/device/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/devices.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

class PoolOnEach : public testing::EachDevice {};

TEST_P(PoolOnEach, PoolCountsWhatIsInUse) {
  Pool& pool = Pool::of(device());
  const std::size_t before = pool.in_use_bytes();
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{5} << 20}) {
    void* block = pool.allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0u);
    EXPECT_EQ(pool.in_use_bytes(), before + bytes);
    EXPECT_GE(pool.peak_bytes(), before + bytes);
    pool.deallocate(block, bytes);
    EXPECT_EQ(pool.in_use_bytes(), before);
  }
  pool.release();
  EXPECT_EQ(pool.cached_bytes(), 0u);
}

TEST_P(PoolOnEach, AnImpossibleSizeIsABudgetError) {
  const std::string text =
      testing::error_of(ErrorKind::budget, [&] { (void)Pool::of(device()).allocate(std::size_t{1} << 60); });
  EXPECT_THAT(text, ::testing::HasSubstr("refused"));
}

INSTANTIATE_EACH_DEVICE(PoolOnEach);

}  // namespace
}  // namespace sonde
