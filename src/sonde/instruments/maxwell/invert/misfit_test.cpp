// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/misfit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sonde/instruments/maxwell/invert/test_invert.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

constexpr Index trace_steps = 61, trace_count = 3;
constexpr std::size_t samples_of_all = trace_steps * trace_count;

struct MisfitCase {
  std::string name;
  MisfitSettings settings;
};

Gather random_gather(unsigned seed) {
  Gather gather(trace_steps, trace_count);
  gather.samples = testing::random_numbers(samples_of_all, seed);
  return gather;
}

class EachMisfit : public ::testing::TestWithParam<MisfitCase> {
 protected:
  Misfit misfit_{GetParam().settings, trace_steps};
  Gather computed_ = random_gather(1), measured_ = random_gather(2);
  std::vector<double> weights_ = testing::random_numbers(samples_of_all, 3, 0, 2);
};

TEST_P(EachMisfit, HasItsExactDerivative) {
  weights_[5] = 0;
  const RecordMisfit found = misfit_(computed_, measured_, weights_);
  testing::expect_derivative(
      [&](const std::vector<double>& samples) {
        Gather there = computed_;
        there.samples = samples;
        return misfit_(there, measured_, weights_).value;
      },
      computed_.samples, found.residual);
}

TEST_P(EachMisfit, VanishesForEqualRecordsWithItsDerivative) {
  const RecordMisfit found = misfit_(measured_, measured_, weights_);
  EXPECT_NEAR(found.value, 0, 1e-14);  // rounding of sums of 61 products below 2
  EXPECT_LT(testing::norm(found.residual), 1e-13);
  EXPECT_EQ(found.squares, 0);
}

TEST_P(EachMisfit, SquaresAreThoseOfThePlainDifference) {
  double squares = 0;
  for (std::size_t i = 0; i < samples_of_all; ++i)
    squares += weights_[i] * std::pow(computed_.samples[i] - measured_.samples[i], 2);
  EXPECT_NEAR(misfit_(computed_, measured_, weights_).squares, squares, 1e-12 * squares);
}

TEST_P(EachMisfit, IsFiniteForTracesWithoutSignal) {
  for (Index n = 0; n < trace_steps; ++n) {
    computed_.traces()(0, n) = 0;
    measured_.traces()(1, n) = 0;
  }
  const RecordMisfit found = misfit_(computed_, measured_, {});
  EXPECT_TRUE(std::isfinite(found.value));
  for (const double each : found.residual) ASSERT_TRUE(std::isfinite(each));
}

INSTANTIATE_TEST_SUITE_P(Kinds, EachMisfit,
                         ::testing::Values(MisfitCase{"L2", {}}, MisfitCase{"L2ByTrace", {MisfitKind::l2, true}},
                                           MisfitCase{"Envelope", {MisfitKind::envelope}},
                                           MisfitCase{"EnvelopeByTrace", {MisfitKind::envelope, true}},
                                           MisfitCase{"Correlation", {MisfitKind::correlation}}),
                         [](const auto& each) { return each.param.name; });

TEST(Misfit, OfL2IsHalfTheWeightedSquares) {
  Gather computed(2, 1), measured(2, 1);
  computed.samples = {1, 5};
  measured.samples = {3, 4};
  const RecordMisfit found = Misfit({}, 2)(computed, measured, {2, 10});
  EXPECT_DOUBLE_EQ(found.value, (2 * 4 + 10 * 1) / 2.0);
  EXPECT_DOUBLE_EQ(found.residual[0], -4);
  EXPECT_DOUBLE_EQ(found.residual[1], 10);
}

TEST(Misfit, OfEnvelopesDoesNotSeeTheSign) {
  const Gather measured = testing::pulses(80, 2, 30, 12);
  Gather computed = measured;
  for (double& each : computed.samples) each = -each;
  // The Hilbert transform is linear: envelopes of d and -d are equal but for rounding.
  EXPECT_LT(Misfit({MisfitKind::envelope}, 80)(computed, measured, {}).value, 1e-25);
}

TEST(Misfit, EnvelopeOfACosineIsItsAmplitude) {
  // Against a record that is only an offset amplitude at the centre, away from the ends of the trace, the derivative of
  // 1/2 (A - B)^2 by A: with a slow Gaussian amplitude the analytic signal is amplitude times exp(i w t).
  const Index steps = 400;
  Gather computed(steps, 1), measured(steps, 1);
  double squares = 0;
  for (Index n = 0; n < steps; ++n) {
    const double t = static_cast<double>(n) - 200, slow = std::exp(-t * t / 3200);
    computed.samples[static_cast<std::size_t>(n)] = 3 * slow * std::cos(1.1 * t);
    measured.samples[static_cast<std::size_t>(n)] = 2 * slow * std::cos(0.7 * t + 0.4);
    squares += slow * slow;
  }
  // Spectra of the amplitude reach 1e-16 before the carrier, so what is left is the cut at the ends, exp(-12.5).
  EXPECT_NEAR(Misfit({MisfitKind::envelope}, steps)(computed, measured, {}).value, squares / 2, 1e-5 * squares);
}

TEST(Misfit, OfCorrelationDoesNotSeeAmplitudes) {
  const Gather measured = random_gather(4);
  Gather computed = measured;
  for (double& each : computed.samples) each *= 7;
  EXPECT_NEAR(Misfit({MisfitKind::correlation}, trace_steps)(computed, measured, {}).value, 0, 1e-14);
  for (double& each : computed.samples) each = -each;
  EXPECT_NEAR(Misfit({MisfitKind::correlation}, trace_steps)(computed, measured, {}).value, 2 * trace_count, 1e-13);
}

TEST(Misfit, RecordsOfOtherSizesAreErrors) {
  const Misfit misfit({}, 4);
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input, [&] { (void)misfit(Gather(4, 2), Gather(4, 3), {}); }),
              ::testing::HasSubstr("measured records: 4 samples of 3 receivers; the run has 4 of 2"));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_input,
                                       [&] {
                                         (void)misfit(Gather(4, 2), Gather(4, 2), {1, 2});
                                       }),
              ::testing::HasSubstr("weights: 2 numbers for 8 samples of measured records"));
}

}  // namespace
}  // namespace sonde::maxwell
