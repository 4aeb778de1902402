// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/bench/fft_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/support/devices.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

class FftCaseOnEachDevice : public testing::EachDevice {};
INSTANTIATE_EACH_DEVICE(FftCaseOnEachDevice);

TEST_P(FftCaseOnEachDevice, TransformsAPlaneWaveIntoItsPeak) {
  const PreparedCase prepared = fft_bench_case().prepare({.size = "16", .device = device(), .workers = 2});
  ASSERT_EQ(prepared.operations.size(), 2u);
  for (const Operation& operation : prepared.operations) operation.run();
  // Rounding of 8 levels, with room for the tail.
  EXPECT_LT(prepared.operations[0].difference(), 20 * std::numeric_limits<float>::epsilon());
  EXPECT_LT(prepared.operations[1].difference(), 20 * std::numeric_limits<double>::epsilon());
}

TEST(FftCase, CountsItsOperations) {
  const PreparedCase prepared = fft_bench_case().prepare({.size = "64", .device = Device::cpu(), .workers = 1});
  // 2^22 / 64^2 transforms of 5 x 4096 x 12.
  EXPECT_EQ(prepared.operations[0].name, "1024 transforms, f32");
  EXPECT_EQ(prepared.operations[0].flops, 1024.0 * 5 * 4096 * 12);
}

TEST(FftCase, RefusesSizesThatAreNone) {
  for (const char* size : {"", "x", "64M", "4"})
    EXPECT_THAT(testing::error_of(ErrorKind::usage,
                                  [&] { (void)fft_bench_case().prepare({.size = size, .device = Device::cpu()}); }),
                ::testing::HasSubstr("is not a side of 8 to 16384 elements"));
}

}  // namespace
}  // namespace sonde
