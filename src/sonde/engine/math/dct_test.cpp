// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/dct.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>

#include "sonde/engine/device/run_body.h"
#include "sonde/engine/math/lines_device.h"
#include "sonde/engine/math/test_lines.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

using testing::all_lines;
using testing::line_cases;
using testing::line_tolerance;
using testing::LineCase;
using testing::Lines;
using testing::random_lines;

/// The definitions, in double precision.
template <class Real>
std::vector<double> cosine_definition(const Real* x, Index n, FftDirection direction) {
  std::vector<double> result;
  const auto cosine = [n](Index k, Index i) {
    return std::cos(std::numbers::pi * static_cast<double>(k * (2 * i + 1) % (4 * n)) / static_cast<double>(2 * n));
  };
  for (Index at = 0; at < n; ++at) {
    double sum = 0;
    for (Index i = 0; i < n; ++i)
      sum += direction == FftDirection::forward ? 2 * static_cast<double>(x[i]) * cosine(at, i)
                                                : (i == 0 ? 1 : 2) * static_cast<double>(x[i]) * cosine(i, at);
    result.push_back(sum);
  }
  return result;
}

/// That of a transform of numbers twice as large, through one multiplication by a root more: the depth of two lengths.
template <class Real>
double cosine_tolerance(Index n) {
  return 2 * line_tolerance<Real>(2 * n);
}

template <class Real>
std::vector<Real> transformed(const Dct<Real>& dct, Lines lines, const std::vector<Real>& x, FftDirection direction) {
  const LineKey& key = dct.key();
  return testing::through<Real>(key.device, lines, key.batch, key.length, x, key.length,
                                [&](Stream& stream, auto in, auto out) { dct.transform(stream, in, out, direction); });
}

template <class Real>
void lines_are_the_definition(Device device) {
  for (const LineCase& one : line_cases)
    for (const Lines lines : all_lines)
      for (const FftDirection direction : {FftDirection::forward, FftDirection::inverse}) {
        SCOPED_TRACE(::testing::PrintToString(one));
        const auto dct = Dct<Real>::prepare({.length = one.length, .batch = one.batch, .device = device});
        const auto x = random_lines<Real>(one, one.length);
        const auto y = transformed(dct, lines, x, direction);
        for (Index b = 0; b < one.batch; ++b) {
          const auto expected = cosine_definition(x.data() + b * one.length, one.length, direction);
          for (Index k = 0; k < one.length; ++k)
            ASSERT_NEAR(static_cast<double>(y[static_cast<std::size_t>(b * one.length + k)]),
                        expected[static_cast<std::size_t>(k)], cosine_tolerance<Real>(one.length))
                << "line " << b << ", element " << k;
        }
      }
}

template <class Real>
void there_and_back(Device device) {
  const Index length = 1000;
  const auto dct = Dct<Real>::prepare({.length = length, .batch = 3, .device = device});
  const auto x = random_lines<Real>({3, length}, length);
  const auto y = transformed(dct, Lines::gaps, x, FftDirection::forward);
  const auto back = transformed(dct, Lines::columns, y, FftDirection::inverse);
  // Rounding of the first goes through the second like its values: times sqrt(2 N).
  const double bound = 2 * cosine_tolerance<Real>(length) * std::sqrt(2.0 * length);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(back[i], 2 * length * x[i], bound);
  // Parseval: the rows sqrt(2 / N) cos, the first one 1 / sqrt(N), are orthonormal.
  for (Index b = 0; b < 3; ++b) {
    double before = 0, after = 0;
    for (Index k = 0; k < length; ++k) {
      const auto at = static_cast<std::size_t>(b * length + k);
      before += static_cast<double>(x[at]) * static_cast<double>(x[at]);
      after += static_cast<double>(y[at]) * static_cast<double>(y[at]) / (k == 0 ? 2 : 1);
    }
    // Relative rounding of the transform, twice for the square; 4 for the roots of both steps.
    EXPECT_NEAR(after / (2 * static_cast<double>(length) * before), 1,
                4 * std::numeric_limits<Real>::epsilon() * std::log2(2 * length));
  }
}

