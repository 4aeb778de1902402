// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/frame_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace sonde::stem::cpu {
namespace {

/// Every kernel of every instruction set against one plain loop here.
template <class T>
class FrameKernelsOf : public ::testing::Test {
 protected:
  static std::vector<T> random(Index n, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<T> values(static_cast<std::size_t>(n));
    const double most = std::min<double>(static_cast<double>(std::numeric_limits<T>::max()), 70000);
    for (T& value : values)
      value = static_cast<T>(random() % 4 == 0 ? std::floor(most * static_cast<double>(random() % 1000) / 999.0)
                                               : double(random() % 5));
    return values;
  }
};

using Types = ::testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(FrameKernelsOf, Types);

TYPED_TEST(FrameKernelsOf, MomentsAreThePlainSums) {
  for (int level = 0; level <= frame_kernel_level(); ++level)
    for (const auto& [rows, cols] : {std::pair<Index, Index>{1, 1}, {7, 5}, {33, 64}, {19, 131}}) {
      SCOPED_TRACE(::testing::Message() << "level " << level << " " << rows << " x " << cols);
      const auto frame = TestFixture::random(rows * cols, 1);
      std::vector<sum_of<TypeParam>> scratch(static_cast<std::size_t>(cols));
      const TypeParam most = *std::max_element(frame.begin(), frame.end());
      const auto sums = frame_kernels<TypeParam>(level).moments(frame.data(), rows, cols, most, scratch.data());
      double total = 0, moment_row = 0, moment_col = 0;  // whole numbers below 2^53: exact in any order
      for (Index row = 0; row < rows; ++row)
        for (Index col = 0; col < cols; ++col) {
          const double value = static_cast<double>(frame[static_cast<std::size_t>(row * cols + col)]);
          total += value;
          moment_row += static_cast<double>(row) * value;
          moment_col += static_cast<double>(col) * value;
        }
      EXPECT_EQ(static_cast<double>(sums.total), total);
      EXPECT_EQ(static_cast<double>(sums.moment_row), moment_row);
      EXPECT_EQ(static_cast<double>(sums.moment_col), moment_col);
    }
}

TYPED_TEST(FrameKernelsOf, StatisticsOfAGroupAreThoseOfItsFrames) {
  for (int level = 0; level <= frame_kernel_level(); ++level)
    for (const int count : {1, 3, 8}) {
      SCOPED_TRACE(::testing::Message() << "level " << level << " frames " << count);
      constexpr Index n = 101;
      const auto frames = TestFixture::random(count * n, 2);
      std::vector<sum_of<TypeParam>> sum(n, 1), sum_alone(n, 1);
      std::vector<TypeParam> largest(n, 2);
      std::vector<std::uint32_t> nonzero(n, 3);
      frame_kernels<TypeParam>(level).add_statistics(frames.data(), count, n,
                                                     *std::max_element(frames.begin(), frames.end()), sum.data(),
                                                     largest.data(), nonzero.data());
      frame_kernels<TypeParam>(level).add_sum(frames.data(), count, n, sum_alone.data());
      for (std::size_t i = 0; i < n; ++i) {
        sum_of<TypeParam> expected = 1;
        TypeParam most = 2;
        std::uint32_t hits = 3;
        for (int k = 0; k < count; ++k) {
          const TypeParam value = frames[static_cast<std::size_t>(k) * n + i];
          expected += value;
          most = std::max(most, value);
          hits += value != 0 ? 1 : 0;
        }
        EXPECT_EQ(sum[i], expected);
        EXPECT_EQ(sum_alone[i], expected);
        EXPECT_EQ(largest[i], most);
        EXPECT_EQ(nonzero[i], hits);
      }
    }
}

TYPED_TEST(FrameKernelsOf, BinsAreTheSumsOfTheirPixels) {
  for (int level = 0; level <= frame_kernel_level(); ++level)
    for (Index bin = 1; bin <= 9; ++bin)
      for (const bool keep : {true, false}) {
        constexpr Index rows = 21, cols = 37;
        const Index out_rows = keep ? (rows + bin - 1) / bin : rows / bin,
                    out_cols = keep ? (cols + bin - 1) / bin : cols / bin;
        SCOPED_TRACE(::testing::Message() << "level " << level << " bin " << bin << " keep " << keep);
        const auto frame = TestFixture::random(rows * cols, 3);
        const TypeParam largest = *std::max_element(frame.begin(), frame.end());
        std::vector<sum_of<TypeParam>> expected(static_cast<std::size_t>(out_rows * out_cols)), wide(expected.size());
        std::vector<std::uint32_t> narrow(expected.size());
        for (Index row = 0; row < rows; ++row)
          for (Index col = 0; col < cols; ++col)
            if (row / bin < out_rows && col / bin < out_cols)
              expected[static_cast<std::size_t>(row / bin * out_cols + col / bin)] +=
                  frame[static_cast<std::size_t>(row * cols + col)];
        EXPECT_EQ(frame_kernels<TypeParam>(level).bin_add_wide(frame.data(), rows, cols, bin, out_rows, out_cols,
                                                               wide.data()),
                  largest);
        EXPECT_EQ(wide, expected);
        EXPECT_EQ(frame_kernels<TypeParam>(level).bin_add_u32(frame.data(), rows, cols, bin, out_rows, out_cols,
                                                              narrow.data()),
                  largest);
        for (std::size_t i = 0; i < expected.size(); ++i)
          EXPECT_EQ(static_cast<sum_of<TypeParam>>(narrow[i]), expected[i]);
      }
}

TYPED_TEST(FrameKernelsOf, StoringClipsAndTellsTheLargest) {
  for (int level = 0; level <= frame_kernel_level(); ++level) {
    SCOPED_TRACE(level);
    const auto frame = TestFixture::random(1000, 4);
    const TypeParam largest = *std::max_element(frame.begin(), frame.end());
    std::vector<std::uint8_t> narrow(frame.size());
    EXPECT_EQ(frame_kernels<TypeParam>(level).largest(frame.data(), 1000), largest);
    EXPECT_EQ(frame_kernels<TypeParam>(level).store_u8(frame.data(), 1000, narrow.data()), largest);
    std::vector<float> real(frame.size());
    EXPECT_EQ(frame_kernels<TypeParam>(level).store_f32(frame.data(), 1000, real.data()), largest);
    Index above = 0;
    for (std::size_t i = 0; i < frame.size(); ++i) {
      EXPECT_EQ(narrow[i], static_cast<std::uint8_t>(std::min(static_cast<double>(frame[i]), 255.0)));
      EXPECT_EQ(real[i], static_cast<float>(frame[i]));
      above += frame[i] > TypeParam(100) ? 1 : 0;
    }
    EXPECT_EQ(frame_kernels<TypeParam>(level).count_above(frame.data(), 1000, TypeParam(100)), above);
  }
}

/// Frames of one value at the limits between lane widths: a lane too narrow would wrap.
TEST(FrameKernels, LanesHoldTheirLargestSums) {
  constexpr Index rows = 5, cols = 64;
  for (int level = 0; level <= frame_kernel_level(); ++level)
    for (const std::uint32_t value : {1023u, 1024u, 16383u, 16384u, 65535u}) {
      SCOPED_TRACE(::testing::Message() << "level " << level << " value " << value);
      const std::vector<std::uint16_t> frames(8 * rows * cols, static_cast<std::uint16_t>(value));
      std::vector<std::uint64_t> sum(rows * cols), scratch(cols);
      std::vector<std::uint16_t> largest(rows * cols);
      std::vector<std::uint32_t> nonzero(rows * cols);
      const auto& kernels = frame_kernels<std::uint16_t>(level);
      kernels.add_statistics(frames.data(), 8, rows * cols, frames[0], sum.data(), largest.data(), nonzero.data());
      EXPECT_EQ(sum[7], 8u * value);
      EXPECT_EQ(nonzero[7], 8u);
      EXPECT_EQ(kernels.moments(frames.data(), rows, cols, frames[0], scratch.data()).total, value * rows * cols);
    }
  for (const std::uint32_t value : {1023u, 1024u, 67108863u, 67108864u, 1073741823u, 1073741824u, 4294967295u}) {
    SCOPED_TRACE(value);
    const std::vector<std::uint32_t> frames(8 * rows * cols, value);
    std::vector<std::uint64_t> sum(rows * cols), scratch(cols);
    std::vector<std::uint32_t> largest(rows * cols), nonzero(rows * cols);
    const auto& kernels = frame_kernels<std::uint32_t>();
    kernels.add_statistics(frames.data(), 8, rows * cols, value, sum.data(), largest.data(), nonzero.data());
    EXPECT_EQ(sum[7], std::uint64_t{8} * value);
    EXPECT_EQ(kernels.moments(frames.data(), rows, cols, value, scratch.data()).total,
              std::uint64_t{value} * rows * cols);
  }
}

TEST(FrameKernels, SentinelsAreZeroedAndCountedPerPixel) {
  for (int level = 0; level <= frame_kernel_level(); ++level) {
    std::vector<std::uint16_t> frame(300, 7);
    frame[0] = frame[150] = frame[299] = 65535;
    std::vector<std::uint32_t> per_pixel(300);
    EXPECT_EQ(frame_kernels<std::uint16_t>(level).clear_sentinels(frame.data(), 300, 65535, per_pixel.data()), 3);
    EXPECT_EQ(frame[0] + frame[150] + frame[299], 0);
    EXPECT_EQ(per_pixel[0] + per_pixel[150] + per_pixel[299], 3u);
    EXPECT_EQ(per_pixel[1], 0u);
    EXPECT_EQ(frame[1], 7);
  }
}

TEST(FrameKernels, NotANumberIsNoData) {
  std::vector<float> frame = {1.0f, std::numeric_limits<float>::quiet_NaN()};
  std::vector<std::uint32_t> per_pixel(2);
  EXPECT_EQ(frame_kernels<float>().clear_sentinels(frame.data(), 2, 0.0f, per_pixel.data()), 1);
  EXPECT_EQ(frame[1], 0.0f);
}

}  // namespace
}  // namespace sonde::stem::cpu
