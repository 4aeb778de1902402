// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/verify/verify.h"

#include <gtest/gtest.h>

#include <limits>

namespace sonde::maxwell {
namespace {

class Verify : public ::testing::TestWithParam<VerifyCheck> {};

TEST_P(Verify, EveryRowPasses) {
  const std::vector<VerifyRow> rows = GetParam().rows(VerifySize::quick);
  EXPECT_FALSE(rows.empty());
  for (const VerifyRow& row : rows)
    EXPECT_TRUE(row.passes()) << row.id << ": " << row.what << " = " << row.value << ", expected "
                              << (row.at_least ? "at least " : "at most ") << row.limit;
}

INSTANTIATE_TEST_SUITE_P(Checks, Verify, ::testing::ValuesIn(verify_checks().begin(), verify_checks().end()),
                         [](const auto& each) { return std::string(each.param.id); });

TEST(VerifyRows, OfNoNumberDoNotPass) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE((VerifyRow{"", "", none, 1}.passes()));
  EXPECT_FALSE((VerifyRow{"", "", none, 1, true}.passes()));
}

TEST(VerifyRows, OnTheirLimitPass) {
  EXPECT_TRUE((VerifyRow{"", "", 1, 1}.passes()));
  EXPECT_TRUE((VerifyRow{"", "", 1, 1, true}.passes()));
  EXPECT_FALSE((VerifyRow{"", "", 2, 1}.passes()));
  EXPECT_FALSE((VerifyRow{"", "", 0.5, 1, true}.passes()));
}

}  // namespace
}  // namespace sonde::maxwell
