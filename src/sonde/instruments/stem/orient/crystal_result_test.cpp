// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/crystal_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/instruments/stem/orient/test_crystals.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

TEST(CrystalResult, ListsFamiliesWithTheirMultiplicity) {
  const CrystalResult result = describe_crystal(gold(), {.k_max = 0.9});
  const std::vector<std::string> lines = result.lines();
  EXPECT_EQ(lines[0], "cell      a 4.078, b 4.078, c 4.078 A; alpha 90, beta 90, gamma 90 degrees; 67.817 A^3");
  EXPECT_EQ(lines[1], "atoms     Au4 in a cell");
  EXPECT_EQ(lines[2], "symmetry  F m -3 m in the file; Laue group m-3m, 48 operations, from the intensities");
  EXPECT_THAT(lines[5], HasSubstr("1 1 1    2.35443    0.42473"));
  EXPECT_EQ(result.to_value().find("families")->size(), 5U);
}

TEST(CrystalResult, HoldsSpotsWhereAZoneIsAsked) {
  CrystalOptions options{.k_max = 1, .zone = "0,1,1", .voltage = 200};
  const CrystalResult result = describe_crystal(gold(), options);
  const Contents contents = result.contents("sonde stem crystal");
  ASSERT_NE(contents.find("spot/x"), nullptr);
  EXPECT_EQ(contents.find("spot/x")->values.count(), static_cast<Index>(result.pattern.size()));
  EXPECT_EQ(contents.find("family/g")->unit(), "1/A");
  EXPECT_EQ(result.chart().facets.size(), 2U);
  options.zone.clear();
  EXPECT_EQ(describe_crystal(gold(), options).contents("").find("spot/x"), nullptr);
}

TEST(CrystalResult, SaysWhatAPatternNeeds) {
  const auto refusal = [](ErrorKind kind, const CrystalOptions& options) {
    return error_of(kind, [&] { (void)describe_crystal(gold(), options); });
  };
  EXPECT_EQ(refusal(ErrorKind::bad_input, {.zone = "0,0,1"}),
            "error: the pattern of a zone axis needs the wavelength of the electrons\nhint: give --voltage");
  EXPECT_THAT(refusal(ErrorKind::usage, {.zone = "0,0,0", .voltage = 200}),
              HasSubstr("expected U,V,W: three whole numbers from -100 to 100, not all 0"));
  EXPECT_THAT(refusal(ErrorKind::usage, {.zone = "1,2", .voltage = 200}), HasSubstr("expected U,V,W"));
  EXPECT_THAT(
      refusal(ErrorKind::bad_input, {.k_max = 0.5, .zone = "1,3,7", .voltage = 200, .excitation_error = 0.001}),
      HasSubstr(
          "no reflection within 0.5 1/A is excited along [1 3 7]\nhint: give a larger --k-max or --excitation-error"));
}

}  // namespace
}  // namespace sonde::stem
