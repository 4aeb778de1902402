// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/fft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/parallel.h"
#include "tests/support/devices.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

template <class Real>
using Elements = std::vector<std::complex<Real>>;

template <class Real>
Elements<Real> random_elements(Index count, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  Elements<Real> values(static_cast<std::size_t>(count));
  for (auto& value : values) value = {static_cast<Real>(normal(generator)), static_cast<Real>(normal(generator))};
  return values;
}

/// The definition, in double precision, of one transform.
template <class Real>
Elements<double> plane_definition(const std::complex<Real>* x, Index rows, Index cols, FftDirection direction) {
  const double sign = direction == FftDirection::forward ? -1 : 1;
  Elements<double> result;
  for (Index k = 0; k < rows; ++k)
    for (Index l = 0; l < cols; ++l) {
      std::complex<double> sum = 0;
      for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < cols; ++c)
          sum += std::complex<double>(x[r * cols + c]) *
                 std::polar(1.0, sign * 2 * std::numbers::pi *
                                     (static_cast<double>(k * r % rows) / static_cast<double>(rows) +
                                      static_cast<double>(l * c % cols) / static_cast<double>(cols)));
      result.push_back(sum);
    }
  return result;
}

/// Rounding grows with the depth of the transform: eps log2 N of the root mean square, and 8 for its tail.
template <class Real>
double plane_tolerance(Index elements) {
  const auto n = static_cast<double>(elements);
  return 8 * std::numeric_limits<Real>::epsilon() * std::log2(n + 2) * std::sqrt(2 * n);
}

template <class Real>
void expect_definition(const Elements<Real>& x, const Elements<Real>& y, const FftKey& key, FftDirection direction) {
  const Index piece = key.rows * key.cols;
  for (Index b = 0; b < key.batch; ++b) {
    const Elements<double> expected = plane_definition(x.data() + b * piece, key.rows, key.cols, direction);
    for (Index i = 0; i < piece; ++i)
      ASSERT_LT(std::abs(std::complex<double>(y[static_cast<std::size_t>(b * piece + i)]) -
                         expected[static_cast<std::size_t>(i)]),
                plane_tolerance<Real>(piece))
          << "transform " << b << ", element " << i;
  }
}

/// The batch on the key's device, in place or from one array to another.
template <class Real>
Elements<Real> transform(const Fft2d<Real>& fft, const Elements<Real>& x, FftDirection direction, bool in_place) {
  using Complex = std::complex<Real>;
  const FftKey& key = fft.key();
  Stream stream(key.device), host;
  const Shape shape{key.batch, key.rows, key.cols};
  Array in = Array::from(x, shape).copy_to(key.device, stream);
  Array other = in_place ? Array() : Array::zeros(key.device, shape, dtype_of<Complex>);
  Array& out = in_place ? in : other;
  fft.transform(stream, in.view<Complex, 3>(), out.view<Complex, 3>(), direction);
  stream.synchronise();
  const Array back = out.copy_to(Device::cpu(), stream);
  const auto* first = static_cast<const Complex*>(back.data());
  return {first, first + back.count()};
}

class Fft2dOnEachDevice : public testing::EachDevice {};
INSTANTIATE_EACH_DEVICE(Fft2dOnEachDevice);

template <class Real>
void every_batch_is_the_definition(Device device) {
  for (const auto& [batch, rows, cols] : {std::array<Index, 3>{1, 1, 1},
                                          {2, 1, 7},
                                          {1, 8, 1},
                                          {3, 4, 6},
                                          {5, 9, 7},  // an odd number: transforms do not follow on 16 bytes
                                          {1, 15, 14},
                                          {2, 16, 16},
                                          {1, 13, 11}})
    for (const FftEffort effort : {FftEffort::quick, FftEffort::measured})
      for (const FftDirection direction : {FftDirection::forward, FftDirection::inverse}) {
        SCOPED_TRACE(::testing::Message() << batch << " x " << rows << " x " << cols);
        const FftKey key{.rows = rows, .cols = cols, .batch = batch, .effort = effort, .device = device};
        const auto x = random_elements<Real>(batch * rows * cols);
        const auto fft = Fft2d<Real>::prepare(key);
        expect_definition(x, transform(fft, x, direction, false), key, direction);
        expect_definition(x, transform(fft, x, direction, true), key, direction);
      }
}

TEST_P(Fft2dOnEachDevice, EveryTransformOfABatchIsTheDefinition) {
  every_batch_is_the_definition<float>(device());
  every_batch_is_the_definition<double>(device());
}

