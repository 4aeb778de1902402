// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/verify/verify.h"

#include <gtest/gtest.h>

#include <array>
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

std::vector<VerifyRow> two_rows(VerifySize size) {
  return {{"two.first", "", 1, 2}, {"two.second", "", size == VerifySize::full ? 3.0 : 2.0, 2}};
}

TEST(VerifyRows, AreHandedOverInTheirOrder) {
  const std::array<VerifyCheck, 1> checks{{{"two", "", two_rows}}};
  std::string seen;
  const auto rows = verify_rows(
      VerifySize::full, [&](const VerifyRow& row) { seen += row.id + (row.passes() ? " passes " : " fails "); },
      checks);
  EXPECT_EQ(seen, "two.first passes two.second fails ");
  EXPECT_EQ(rows.size(), 2U);
}

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
