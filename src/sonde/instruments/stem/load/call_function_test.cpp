// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/call_function.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/pass/memory_source.h"
#include "tests/support/budget.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using stem::testing::MemorySource;
using ::testing::HasSubstr;

constexpr Index called_lines = 17, called_steps = 19, called_rows = 6, called_cols = 9;

std::vector<std::uint16_t> called_counts() {
  std::mt19937_64 random(8);
  std::vector<std::uint16_t> values(static_cast<std::size_t>(called_lines * called_steps * called_rows * called_cols));
  for (auto& value : values) value = static_cast<std::uint16_t>(random() % 300);
  return values;
}

Dataset called_scan(LoadOptions options = {}) {
  options.hot_pixels = BadPixelAction::none;
  return load(std::make_unique<MemorySource<std::uint16_t>>(called_lines, called_steps, called_rows, called_cols,
                                                            called_counts()),
              options, sonde::testing::plenty());
}

/// Sum and row moment of each pattern of T, which it writes over: the patterns are its own.
template <class T>
int sum_and_moment(void* patterns, const std::int64_t* positions, std::int64_t count, std::int64_t rows,
                   std::int64_t cols, double* values) {
  auto* element = static_cast<T*>(patterns);
  for (std::int64_t k = 0; k < count; ++k) {
    if (positions[k] < 0 || positions[k] >= called_lines * called_steps) return 2;
    double sum = 0, moment = 0;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t col = 0; col < cols; ++col, ++element) {
        sum += static_cast<double>(*element);
        moment += static_cast<double>(row) * static_cast<double>(*element);
        *element = 7;
      }
    values[2 * k] = sum;
    values[2 * k + 1] = moment;
  }
  return 0;
}

TEST(CallFunction, GetsEveryPatternOnceInEveryLayout) {
  const std::vector<std::uint16_t> stored = called_counts();
  for (const LayoutChoice layout : {LayoutChoice::file, LayoutChoice::frame, LayoutChoice::pixel})
    for (const int threads : {1, 2, 7}) {
      SCOPED_TRACE(::testing::Message() << threads << " threads");
      LoadOptions options;
      options.layout = layout;
      const Dataset dataset = called_scan(options);
      set_thread_count(threads);
      const Array found = call_function(dataset, sum_and_moment<std::uint16_t>, DType::u16, 2);
      set_thread_count(0);
      ASSERT_EQ(found.shape(), (Shape{called_lines, called_steps, 2}));
      const View<const double, 3> values = found.view<double, 3>();
      const std::uint16_t* element = stored.data();
      for (Index line = 0; line < called_lines; ++line)
        for (Index step = 0; step < called_steps; ++step) {
          double sum = 0, moment = 0;
          for (Index row = 0; row < called_rows; ++row)
            for (Index col = 0; col < called_cols; ++col, ++element) {
              sum += *element;
              moment += static_cast<double>(row) * *element;
            }
          ASSERT_EQ(values(line, step, 0), sum);
          ASSERT_EQ(values(line, step, 1), moment);
        }
    }
}

TEST(CallFunction, MeansOfBinsAreTheDataSets) {
  LoadOptions options;
  options.det_bin = "2";
  options.bin_mode = BinMode::mean;
  options.layout = LayoutChoice::frame;
  const Dataset dataset = called_scan(options);
  ASSERT_EQ(dataset.dtype(), DType::f32);
  ASSERT_EQ(dataset.shape(), (Shape{called_lines, called_steps, 3, 5}));
  const Array found = call_function(dataset, sum_and_moment<float>, DType::f32, 2);
  const View<const double, 3> values = found.view<double, 3>();
  for (Index position = 0; position < dataset.positions(); ++position) {
    const auto* element = static_cast<const float*>(dataset.array().data()) + position * 3 * 5;
    double sum = 0;
    for (Index i = 0; i < 3 * 5; ++i) sum += element[i];
    ASSERT_EQ(values(position / called_steps, position % called_steps, 0), sum);
  }
}

TEST(CallFunction, ValuesThatItDoesNotWriteAreMissing) {
  const Array found = call_function(
      called_scan(),
      [](void*, const std::int64_t* positions, std::int64_t count, std::int64_t, std::int64_t, double* values) {
        for (std::int64_t k = 0; k < count; ++k)
          if (positions[k] % 2 == 0) values[k] = 1;
        return 0;
      },
      DType::u32, 1);
  const View<const double, 3> values = found.view<double, 3>();
  for (Index position = 0; position < called_lines * called_steps; ++position)
    ASSERT_EQ(std::isnan(values(position / called_steps, position % called_steps, 0)), position % 2 == 1);
}

TEST(CallFunction, ThatFailsEndsThePassAndSaysWhere) {
  const Dataset dataset = called_scan();
  set_thread_count(1);
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] {
                                         (void)call_function(
                                             dataset,
                                             [](void*, const std::int64_t* positions, std::int64_t, std::int64_t,
                                                std::int64_t, double*) { return positions[0] == 0 ? 0 : 5; },
                                             DType::f32, 1);
                                       }),
              HasSubstr("the function returned 5 for "));
  set_thread_count(0);
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::bad_input,
                               [&] { (void)call_function(dataset, sum_and_moment<std::uint8_t>, DType::u8, 2); }),
      HasSubstr("the function takes patterns of u8, but the data set has elements of u16"));
  EXPECT_THAT(
      sonde::testing::error_of(ErrorKind::bad_input,
                               [&] { (void)call_function(dataset, sum_and_moment<std::uint16_t>, DType::u16, 0); }),
      HasSubstr("0 values of each pattern; expected 1 or more"));
}

}  // namespace
}  // namespace sonde::stem
