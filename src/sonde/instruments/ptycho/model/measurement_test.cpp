// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/model/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/errors.h"

namespace sonde::ptycho {
namespace {

using ::sonde::testing::error_of;
using ::testing::HasSubstr;

/// 3 frames of 5 x 4 pixels, every count another.
Array counted() {
  Array frames(Device::cpu(), Shape{3, 5, 4}, DType::u16);
  for (Index i = 0; i < frames.count(); ++i)
    frames.view<std::uint16_t, 3>().data[i] = static_cast<std::uint16_t>(i * i);
  return frames;
}

TEST(Measurement, EveryStorageGivesTheRootsOfTheCountsWithTheZeroFrequencyFirst) {
  const Array frames = counted();
  // Half a unit in the last place: 2^-24, 2^-11 and 2^-8 at worst of the significands of 24, 11 and 8 bits.
  for (const auto& [storage, relative] : {std::pair{AmplitudeStorage::f64, 0.0},
                                          {AmplitudeStorage::f32, 0x1p-24},
                                          {AmplitudeStorage::f16, 0x1p-11},
                                          {AmplitudeStorage::bf16, 0x1p-8},
                                          {AmplitudeStorage::counts, 1e-15}}) {
    const Measurement measurement(frames, ZeroFrequency::centre, {}, storage);
    std::vector<double> room(20);
    for (Index j = 0; j < 3; ++j) {
      const double* amplitudes = measurement.amplitudes<double>(j, room.data());
      for (Index r = 0; r < 5; ++r)
        for (Index c = 0; c < 4; ++c) {
          // Index floor(N / 2) of the file is index 0 here.
          const double root = std::sqrt(frames.view<std::uint16_t, 3>()(j, (r + 2) % 5, (c + 2) % 4));
          EXPECT_NEAR(amplitudes[r * 4 + c], root, relative * root);
        }
    }
  }
}

TEST(Measurement, BadCountsAreNamedUnlessTheyAreMasked) {
  Array frames(Device::cpu(), Shape{2, 3, 3}, DType::f32);
  std::fill_n(frames.view<float, 3>().data, 18, 1.0f);
  frames.view<float, 3>()(1, 2, 0) = -1;
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] { (void)Measurement(frames, ZeroFrequency::corner, {}, AmplitudeStorage::f32); }),
              HasSubstr("1 measured pixels are negative or not finite, first frame 1, row 2, column 0"));
  std::vector<std::uint8_t> mask(9, 1);
  mask[6] = 0;
  EXPECT_EQ(Measurement(frames, ZeroFrequency::corner, mask, AmplitudeStorage::f32).mean_counts(), 8);
  frames.view<float, 3>()(0, 0, 0) = 1e10f;
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] { (void)Measurement(frames, ZeroFrequency::corner, mask, AmplitudeStorage::f16); }),
              HasSubstr("too many for f16"));
}

}  // namespace
}  // namespace sonde::ptycho
