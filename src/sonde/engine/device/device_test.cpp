// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/device/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "sonde/engine/device/stream.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;
class DeviceOnEach : public testing::EachDevice {};

TEST(Device, TheCpuIsAlwaysFirst) {
  ASSERT_FALSE(Device::all().empty());
  EXPECT_EQ(Device::all().front(), Device::cpu());
  EXPECT_EQ(Device::cpu().name(), "cpu");
  EXPECT_GE(Device::cpu().info().compute_units, 1);
  EXPECT_GT(Device::cpu().info().memory_bytes, 0u);
}

TEST(Device, AbsenceOfGpusHasAReason) { EXPECT_EQ(Device::all().size() == 1, !Device::why_no_gpu().empty()); }

TEST(Device, AnAbsentGpuIsAnErrorWithAHint) {
  const std::string text = testing::error_of(ErrorKind::device, [] { (void)Device::parse("cuda:99"); });
  EXPECT_THAT(text, HasSubstr("cuda:99"));
  EXPECT_THAT(text, HasSubstr("hint: "));
}

TEST(Device, UnknownNamesAreAUsageError) {
  for (const char* word : {"gpu", "cuda:", "cuda:x", "cuda:-1", ""}) {
    SCOPED_TRACE(word);
    EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { (void)Device::parse(word); }), HasSubstr("unknown device"));
  }
}

TEST(Device, AutomaticChoiceSaysWhy) {
  const auto choice = Device::parse("auto");
  EXPECT_FALSE(choice.because.empty());
}

TEST_P(DeviceOnEach, StreamCopiesThereAndBack) {
  Stream stream(device());
  const std::vector<int> before = {1, 2, 3, 4};
  std::vector<int> after(4);
  stream.copy(after.data(), before.data(), sizeof(int) * 4);
  stream.synchronise();
  EXPECT_EQ(after, before);
}

TEST_P(DeviceOnEach, EventsMeasureTimeForwards) {
  Stream stream(device());
  Event first(device()), second(device());
  first.record(stream);
  second.record(stream);
  EXPECT_GE(second.seconds_since(first), 0.0);
}

INSTANTIATE_EACH_DEVICE(DeviceOnEach);

}  // namespace
}  // namespace sonde
