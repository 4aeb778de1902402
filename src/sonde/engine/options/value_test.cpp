// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/options/value.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "tests/support/errors.h"

namespace sonde {
namespace {

TEST(Value, NullBecomesAnObjectOrAListAtItsFirstMember) {
  Value results;
  results["frames"] = 16384;
  results["centre"].push_back(95.5);
  EXPECT_EQ(results.find("frames")->as_whole(), 16384);
  EXPECT_EQ(results.find("centre")->items().front().as_real(), 95.5);
}

TEST(Value, ObjectsKeepTheOrderOfTheirMembers) {
  Value object;
  object["z"] = 1;
  object["a"] = 2;
  object["z"] = 3;
  ASSERT_EQ(object.size(), 2u);
  EXPECT_EQ(object.members()[0].key, "z");
  EXPECT_EQ(object.members()[0].value.as_whole(), 3);
}

TEST(Value, EqualObjectsMayDifferInOrder) {
  Value a, b;
  a["x"] = 1;
  a["y"] = 2;
  b["y"] = 2;
  b["x"] = 1;
  EXPECT_EQ(a, b);
  b["x"] = 2;
  EXPECT_FALSE(a == b);
}

TEST(Value, WholeNumbersAreExactUpToTheLargestIndex) {
  EXPECT_EQ(Value(std::numeric_limits<Index>::max()).as_whole(), std::numeric_limits<Index>::max());
  EXPECT_TRUE(Value(std::numeric_limits<std::uint64_t>::max()).is_real());
}

TEST(Value, AWholeNumberIsAlsoAReal) { EXPECT_EQ(Value(3).as_real(), 3.0); }

TEST(Value, WrongTypesAreNamed) {
  EXPECT_EQ(testing::error_of(ErrorKind::bad_input, [] { (void)Value("three").as_whole(); }),
            "error: expected whole number, found text");
  EXPECT_EQ(testing::error_of(ErrorKind::bad_input, [] { Value(3)["x"] = 1; }),
            "error: expected object, found whole number");
}

TEST(Value, ShortTextIsOneLine) {
  EXPECT_EQ(short_text(Value(0.1234567)), "0.123457");
  EXPECT_EQ(short_text(Value()), "none");
  EXPECT_EQ(short_text(Value(std::vector<int>{1, 2})), "[1, 2]");
  EXPECT_EQ(short_text(Value(std::vector<int>(9, 5))), "[5, 5, 5, 5, 5, 5, 5, 5, ... 9 in all]");
  Value object;
  object["x"] = true;
  EXPECT_EQ(short_text(object), "{1 members}");
}

TEST(Value, MembersOfAnotherTypeCountAsAbsentForReadingBack) {
  Value object;
  object["x"] = "1";
  object["n"] = 2;
  EXPECT_EQ(number_at(object, "x"), 0);
  EXPECT_EQ(number_at(object, "n"), 2);
  EXPECT_EQ(text_at(object, "x"), "1");
  EXPECT_EQ(text_at(object, "n"), "");
  EXPECT_EQ(text_at(Value(3), "n"), "");
}

TEST(Value, AbsentMembersAreNull) {
  EXPECT_EQ(Value(3).find("x"), nullptr);
  EXPECT_EQ(Value::object().find("x"), nullptr);
}

}  // namespace
}  // namespace sonde
