// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/panels.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde::separate {
namespace {

struct Sizes {
  Index rows, inner, columns;
};
class PanelProduct : public ::testing::TestWithParam<Sizes> {};

/// Whole numbers up to four, so that every sum is exact.
std::vector<float> small_numbers(Index count, Index step) {
  std::vector<float> numbers;
  for (Index i = 0; i < count; ++i) numbers.push_back(static_cast<float>(i * step % 9 - 4));
  return numbers;
}

TEST_P(PanelProduct, IsThatOfThreeLoops) {
  const auto [rows, inner, columns] = GetParam();
  const auto a = small_numbers(rows * inner, 7), b = small_numbers(inner * columns, 5);
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  const MatrixPlaces places = in_panels(inner, columns);
  std::vector<float> panels(at(places.count));
  for (Index k = 0; k < inner; ++k) {
    for (Index j = 0; j < columns; ++j) panels[at(places.of(k, j))] = b[at(k * columns + j)];
  }
  std::vector<float> c(at(rows * columns), 3), expected = c;
  for (const bool add : {false, true}) {
    SCOPED_TRACE(add);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) {
        float sum = add ? expected[at(i * columns + j)] : 0;
        for (Index k = 0; k < inner; ++k) sum += a[at(i * inner + k)] * b[at(k * columns + j)];
        expected[at(i * columns + j)] = sum;
      }
    }
    multiply({a.data(), rows, inner},
             {.first = panels.data(), .rows = inner, .columns = columns, .apart = places.panel}, add,
             {c.data(), rows, columns});
    EXPECT_EQ(c, expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, PanelProduct,
                         ::testing::Values(Sizes{1, 1, 1}, Sizes{12, 3, 32}, Sizes{13, 256, 33}, Sizes{7, 257, 80},
                                           Sizes{64, 300, 64}, Sizes{25, 513, 31}));

}  // namespace
}  // namespace sonde::separate
