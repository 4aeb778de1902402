// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/centre_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/pass/centre_kernels.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "sonde/instruments/stem/pass/pass.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

/// The definition, in whole numbers below 2^63.
struct PlainSums {
  std::int64_t total = 0, moment_row = 0, moment_col = 0, square_row = 0, square_col = 0;
  friend bool operator==(const PlainSums&, const PlainSums&) = default;
};

template <class T>
PlainSums plain_sums(const T* frame, Index rows, Index cols, double above) {
  PlainSums sums;
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col) {
      const T element = frame[row * cols + col];
      if (!(static_cast<double>(element) > above)) continue;
      const auto value = static_cast<std::int64_t>(element);
      const std::int64_t down = row - rows / 2, right = col - cols / 2;
      sums.total += value;
      sums.moment_row += row * value;
      sums.moment_col += col * value;
      sums.square_row += down * down * value;
      sums.square_col += right * right * value;
    }
  return sums;
}

template <class Sum>
PlainSums as_integers(const cpu::CentreSumsOf<Sum>& sums) {
  const auto whole = [](Sum sum) { return static_cast<std::int64_t>(sum); };
  return {whole(sums.total), whole(sums.moment_row), whole(sums.moment_col), whole(sums.square_row),
          whole(sums.square_col)};
}

template <class T>
class CentreKernelOf : public ::testing::Test {};
using Elements = ::testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(CentreKernelOf, Elements);

/// Largest values on both sides of the limits between narrow sums: a type too narrow would wrap.
TYPED_TEST(CentreKernelOf, IsTheDefinitionWithAndWithoutAThreshold) {
  std::mt19937_64 random(5);
  for (const auto& [rows, cols] : {std::pair<Index, Index>{1, 1}, {7, 5}, {19, 131}})
    for (const double largest : {3.0, 255.0, 500.0, 501.0, 60000.0, 32000000.0, 33000000.0}) {
      if (largest > static_cast<double>(std::numeric_limits<TypeParam>::max())) continue;
      std::vector<TypeParam> frame(static_cast<std::size_t>(rows * cols), static_cast<TypeParam>(largest));
      for (TypeParam& value : frame)
        if (random() % 3 == 0) value = static_cast<TypeParam>(static_cast<double>(random() % 1001) / 1000 * largest);
      for (TypeParam& value : frame) value = static_cast<TypeParam>(std::floor(static_cast<double>(value)));
      std::vector<cpu::sum_of<TypeParam>> scratch(static_cast<std::size_t>(cols));
      SCOPED_TRACE(::testing::Message() << rows << " x " << cols << " up to " << largest);
      const auto most = static_cast<TypeParam>(largest), limit = static_cast<TypeParam>(std::floor(largest / 2));
      EXPECT_TRUE(as_integers(cpu::centre_sums(frame.data(), rows, cols, most, nullptr, scratch.data())) ==
                  plain_sums(frame.data(), rows, cols, -1));
      EXPECT_TRUE(as_integers(cpu::centre_sums(frame.data(), rows, cols, most, &limit, scratch.data())) ==
                  plain_sums(frame.data(), rows, cols, static_cast<double>(limit)));
      EXPECT_EQ(cpu::centre_sums(frame.data(), rows, cols, most, &most, scratch.data()).total, 0);
    }
}

constexpr Index lines = 9, steps = 17, frame_rows = 10, frame_cols = 15;

testing::MemorySource<std::uint16_t> source_of_counts() {
  std::mt19937_64 random(8);
  std::vector<std::uint16_t> values(static_cast<std::size_t>(lines * steps * frame_rows * frame_cols));
  for (auto& value : values) value = static_cast<std::uint16_t>(random() % 4 == 0 ? random() % 900 : random() % 6);
  return {lines, steps, frame_rows, frame_cols, std::move(values)};
}