class DctOnEachDevice : public testing::EachDevice {};
INSTANTIATE_EACH_DEVICE(DctOnEachDevice);

TEST_P(DctOnEachDevice, EveryLineIsTheDefinition) {
  lines_are_the_definition<float>(device());
  lines_are_the_definition<double>(device());
}

TEST_P(DctOnEachDevice, InverseAfterForwardMultipliesByTwiceTheLengthAndPowerIsKept) {
  there_and_back<float>(device());
  there_and_back<double>(device());
}

TEST_P(DctOnEachDevice, LinesAreTransformedInPlace) {
  const LineCase one{11, 30};
  const auto dct = Dct<double>::prepare({.length = one.length, .batch = one.batch, .device = device()});
  const auto x = random_lines<double>(one, one.length);
  for (const Lines lines : all_lines)
    for (const FftDirection direction : {FftDirection::forward, FftDirection::inverse}) {
      Stream stream(device());
      testing::Batch<double> batch(device(), lines, one.batch, one.length);
      batch.set(x, stream);
      dct.transform(stream, batch.view(), batch.view(), direction);
      EXPECT_EQ(batch.get(stream), transformed(dct, lines, x, direction));
    }
}

TEST(Dct, AConstantHasOneCosine) {
  const auto dct = Dct<double>::prepare({.length = 9});
  const auto y = transformed(dct, Lines::contiguous, std::vector<double>(9, 1.0), FftDirection::forward);
  EXPECT_DOUBLE_EQ(y[0], 18);
  for (std::size_t k = 1; k < 9; ++k) EXPECT_NEAR(y[k], 0, cosine_tolerance<double>(9));
}

// What a GPU does around its real transform, run by the CPU: the same bits as the CPU's own way.
TEST(Dct, KernelsAreTheStepsOfTheCpu) {
  for (const Index length : {1, 2, 9, 12, 5000})
    for (const StepOrder order : {StepOrder::forwards, StepOrder::backwards}) {
      SCOPED_TRACE(length);
      const Index batch = 3, frequencies = length / 2 + 1;
      const auto dct = Dct<double>::prepare({.length = length, .batch = batch});
      const auto fft = RealFft1d<double>::prepare({.length = length, .batch = batch});
      const auto x = random_lines<double>({batch, length}, length);
      std::vector<double> real(x.size()), y(x.size()), back(x.size());
      std::vector<complex128> half(static_cast<std::size_t>(batch * frequencies)), roots;
      for (Index k = 0; k < frequencies; ++k)
        roots.push_back(std::polar(1.0, -std::numbers::pi * static_cast<double>(k) / static_cast<double>(2 * length)));
      using Pair = device::Pair<double>;
      const View<double, 2> of_real(real.data(), batch, length), of_y(y.data(), batch, length),
          of_back(back.data(), batch, length);
      const View<complex128, 2> of_half(half.data(), batch, frequencies);
      const View<Pair, 2> pairs(reinterpret_cast<Pair*>(half.data()), batch, frequencies);
      const View<const Pair, 1> of_roots(reinterpret_cast<const Pair*>(roots.data()), frequencies);
      const LaunchSize two{.blocks = 2};
      Stream stream;
      run_serially(two, device::FoldLines<double>{View<const double, 2>(x.data(), batch, length), of_real}, order);
      fft.forward(stream, of_real, of_half);
      run_serially(two, device::CosinesOfFrequencies<double>{pairs, of_roots, of_y}, order);
      EXPECT_EQ(y, transformed(dct, Lines::contiguous, x, FftDirection::forward));
      run_serially(two, device::FrequenciesOfCosines<double>{of_y, of_roots, pairs}, order);
      fft.inverse(stream, of_half, of_real);
      run_serially(two, device::UnfoldLines<double>{of_real, of_back}, order);
      EXPECT_EQ(back, transformed(dct, Lines::contiguous, y, FftDirection::inverse));
    }
}

TEST(Dct, WrongShapesAreErrors) {
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [] { (void)Dct<float>::prepare({.length = 4, .batch = 0}); }),
              ::testing::HasSubstr("no transform of 0 lines of 4 elements"));
}

}  // namespace
}  // namespace sonde
