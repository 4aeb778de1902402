// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/layout/resident.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/devices.h"

namespace sonde::stem {
namespace {

class ResidentOnEach : public sonde::testing::EachDevice {};

TEST(MakeFrames, AreDense) {
  const Array frames = make_frames(Device::cpu(), 7, 5, 6, DType::u16);
  EXPECT_EQ((frames.shape()), (Shape{7, 5, 6}));
  EXPECT_TRUE(frames.contiguous());
}

TEST(MakePlanes, StartAtMultiplesOfSixtyFourBytes) {
  for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::f32}) {
    SCOPED_TRACE(name(dtype));
    const Array planes = make_planes(Device::cpu(), 70, 5, 6, dtype);
    EXPECT_EQ((planes.shape()), (Shape{30, 70}));
    EXPECT_EQ(static_cast<std::size_t>(planes.stride(0)) * size_bytes(dtype) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(planes.data()) % 64, 0u);
  }
}

TEST(MakePlanes, WithoutPaddingHoldNoMoreThanTheScan) {
  EXPECT_EQ(make_planes(Device::cpu(), 128, 3, 3, DType::u8).allocated_bytes(), 128u * 9);
}

TEST_P(ResidentOnEach, PaddingIsZero) {
  Stream stream(device());
  const Index positions = 70, pixels = 30, pitch = 128;
  const Array planes = make_planes(device(), positions, 5, 6, DType::u8);
  ASSERT_EQ(planes.stride(0), pitch);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(pixels * pitch), 1);
  stream.copy(bytes.data(), planes.data(), bytes.size());
  stream.synchronise();
  for (Index pixel = 0; pixel < pixels; ++pixel)
    for (Index position = positions; position < pitch; ++position)
      ASSERT_EQ(bytes[static_cast<std::size_t>(pixel * pitch + position)], 0) << pixel << " " << position;
}

TEST(MakePlanes, EmptyScanIsEmpty) { EXPECT_EQ(make_planes(Device::cpu(), 0, 5, 6, DType::u8).count(), 0); }

INSTANTIATE_EACH_DEVICE(ResidentOnEach);

}  // namespace
}  // namespace sonde::stem