PassSettings pass_over(const Source& source, Index bin) {
  PassSettings settings;
  settings.detector = DetectorGrid::make(frame_rows, frame_cols, bin, Edge::keep);
  settings.scan = ScanGrid::make(source.acquisition(), std::nullopt, 1, Edge::keep);
  settings.mask_bits.assign(static_cast<std::size_t>(frame_rows * frame_cols), 0);
  return settings;
}

std::vector<PlainSums> found_in(Source& source, const PassSettings& settings, std::optional<double> threshold,
                                int threads) {
  CentreSums sums(threshold);
  Operation* const operation = &sums;
  set_thread_count(threads);
  (void)run_pass(source, settings, std::span(&operation, 1));
  set_thread_count(0);
  std::vector<PlainSums> found;
  for (Index i = 0; i < lines * steps; ++i) {
    const auto at = [i](const Array& array) {
      return static_cast<std::int64_t>(static_cast<const std::uint64_t*>(array.data())[i]);
    };
    found.push_back(
        {at(sums.total), at(sums.moment_row), at(sums.moment_col), at(sums.square_row), at(sums.square_col)});
  }
  return found;
}

TEST(CentreSums, AreTheSameForAnyThreadsAndBatches) {
  auto source = source_of_counts();
  for (const Index bin : {1, 2})
    for (const std::optional<double> threshold : {std::optional<double>(), std::optional<double>(4.7)}) {
      PassSettings settings = pass_over(source, bin);
      const std::vector<PlainSums> expected = found_in(source, settings, threshold, 1);
      for (const int threads : {2, 7})
        for (const std::size_t frames : {1, 50}) {
          settings.batch_bytes = frames * static_cast<std::size_t>(frame_rows * frame_cols) * 2;
          EXPECT_TRUE(found_in(source, settings, threshold, threads) == expected);
        }
    }
}

TEST(CentreSums, OfAScanAreTheDefinition) {
  auto source = source_of_counts();
  RawBatch batch;
  source.read(0, lines * steps, batch);
  const auto* stored = reinterpret_cast<const std::uint16_t*>(batch.bytes.data());
  const std::vector<PlainSums> found = found_in(source, pass_over(source, 1), 4.7, 2);
  for (Index i = 0; i < lines * steps; ++i)
    ASSERT_TRUE(found[static_cast<std::size_t>(i)] ==
                plain_sums(stored + i * frame_rows * frame_cols, frame_rows, frame_cols, 4.7))
        << i;
}

/// Three counts at (2, 3) and one at (6, 11): by hand.
TEST(CentreSums, GiveCentresAndTheirErrors) {
  std::vector<std::uint16_t> frame(2 * frame_rows * frame_cols);
  frame[2 * frame_cols + 3] = 3;
  frame[6 * frame_cols + 11] = 1;
  testing::MemorySource<std::uint16_t> source(1, 2, frame_rows, frame_cols, std::move(frame));
  CentreSums sums;
  Operation* const operation = &sums;
  (void)run_pass(source, pass_over(source, 1), std::span(&operation, 1));
  const PatternCentre centre = sums.centre(0), empty = sums.centre(1);
  EXPECT_DOUBLE_EQ(centre.row, 3);
  EXPECT_DOUBLE_EQ(centre.col, 5);
  EXPECT_DOUBLE_EQ(centre.sigma_row, std::sqrt((3.0 * 1 + 9) / 16));
  EXPECT_DOUBLE_EQ(centre.sigma_col, std::sqrt((3.0 * 4 + 36) / 16));
  EXPECT_TRUE(std::isnan(empty.row) && std::isnan(empty.col) && std::isnan(empty.sigma_row) &&
              std::isnan(empty.sigma_col));
}

TEST(CentreSums, RefuseANegativeThreshold) {
  auto source = source_of_counts();
  CentreSums sums(-2);
  Operation* const operation = &sums;
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] { (void)run_pass(source, pass_over(source, 1), std::span(&operation, 1)); }),
              ::testing::HasSubstr("= -2; expected 0 or more"));
}

}  // namespace
}  // namespace sonde::stem
