// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/errors.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;

TEST(Text, BytesAreRoundedToThreeDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(858), "858 B");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(19327352832.0), "18.0 GiB");
}

TEST(Text, SizesAreReadWithBinaryUnits) {
  EXPECT_EQ(parse_bytes("8G"), std::size_t{8} << 30);
  EXPECT_EQ(parse_bytes("1.5 GiB"), std::size_t{3} << 29);
  EXPECT_EQ(parse_bytes("512mb"), std::size_t{512} << 20);
  EXPECT_EQ(parse_bytes("4096"), 4096u);
}

TEST(Text, NonsenseSizesAreRefused) {
  for (const char* text : {"", "G", "-1", "8X", "8GG", "1e30"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { (void)parse_bytes(text); }),
                ::testing::HasSubstr("is not a size"));
  }
}

TEST(Text, NearMissesAreNamed) {
  const std::vector<std::string> known = {"detector_bin", "scan_bin", "device"};
  EXPECT_EQ(did_you_mean("detecter_bin", known), "; did you mean \"detector_bin\"?");
  EXPECT_EQ(did_you_mean("zzz", known), "");
  EXPECT_EQ(did_you_mean("er", {"nu_hat", "er_hat", "er_tilde"}), "; did you mean \"er_hat\" or \"er_tilde\"?");
  EXPECT_EQ(did_you_mean("n", {"nu_hat"}), "") << "one letter begins too much";
}

TEST(Text, NaturalOrderComparesNumbers) {
  std::vector<std::string> names = {"a10", "a2", "a1", "b1", "a01", "a"};
  std::sort(names.begin(), names.end(), natural_less);
  EXPECT_THAT(names, ElementsAre("a", "a01", "a1", "a2", "a10", "b1"));
}

TEST(Text, NumbersAreReadAndWhatIsNoneIsNamed) {
  EXPECT_EQ(parse_numbers("1e-5, 2,-3.5", "nu"), (std::vector<double>{1e-5, 2, -3.5}));
  EXPECT_TRUE(parse_numbers("", "nu").empty());
  for (const char* text : {"1,,2", "1 2", "x", "inf", "1,nan", "1e999"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(sonde::testing::error_of(ErrorKind::usage, [&] { (void)parse_numbers(text, "nu"); }),
                ::testing::HasSubstr("nu \""));
  }
}

TEST(Text, SplitKeepsEmptyParts) { EXPECT_THAT(split("a,,b", ','), ElementsAre("a", "", "b")); }

}  // namespace
}  // namespace sonde
