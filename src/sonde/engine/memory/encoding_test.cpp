// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/memory/encoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/small_float.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

class EncodingOnEachDevice : public testing::EachDevice {};
INSTANTIATE_EACH_DEVICE(EncodingOnEachDevice);

std::vector<float> any_floats(Index count) {
  std::mt19937 random(3);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    const auto bits = static_cast<std::uint32_t>(random());
    std::memcpy(&value, &bits, sizeof value);
  }
  return values;
}

// The scalar conversions have their own test against the definition of the formats.
TEST_P(EncodingOnEachDevice, StoresEveryFloatLikeTheScalarConversionAndReadsItBack) {
  for (const Index count : {Index{0}, Index{1}, Index{1000}, Index{600001}})
    for (const Encoding encoding : {Encoding::raw, Encoding::bf16, Encoding::fp16}) {
      SCOPED_TRACE(::testing::Message() << name(encoding) << ", " << count);
      Stream stream(device());
      const std::vector<float> values = any_floats(count);
      const Array elements = Array::from(values, {count}).copy_to(device(), stream);
      Array stored(device(), {static_cast<Index>(encoded_bytes(encoding, DType::f32, count))}, DType::u8);
      Array back(device(), {count}, DType::f32);
      encode(stream, encoding, DType::f32, count, elements.data(), stored.data());
      decode(stream, encoding, DType::f32, count, stored.data(), back.data());
      stream.synchronise();
      const Array host = back.copy_to(Device::cpu(), stream);
      std::vector<float> expected = values;
      if (encoding == Encoding::bf16)
        for (float& value : expected) value = from_bf16(to_bf16(value));
      if (encoding == Encoding::fp16)
        for (float& value : expected) value = from_fp16(to_fp16(value));
      // Bits, so that NaN count too.
      const std::size_t bytes = expected.size() * sizeof(float);
      EXPECT_TRUE(bytes == 0 || std::memcmp(host.data(), expected.data(), bytes) == 0);
    }
}

TEST(Encoding, AComplexNumberIsItsTwoParts) {
  EXPECT_EQ(encoded_bytes(Encoding::raw, DType::c64, 3), 24u);
  EXPECT_EQ(encoded_bytes(Encoding::bf16, DType::c64, 3), 12u);
  const complex64 value(1.001f, -3.14159f);
  std::uint16_t stored[2] = {};
  Stream stream;
  encode(stream, Encoding::fp16, DType::c64, 1, &value, stored);
  EXPECT_EQ(stored[0], to_fp16(1.001f));
  EXPECT_EQ(stored[1], to_fp16(-3.14159f));
}

TEST(Encoding, OtherTypesHaveNoShortForm) {
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [] { (void)encoded_bytes(Encoding::bf16, DType::f64, 1); }),
              ::testing::HasSubstr("bf16 stores f32 and c64, not f64"));
  EXPECT_EQ(encoded_bytes(Encoding::raw, DType::u16, 5), 10u);
}

}  // namespace
}  // namespace sonde
