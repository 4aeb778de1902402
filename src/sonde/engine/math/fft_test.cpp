// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/fft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numbers>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/errors.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

template <class Real>
class Fft2dOf : public ::testing::Test {
 protected:
  using Complex = std::complex<Real>;
  using Elements = std::vector<Complex>;

  static Elements random(Index count, unsigned seed = 1) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    Elements values(static_cast<std::size_t>(count));
    for (Complex& value : values) value = {static_cast<Real>(normal(generator)), static_cast<Real>(normal(generator))};
    return values;
  }
  static View<Complex, 3> view(Elements& values, Index batch, Index rows, Index cols) {
    return {values.data(), batch, rows, cols};
  }
  /// The definition, in double precision.
  static std::vector<std::complex<double>> definition(const Elements& x, Index rows, Index cols, double sign) {
    std::vector<std::complex<double>> result(x.size());
    for (Index k = 0; k < rows; ++k)
      for (Index l = 0; l < cols; ++l) {
        std::complex<double> sum = 0;
        for (Index r = 0; r < rows; ++r)
          for (Index c = 0; c < cols; ++c)
            sum += std::complex<double>(x[static_cast<std::size_t>(r * cols + c)]) *
                   std::polar(1.0, sign * 2 * std::numbers::pi *
                                       (static_cast<double>(k * r % rows) / static_cast<double>(rows) +
                                        static_cast<double>(l * c % cols) / static_cast<double>(cols)));
        result[static_cast<std::size_t>(k * cols + l)] = sum;
      }
    return result;
  }
  /// Rounding grows with the depth of the transform: eps log2 N of the root mean square, and 8 for its tail.
  static double tolerance(Index elements) {
    const auto n = static_cast<double>(elements);
    return 8 * std::numeric_limits<Real>::epsilon() * std::log2(n + 2) * std::sqrt(2 * n);
  }
};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Fft2dOf, Reals);

TYPED_TEST(Fft2dOf, ForwardIsTheDefinition) {
  for (const auto& [rows, cols] :
       {std::pair<Index, Index>{1, 1}, {1, 7}, {8, 1}, {4, 6}, {15, 14}, {16, 16}, {13, 11}}) {
    SCOPED_TRACE(::testing::Message() << rows << " x " << cols);
    auto x = this->random(rows * cols);
    const auto expected = this->definition(x, rows, cols, -1);
    const auto fft = Fft2d<TypeParam>::prepare(1, rows, cols);
    auto y = x;
    const auto to = this->view(y, 1, rows, cols);
    fft.forward(this->view(x, 1, rows, cols), to);
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_LT(std::abs(std::complex<double>(y[i]) - expected[i]), this->tolerance(rows * cols)) << i;
  }
}

TYPED_TEST(Fft2dOf, InverseUndoesForwardInPlaceForEveryTransformOfABatch) {
  const Index batch = 5, rows = 9, cols = 7;  // an odd number of elements: transforms do not follow on 16 bytes
  const auto x = this->random(batch * rows * cols);
  auto y = x;
  const auto fft = Fft2d<TypeParam>::prepare(batch, rows, cols, FftEffort::measured);
  const auto both = this->view(y, batch, rows, cols);
  fft.forward(both, both);
  fft.inverse(both, both);
  // The forward transform's rounding, divided by N like its values.
  for (std::size_t i = 0; i < y.size(); ++i)
    ASSERT_LT(std::abs(std::complex<double>(y[i] - x[i])), 2 * this->tolerance(rows * cols) / (rows * cols));
}

TYPED_TEST(Fft2dOf, EnergyIsKept) {
  const Index rows = 64, cols = 48;
  auto x = this->random(rows * cols), y = x;
  Fft2d<TypeParam>::prepare(1, rows, cols).forward(this->view(x, 1, rows, cols), this->view(y, 1, rows, cols));
  double before = 0, after = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    before += std::norm(std::complex<double>(x[i]));
    after += std::norm(std::complex<double>(y[i]));
  }
  // Parseval: sum |X|^2 = N sum |x|^2; relative rounding of the transform, twice for the square.
  EXPECT_NEAR(after / (before * rows * cols), 1,
              2 * std::numeric_limits<TypeParam>::epsilon() * std::log2(rows * cols));
}

TYPED_TEST(Fft2dOf, SeveralThreadsShareAPlan) {
  const Index rows = 32, cols = 30;
  const auto fft = Fft2d<TypeParam>::prepare(1, rows, cols);
  auto x = this->random(rows * cols), expected = x;
  fft.forward(this->view(x, 1, rows, cols), this->view(expected, 1, rows, cols));
  std::vector<decltype(x)> results(4, x);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results)
      threads.emplace_back([&] {
        const auto other = Fft2d<TypeParam>::prepare(1, rows, cols + 1);  // planning and running at the same time
        fft.forward(this->view(x, 1, rows, cols), this->view(result, 1, rows, cols));
      });
  }
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

TYPED_TEST(Fft2dOf, WrongShapesAreErrors) {
  const auto error = [](auto&& body) { return testing::error_of(ErrorKind::bad_input, body); };
  EXPECT_THAT(error([] { (void)Fft2d<TypeParam>::prepare(1, 0, 4); }), HasSubstr("no Fourier transform of 1 x 0 x 4"));
  const auto fft = Fft2d<TypeParam>::prepare(2, 3, 4);
  auto x = this->random(48);
  EXPECT_THAT(error([&] { fft.forward(this->view(x, 1, 3, 4), this->view(x, 1, 3, 4)); }),
              HasSubstr("prepared for contiguous 2 x 3 x 4 was given 1 x 3 x 4"));
  const View<std::complex<TypeParam>, 3> shifted(x.data() + 2, 2, 3, 4);
  EXPECT_THAT(error([&] { fft.forward(this->view(x, 2, 3, 4), shifted); }), HasSubstr("overlap"));
}

}  // namespace
}  // namespace sonde
