// SPDX-License-Identifier: Apache-2.0
// Transforms of real patterns against the sum that defines them.
#include "sonde/instruments/stem/bragg/pattern_transform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace sonde::stem {
namespace {

struct Extents {
  Index rows, cols;
};

class PatternTransformOf : public ::testing::TestWithParam<Extents> {
 protected:
  PatternTransformOf() {
    std::mt19937_64 random(static_cast<std::uint64_t>(rows * 1000 + cols));
    for (Index i = 0; i < rows * cols; ++i) pattern.push_back(static_cast<float>(random() % 100));
  }

  [[nodiscard]] Complexes packed() const {
    Complexes data(static_cast<std::size_t>(transform.elements()));
    for (Index i = 0; i < rows * cols; ++i) {
      const float value = pattern[static_cast<std::size_t>(i)];
      if (transform.packed()) {
        auto& element = data[static_cast<std::size_t>(i / 2)];
        element = i % 2 == 0 ? std::complex<float>(value, 0) : std::complex<float>(element.real(), value);
      } else {
        data[static_cast<std::size_t>(i)] = value;
      }
    }
    return data;
  }

  const Index rows = GetParam().rows, cols = GetParam().cols;
  const PatternTransform transform{rows, cols};
  std::vector<float> pattern;
};

TEST_P(PatternTransformOf, IsTheSumThatDefinesIt) {
  Complexes data = packed(), half(static_cast<std::size_t>(rows * transform.half()));
  transform.forward(data.data());
  transform.unpack(data.data(), half.data());
  // Rounding of a transform: eps log2(N) of the root of the sum of squares, which is at most 100 sqrt(N).
  const auto n = static_cast<double>(rows * cols);
  const double tolerance = 4 * 6e-8 * std::log2(n) * 100 * std::sqrt(n);
  for (const Index k : {Index{0}, Index{1}, rows / 2, rows - 1})
    for (const Index l : {Index{0}, Index{1}, Index{5}, transform.half() - 2, transform.half() - 1}) {
      std::complex<double> sum = 0;
      for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < cols; ++c)
          sum += static_cast<double>(pattern[static_cast<std::size_t>(r * cols + c)]) *
                 std::polar(1.0, -2 * std::numbers::pi *
                                     (static_cast<double>(k * r % rows) / static_cast<double>(rows) +
                                      static_cast<double>(l * c % cols) / static_cast<double>(cols)));
      const auto found = std::complex<double>(half[static_cast<std::size_t>(k * transform.half() + l)]);
      EXPECT_LE(std::abs(found - sum), tolerance) << k << ", " << l;
    }
}

TEST_P(PatternTransformOf, InverseUndoesForward) {
  Complexes data = packed();
  const Complexes before = data;
  transform.forward(data.data());
  transform.inverse(data.data());
  const auto n = static_cast<double>(rows * cols);
  const double tolerance = 8 * 6e-8 * std::log2(n) * 100;  // as above, of one element
  for (std::size_t i = 0; i < data.size(); ++i)
    ASSERT_LE(std::abs(data[i] / static_cast<float>(transform.scale()) - before[i]), tolerance) << i;
}

// Rows of 128 and 256 complex elements are 1 KiB and 2 KiB: those are transformed line by line.
INSTANTIATE_TEST_SUITE_P(Shapes, PatternTransformOf,
                         ::testing::Values(Extents{12, 18}, Extents{9, 15}, Extents{12, 256}, Extents{256, 24},
                                           Extents{25, 512}, Extents{256, 256}));

}  // namespace
}  // namespace sonde::stem