template <class Real>
void forward_and_inverse_multiply(Device device) {
  const FftKey key{.rows = 48, .cols = 40, .batch = 3, .device = device};
  const auto fft = Fft2d<Real>::prepare(key);
  const auto x = random_elements<Real>(key.batch * key.rows * key.cols);
  const auto y = transform(fft, transform(fft, x, FftDirection::forward, true), FftDirection::inverse, false);
  const auto n = static_cast<Real>(key.rows * key.cols);
  // The forward transform's rounding goes through the inverse like its values: times sqrt(N).
  const double bound = 2 * plane_tolerance<Real>(key.rows * key.cols) * std::sqrt(static_cast<double>(n));
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_LT(std::abs(std::complex<double>(y[i] - n * x[i])), bound) << i;
}

TEST_P(Fft2dOnEachDevice, InverseAfterForwardMultipliesByTheNumberOfElements) {
  forward_and_inverse_multiply<float>(device());
  forward_and_inverse_multiply<double>(device());
}

template <class Real>
class Fft2dOf : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Fft2dOf, Reals);

TYPED_TEST(Fft2dOf, OneTransformOnAWorkersOwnDataIsTheDefinition) {
  const FftKey key{.rows = 12, .cols = 10, .batch = 1, .effort = FftEffort::measured};
  const auto fft = Fft2d<TypeParam>::prepare(key);
  const Index count = key.rows * key.cols, patterns = 9;
  std::vector<Elements<TypeParam>> results(static_cast<std::size_t>(patterns));
  PerWorker<Array> wave([&] { return Array(Device::cpu(), {count}, dtype_of<std::complex<TypeParam>>); });
  parallel_for(patterns, 1, [&](Index first, Index last, Worker& worker) {
    for (Index p = first; p < last; ++p) {
      auto* data = static_cast<std::complex<TypeParam>*>(wave[worker].data());
      const auto x = random_elements<TypeParam>(count, static_cast<unsigned>(p));
      std::copy(x.begin(), x.end(), data);
      fft.transform(data, p % 2 == 0 ? FftDirection::forward : FftDirection::inverse);
      results[static_cast<std::size_t>(p)].assign(data, data + count);
    }
  });
  for (Index p = 0; p < patterns; ++p)
    expect_definition(random_elements<TypeParam>(count, static_cast<unsigned>(p)), results[static_cast<std::size_t>(p)],
                      key, p % 2 == 0 ? FftDirection::forward : FftDirection::inverse);
}

TYPED_TEST(Fft2dOf, EnergyIsKept) {
  const FftKey key{.rows = 64, .cols = 48};
  const auto x = random_elements<TypeParam>(key.rows * key.cols);
  auto y = x;
  Fft2d<TypeParam>::prepare(key).transform(y.data(), FftDirection::forward);
  double before = 0, after = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    before += std::norm(std::complex<double>(x[i]));
    after += std::norm(std::complex<double>(y[i]));
  }
  // Parseval: sum |X|^2 = N sum |x|^2; relative rounding of the transform, twice for the square.
  EXPECT_NEAR(after / (before * static_cast<double>(x.size())), 1,
              2 * std::numeric_limits<TypeParam>::epsilon() * std::log2(x.size()));
}

TYPED_TEST(Fft2dOf, SeveralThreadsShareAPlan) {
  const FftKey key{.rows = 32, .cols = 30};
  const auto fft = Fft2d<TypeParam>::prepare(key);
  const auto x = random_elements<TypeParam>(key.rows * key.cols);
  auto expected = x;
  fft.transform(expected.data(), FftDirection::forward);
  std::vector<Elements<TypeParam>> results(4, x);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results)
      threads.emplace_back([&] {
        // Planning and running at the same time.
        const auto other = Fft2d<TypeParam>::prepare({.rows = key.rows, .cols = key.cols + 1});
        fft.transform(result.data(), FftDirection::forward);
      });
  }
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

// The modes of a probe are transformed by one plan; of float elements in odd number the second is off 16 bytes.
TYPED_TEST(Fft2dOf, OddNumbersOfElementsFollowEachOther) {
  for (const FftEffort effort : {FftEffort::quick, FftEffort::measured})
    for (const auto& [rows, cols] : {std::pair<Index, Index>{15, 15}, {9, 7}, {1, 45}}) {
      SCOPED_TRACE(::testing::Message() << rows << " x " << cols);
      const auto fft = Fft2d<TypeParam>::prepare({.rows = rows, .cols = cols, .effort = effort});
      const auto x = random_elements<TypeParam>(3 * rows * cols);
      auto y = x;
      for (Index mode = 0; mode < 3; ++mode) fft.transform(y.data() + mode * rows * cols, FftDirection::forward);
      expect_definition(x, y, {.rows = rows, .cols = cols, .batch = 3}, FftDirection::forward);
    }
}

