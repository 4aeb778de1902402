// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/convert/sfincs_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sonde/instruments/neoclassical/convert/stored_tables.h"
#include "tests/support/errors.h"

namespace sonde::neoclassical {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;
using N = Normalisation;

/// What SFINCS stores of its regression case monoenergetic_geometryScheme1 (version 3, examples, tests.py: four numbers
/// with their signs), as h5dump prints them: [0,0], [0,1], [1,0], [1,1].
StoredNumbers regression_case() {
  return {{"RHSMode", {3}},
          {"transportMatrix", {-0.0919181, -1.07986, -1.08109, 440.285}},
          {"nuPrime", {1.196132e-3}},
          {"EStar", {0}},
          {"GHat", {3.7481}},
          {"IHat", {0}},
          {"B0OverBBar", {1}},
          {"iota", {0.4542}},
          {"aHat", {0.5}},
          {"rN", {0.4}},
          {"psiAHat", {0.2}}};
}

TEST(SfincsOutput, AMatrixWrittenByFortranIsTransposed) {
  const StoredNumbers point = point_of_sfincs_output(regression_case()).value();
  EXPECT_EQ(point.at("M21").front(), -1.07986);
  EXPECT_EQ(point.at("M12").front(), -1.08109);
}

TEST(SfincsOutput, ItsSignsGivePositiveCoefficientsThatObeyOnsager) {
  const StoredNumbers made = converted_file(regression_case(), {.from = N::ntx, .to = N::ntx}).numbers;
  const double root_pi = std::sqrt(std::numbers::pi), g = 3.7481;
  EXPECT_NEAR(made.at("D11").front(), 0.0919181 * root_pi * g / 8, 1e-12);
  EXPECT_NEAR(made.at("D33").front(), 440.285 * root_pi * g / 2, 1e-8);
  // D31 = -D13 up to what SFINCS itself leaves at its resolution: 1.07986 and 1.08109 differ by 0.12 %.
  EXPECT_NEAR(made.at("D31").front() / made.at("D13").front(), -1, 2e-3);
  EXPECT_NEAR(made.at("nu_hat").front(), 1e-3 / g, 1e-9);  // nuPrime = nu / 0.836028, in units of B0 / G
  EXPECT_NEAR(made.at("psi_p").front(), 2 * 0.2 * 0.4 / 0.5, 1e-15);
  EXPECT_NEAR(made.at("r").front(), 0.2, 1e-15);
}

TEST(SfincsOutput, OtherFilesAreNone) { EXPECT_FALSE(point_of_sfincs_output({{"D11", {1}}}).has_value()); }

TEST(SfincsOutput, WhatIsNoMonoenergeticRunIsRefused) {
  const auto refused = [](auto change) {
    StoredNumbers file = regression_case();
    change(file);
    return error_of(ErrorKind::bad_input, [&] { (void)point_of_sfincs_output(file); });
  };
  EXPECT_THAT(refused([](auto& file) { file["RHSMode"] = {2}; }), HasSubstr("RHSMode 2"));
  EXPECT_THAT(refused([](auto& file) { file["transportMatrix"].resize(9); }), HasSubstr("9 elements, expected 2 x 2"));
  EXPECT_THAT(refused([](auto& file) { file.erase("GHat"); }), HasSubstr("without the number GHat"));
}

}  // namespace
}  // namespace sonde::neoclassical
