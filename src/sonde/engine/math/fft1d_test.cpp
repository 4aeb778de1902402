// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/fft1d.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>

#include "sonde/engine/math/test_lines.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

using testing::all_lines;
using ::testing::HasSubstr;
using testing::line_cases;
using testing::line_tolerance;
using testing::LineCase;
using testing::Lines;
using testing::random_lines;

/// The definition, in double precision, of one line of complex numbers or real ones.
template <class T>
std::vector<std::complex<double>> line_definition(const T* x, Index n, FftDirection direction) {
  const double sign = direction == FftDirection::forward ? -1 : 1;
  std::vector<std::complex<double>> result;
  for (Index k = 0; k < n; ++k) {
    std::complex<double> sum = 0;
    for (Index i = 0; i < n; ++i)
      sum += std::complex<double>(x[i]) *
             std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k * i % n) / static_cast<double>(n));
    result.push_back(sum);
  }
  return result;
}

template <class Real>
struct OnLines {
  using Complex = std::complex<Real>;

  static void complex_ones_are_the_definition(Device device) {
    for (const LineCase& one : line_cases)
      for (const Lines lines : all_lines)
        for (const FftDirection direction : {FftDirection::forward, FftDirection::inverse}) {
          SCOPED_TRACE(::testing::PrintToString(one));
          const auto fft = Fft1d<Real>::prepare({.length = one.length, .batch = one.batch, .device = device});
          const auto x = random_lines<Complex>(one, one.length);
          const auto y = testing::through<Complex>(
              device, lines, one.batch, one.length, x, one.length,
              [&](Stream& stream, auto in, auto out) { fft.transform(stream, in, out, direction); });
          for (Index b = 0; b < one.batch; ++b) {
            const auto expected = line_definition(x.data() + b * one.length, one.length, direction);
            for (Index k = 0; k < one.length; ++k)
              ASSERT_LT(std::abs(std::complex<double>(y[static_cast<std::size_t>(b * one.length + k)]) -
                                 expected[static_cast<std::size_t>(k)]),
                        line_tolerance<Real>(one.length))
                  << "line " << b << ", frequency " << k;
          }
        }
  }

  static void real_ones_are_the_definition(Device device) {
    for (const LineCase& one : line_cases)
      for (const Lines lines : all_lines)
        for (const FftEffort effort : {FftEffort::quick, FftEffort::measured}) {
          SCOPED_TRACE(::testing::PrintToString(one));
          const auto fft =
              RealFft1d<Real>::prepare({.length = one.length, .batch = one.batch, .effort = effort, .device = device});
          ASSERT_EQ(fft.frequencies(), one.length / 2 + 1);
          const auto x = random_lines<Real>(one, one.length);
          const auto y =
              testing::through<Complex>(device, lines, one.batch, one.length, x, fft.frequencies(),
                                        [&](Stream& stream, auto in, auto out) { fft.forward(stream, in, out); });
          for (Index b = 0; b < one.batch; ++b) {
            const auto expected = line_definition(x.data() + b * one.length, one.length, FftDirection::forward);
            for (Index k = 0; k < fft.frequencies(); ++k)
              ASSERT_LT(std::abs(std::complex<double>(y[static_cast<std::size_t>(b * fft.frequencies() + k)]) -
                                 expected[static_cast<std::size_t>(k)]),
                        line_tolerance<Real>(one.length))
                  << "line " << b << ", frequency " << k;
          }
          const auto back =
              testing::through<Real>(device, lines, one.batch, fft.frequencies(), y, one.length,
                                     [&](Stream& stream, auto in, auto out) { fft.inverse(stream, in, out); });
          // The forward transform's rounding goes through the inverse like its values: times sqrt(N).
          const auto n = static_cast<Real>(one.length);
          const double bound = 2 * line_tolerance<Real>(one.length) * std::sqrt(static_cast<double>(n));
          for (std::size_t i = 0; i < x.size(); ++i) ASSERT_LT(std::abs(back[i] - n * x[i]), bound) << i;
        }
  }

  /// A real line has as much power as its frequencies, those that are left out like their mirrors.
  static void parseval(Device device) {
    for (const Index length : {1024, 1001}) {
      const auto fft = RealFft1d<Real>::prepare({.length = length, .batch = 1, .device = device});
      const auto x = random_lines<Real>({1, length}, length);
      const auto y =
          testing::through<Complex>(device, Lines::contiguous, 1, length, x, fft.frequencies(),
                                    [&](Stream& stream, auto in, auto out) { fft.forward(stream, in, out); });
      double before = 0, after = 0;
      for (const Real value : x) before += static_cast<double>(value) * static_cast<double>(value);
      for (Index k = 0; k < fft.frequencies(); ++k)
        after += (k == 0 || 2 * k == length ? 1 : 2) * std::norm(std::complex<double>(y[static_cast<std::size_t>(k)]));
      // Relative rounding of the transform, twice for the square; 4 for the roots.
      EXPECT_NEAR(after / (before * static_cast<double>(length)), 1,
                  4 * std::numeric_limits<Real>::epsilon() * std::log2(length));
    }
  }
};

class Fft1dOnEachDevice : public testing::EachDevice {};
INSTANTIATE_EACH_DEVICE(Fft1dOnEachDevice);

