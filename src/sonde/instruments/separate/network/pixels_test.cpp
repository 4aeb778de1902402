// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/pixels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace sonde::separate {
namespace {

std::vector<float> activated(Activation activation, float alpha, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  const float one = 1, zero = 0;
  activate(activation, alpha, x.data(), static_cast<Index>(x.size()), 1, &one, &zero, y.data(), 1);
  return y;
}

std::vector<float> line() {
  std::vector<float> x;
  for (int i = -100000; i <= 100000; ++i) x.push_back(static_cast<float>(i) * 1e-4F);
  return x;
}

TEST(Activate, GeluIsWithinARoundingOfItsFormula) {
  const auto x = line();
  const auto y = activated(Activation::gelu, 1, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto z = static_cast<double>(x[i]);
    const double exact = 0.5 * z * std::erfc(-z / std::numbers::sqrt2);
    // The quotient of polynomials within 6e-8 and its own rounding, and that of the result.
    ASSERT_NEAR(static_cast<double>(y[i]), exact, 2e-7 + 6e-8 * std::abs(z)) << z;
  }
}

TEST(Activate, EluAndReluAreTheirFormulas) {
  const auto x = line();
  const auto elu = activated(Activation::elu, 0.7F, x), relu = activated(Activation::relu, 1, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto z = static_cast<double>(x[i]);
    ASSERT_NEAR(static_cast<double>(elu[i]), z > 0 ? z : 0.7 * std::expm1(z), 1e-7 * (1 + std::abs(z)));
    ASSERT_EQ(relu[i], std::max(x[i], 0.0F));
  }
}

TEST(Activate, ScalesEachChannelAndLeavesTheGapsAlone) {
  const std::vector<float> x = {1, 2, 3, 4}, scale = {2, -1}, shift = {0.5F, 10};
  std::vector<float> y(6, -7);
  activate(Activation::relu, 1, x.data(), 2, 2, scale.data(), shift.data(), y.data(), 3);
  EXPECT_EQ(y, (std::vector<float>{2.5F, 8, -7, 6.5F, 6, -7}));
}

TEST(AddMoments, SumsEachChannel) {
  const std::vector<float> x = {1, 2, 3, 4};
  std::vector<double> sums(4, 1);
  add_moments(x.data(), 2, 2, sums.data());
  EXPECT_EQ(sums, (std::vector<double>{5, 7, 11, 21}));
}

}  // namespace
}  // namespace sonde::separate
