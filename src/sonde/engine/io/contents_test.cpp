// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/contents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

Array two() { return Array::from<double>({0.5, 0.75}, {2}); }

TEST(Contents, WhatContradictsItselfIsRefused) {
  Contents contents;
  contents.add("rho", {"rho"}, two());
  const auto refused = [&](auto&& body) { return testing::error_of(ErrorKind::internal, body); };
  EXPECT_THAT(refused([&] { contents.add("x", {"nu", "rho"}, two()); }), HasSubstr("2 dimensions named"));
  EXPECT_THAT(refused([&] { contents.add("rho", 1.0); }), HasSubstr("two variables named rho"));
}

TEST(Contents, OfTwoTheFirstKeepsItsAttributes) {
  Contents first, second;
  first.attribute("schema", "first");
  second.attribute("schema", "second");
  second.attribute("comment", "of the second");
  first.add("a", {"x"}, two()).unit("m");
  second.add_text("b", "text");
  first.append(std::move(second));
  ASSERT_EQ(first.attributes().size(), 2U);
  EXPECT_EQ(std::get<std::string>(first.attributes()[0].second), "first");
  EXPECT_EQ(std::get<std::string>(first.attributes()[1].second), "of the second");
  ASSERT_NE(first.find("b"), nullptr);
  EXPECT_EQ(first.find("b")->text, "text");
  EXPECT_EQ(first.find("a")->unit(), "m");
  EXPECT_EQ(first.find("c"), nullptr);
}

TEST(Contents, ACloneHasElementsOfItsOwn) {
  Array values = two();
  Contents contents;
  contents.add("a", {"x"}, alias(values));
  const Contents copy = contents.clone();
  values.view<double, 1>()(0) = 7;
  EXPECT_EQ((contents.find("a")->values.view<double, 1>()(0)), 7);
  EXPECT_EQ((copy.find("a")->values.view<double, 1>()(0)), 0.5);
}

}  // namespace
}  // namespace sonde