TEST_P(Fft1dOnEachDevice, EveryComplexLineIsTheDefinition) {
  OnLines<float>::complex_ones_are_the_definition(device());
  OnLines<double>::complex_ones_are_the_definition(device());
}

TEST_P(Fft1dOnEachDevice, EveryRealLineIsTheDefinitionAndComesBack) {
  OnLines<float>::real_ones_are_the_definition(device());
  OnLines<double>::real_ones_are_the_definition(device());
}

TEST_P(Fft1dOnEachDevice, PowerIsKept) {
  OnLines<float>::parseval(device());
  OnLines<double>::parseval(device());
}

TEST_P(Fft1dOnEachDevice, ComplexLinesAreTransformedInPlace) {
  const LineCase one{11, 30};
  const auto fft = Fft1d<double>::prepare({.length = one.length, .batch = one.batch, .device = device()});
  const auto x = random_lines<complex128>(one, one.length);
  for (const Lines lines : all_lines) {
    Stream stream(device());
    testing::Batch<complex128> batch(device(), lines, one.batch, one.length);
    batch.set(x, stream);
    fft.transform(stream, batch.view(), batch.view(), FftDirection::forward);
    const auto apart = testing::through<complex128>(
        device(), lines, one.batch, one.length, x, one.length,
        [&](Stream& queue, auto in, auto out) { fft.transform(queue, in, out, FftDirection::forward); });
    EXPECT_EQ(batch.get(stream), apart);
  }
}

template <class Real>
class RealFft1dOf : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RealFft1dOf, Reals);

// Imaginary parts of the real frequencies count for nothing, as documented; libraries differ in what they do with them.
TYPED_TEST(RealFft1dOf, WhatARealLineCannotHaveIsLeftOut) {
  using Complex = std::complex<TypeParam>;
  for (const Index length : {8, 9}) {
    const auto fft = RealFft1d<TypeParam>::prepare({.length = length});
    auto spectrum = random_lines<Complex>({1, length}, fft.frequencies());
    const auto inverse = [&] {
      return testing::through<TypeParam>(Device::cpu(), Lines::contiguous, 1, fft.frequencies(), spectrum, length,
                                         [&](Stream& stream, auto in, auto out) { fft.inverse(stream, in, out); });
    };
    const auto before = inverse();
    spectrum.front().imag(0);
    if (length % 2 == 0) spectrum.back().imag(0);
    EXPECT_EQ(inverse(), before);
  }
}

TYPED_TEST(RealFft1dOf, WisdomGivesTheSameBits) {
  const LineKey key{.length = 480, .batch = 2, .effort = FftEffort::measured};
  const auto x = random_lines<TypeParam>({key.batch, key.length}, key.length);
  const auto transformed = [&](const RealFft1d<TypeParam>& fft) {
    return testing::through<std::complex<TypeParam>>(
        Device::cpu(), Lines::contiguous, key.batch, key.length, x, fft.frequencies(),
        [&](Stream& stream, auto in, auto out) { fft.forward(stream, in, out); });
  };
  const auto first = RealFft1d<TypeParam>::prepare(key);
  const std::string all = fft_wisdom(), own = first.wisdom();
  forget_fft_wisdom();
  const auto again = RealFft1d<TypeParam>::prepare(key, own);
  EXPECT_EQ(again.wisdom(), own) << "the plan was measured again";
  EXPECT_EQ(transformed(again), transformed(first));
  forget_fft_wisdom();
  ASSERT_TRUE(import_fft_wisdom(all));  // of kissfft nothing, which is all it knows
  EXPECT_EQ(fft_wisdom(), all);
}

TEST(Fft1d, WrongShapesAreErrors) {
  const auto error = [](auto&& body) { return testing::error_of(ErrorKind::bad_input, body); };
  EXPECT_THAT(error([] { (void)Fft1d<float>::prepare({.length = 0, .batch = 3}); }),
              HasSubstr("no transform of 3 lines of 0 elements"));
  EXPECT_THAT(error([] { (void)RealFft1d<float>::prepare({.length = Index{1} << 31}); }),
              HasSubstr("no transform of 1 lines of 2147483648 elements"));
  const auto fft = RealFft1d<double>::prepare({.length = 6, .batch = 2});
  std::vector<double> real(12);
  std::vector<complex128> half(12);
  Stream stream;
  EXPECT_THAT(error([&] {
                fft.forward(stream, View<const double, 2>(real.data(), 2, 6), View<complex128, 2>(half.data(), 2, 6));
              }),
              HasSubstr("prepared for 2 lines, here of 4 elements, was given 2 of 6"));
}

TEST(FftPlans, ASecondPreparationOfEqualShapeMakesNoPlan) {
  if (std::string(fft_library()) == "kissfft") GTEST_SKIP() << "tables of kissfft take no longer than a transform";
  { (void)Fft2d<double>::prepare({.rows = 44, .cols = 52}); }
  (void)RealFft1d<double>::prepare({.length = 52});
  const Index made = fft_plans_made();
  { (void)Fft2d<double>::prepare({.rows = 44, .cols = 52}); }
  (void)RealFft1d<double>::prepare({.length = 52, .batch = 7});
  EXPECT_EQ(fft_plans_made(), made);
  (void)Fft2d<float>::prepare({.rows = 44, .cols = 52});
  EXPECT_EQ(fft_plans_made(), made + 1);
}

}  // namespace
}  // namespace sonde