TYPED_TEST(Fft2dOf, WrongShapesAreErrors) {
  const auto error = [](auto&& body) { return testing::error_of(ErrorKind::bad_input, body); };
  EXPECT_THAT(error([] { (void)Fft2d<TypeParam>::prepare({.rows = 0, .cols = 4}); }),
              HasSubstr("no Fourier transform of 1 x 0 x 4"));
  const auto fft = Fft2d<TypeParam>::prepare({.rows = 3, .cols = 4, .batch = 2});
  auto x = random_elements<TypeParam>(48);
  Stream stream;
  using Complex = std::complex<TypeParam>;
  const View<Complex, 3> one(x.data(), 1, 3, 4), both(x.data(), 2, 3, 4), shifted(x.data() + 2, 2, 3, 4);
  EXPECT_THAT(error([&] { fft.transform(stream, one, one, FftDirection::forward); }),
              HasSubstr("prepared for contiguous 2 x 3 x 4 was given 1 x 3 x 4"));
  EXPECT_THAT(error([&] { fft.transform(stream, both, shifted, FftDirection::forward); }), HasSubstr("overlap"));
}

TEST(FftWisdom, APlanMadeFromItHasTheSameBits) {
  const FftKey key{.rows = 40, .cols = 48, .effort = FftEffort::measured};
  const auto x = random_elements<float>(key.rows * key.cols);
  const auto transformed = [&](const Fft2d<float>& fft) {
    auto y = x;
    fft.transform(y.data(), FftDirection::forward);
    return y;
  };
  const auto first = Fft2d<float>::prepare(key);
  const std::string all = fft_wisdom(), own = first.wisdom();
  forget_fft_wisdom();
  const auto from_own = Fft2d<float>::prepare(key, own);
  EXPECT_EQ(transformed(from_own), transformed(first));
  EXPECT_EQ(from_own.wisdom(), own) << "the plan was measured again";
  forget_fft_wisdom();
  ASSERT_TRUE(import_fft_wisdom(all));  // of kissfft nothing, which is all it knows
  EXPECT_EQ(fft_wisdom(), all);
  EXPECT_EQ(transformed(Fft2d<float>::prepare(key)), transformed(first));
}

// Only FFTW takes what it has learnt from one shape for others, and for those that it was not to measure.
TEST(FftWisdom, PlansDependOnNothingThatWasPreparedBefore) {
  const std::vector<std::pair<Index, Index>> shapes{{24, 20}, {32, 32}, {60, 72}};
  const auto all_transformed = [&](FftEffort effort) {
    std::vector<std::vector<std::complex<float>>> all;
    for (const auto& [rows, cols] : shapes) {
      all.push_back(random_elements<float>(rows * cols));
      Fft2d<float>::prepare({.rows = rows, .cols = cols, .effort = effort})
          .transform(all.back().data(), FftDirection::forward);
    }
    return all;
  };
  const auto quick = all_transformed(FftEffort::quick), measured = all_transformed(FftEffort::measured);
  for (const auto& [rows, cols] : {std::pair<Index, Index>{64, 64}, {20, 32}, {72, 60}})
    (void)Fft2d<float>::prepare({.rows = rows, .cols = cols, .effort = FftEffort::measured});
  EXPECT_EQ(all_transformed(FftEffort::quick), quick);
  EXPECT_EQ(all_transformed(FftEffort::measured), measured);
}

TEST(FftWisdom, ForeignTextsAreRefused) {
  if (std::string(fft_library()) == "kissfft") GTEST_SKIP() << "kissfft measures nothing";
  (void)Fft2d<double>::prepare({.rows = 20, .cols = 28, .effort = FftEffort::measured});
  const std::string wisdom = fft_wisdom();
  forget_fft_wisdom();
  for (const std::string& text : {std::string(), std::string("(fftw-3"), std::string("hello"),
                                  wisdom.substr(0, wisdom.size() - 10), wisdom.substr(3), "plans of " + wisdom}) {
    EXPECT_FALSE(import_fft_wisdom(text)) << text;
    EXPECT_EQ(fft_wisdom(), "") << "nothing is known afterwards";
  }
  EXPECT_TRUE(import_fft_wisdom(wisdom));
}

TEST(NextFastSize, IsTheSmallestProductOfSmallPrimes) {
  // Every product up to 4096, made by multiplying instead of dividing.
  std::vector<bool> product(4097, false);
  for (Index a = 1; a <= 4096; a *= 2)
    for (Index b = a; b <= 4096; b *= 3)
      for (Index c = b; c <= 4096; c *= 5)
        for (Index d = c; d <= 4096; d *= 7) product[static_cast<std::size_t>(d)] = true;
  Index expected = 4096;
  for (Index n = 4096; n >= 1; --n) {
    if (product[static_cast<std::size_t>(n)]) expected = n;
    ASSERT_EQ(next_fast_size(n), expected) << n;
  }
}

}  // namespace
}  // namespace sonde
