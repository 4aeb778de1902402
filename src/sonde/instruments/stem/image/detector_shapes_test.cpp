// SPDX-License-Identifier: Apache-2.0
// The table of shapes: what holds for every row. What each shape counts is in expression_test.cpp.
#include "sonde/instruments/stem/image/detector_shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sonde/instruments/stem/image/expression.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using ::testing::HasSubstr;

class EveryShape : public ::testing::TestWithParam<const DetectorShape*> {
 protected:
  const DetectorShape& shape_ = *GetParam();
  static DetectorGeometry detector() { return {32, 40, 15.5, 19.5, 4.0, {}}; }
};

TEST_P(EveryShape, ParsesFromItsExampleAndCountsSomePixelsButNotAll) {
  ASSERT_TRUE(shape_.example.starts_with(std::string(shape_.name) + "("));
  const Mask mask = detector_mask(shape_.example, detector());
  EXPECT_GT(mask.area(), 0);
  EXPECT_LT(mask.area(), 32 * 40);
}

TEST_P(EveryShape, IsInTheHelpWithItsFormAndOneSentence) {
  const std::string help = detector_shapes_help();
  EXPECT_THAT(help, HasSubstr("    " + shape_.form() + "\n        " + std::string(shape_.help)));
  EXPECT_TRUE(shape_.help.ends_with('.'));
  EXPECT_EQ(shape_.help.find(". "), std::string_view::npos);
}

TEST_P(EveryShape, RefusesToHaveNoArgumentsAndShowsFormAndExample) {
  const std::string refused = sonde::testing::error_of(
      ErrorKind::usage, [&] { (void)DetectorExpression::parse(std::string(shape_.name) + "()"); });
  EXPECT_THAT(refused, HasSubstr("takes other arguments than these 0: " + shape_.form()));
  EXPECT_THAT(refused, HasSubstr("hint: for instance " + std::string(shape_.example)));
}

TEST_P(EveryShape, NamesItsArgumentsOnceEach) {
  std::set<std::string_view> names;
  for (const ShapeArgument& argument : shape_.arguments) {
    EXPECT_TRUE(names.insert(argument.name).second) << argument.name;
    EXPECT_FALSE(name(argument.role).empty());
    EXPECT_THAT(shape_.form(), HasSubstr(argument.name));
  }
  EXPECT_LT(shape_.optional, shape_.arguments.size());
}

std::vector<const DetectorShape*> each() {
  std::vector<const DetectorShape*> all;
  for (const DetectorShape& shape : detector_shapes()) all.push_back(&shape);
  return all;
}
TEST(DetectorFamilies, AreInTheHelpAndExpandTheirExamples) {
  for (const DetectorShape& family : detector_families()) {
    EXPECT_THAT(detector_shapes_help(), HasSubstr("    " + family.form() + "\n        " + std::string(family.help)));
    EXPECT_GT(expand_detector(family.example).members.size(), 1U);
    EXPECT_EQ(find_detector_shape(family.name), nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryShape, ::testing::ValuesIn(each()),
                         [](const auto& each_one) { return std::string(each_one.param->name); });

TEST(DetectorShapes, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names, drawn;
  for (const DetectorShape& shape : detector_shapes()) {
    EXPECT_TRUE(names.insert(shape.name).second) << shape.name;
    EXPECT_TRUE(drawn.insert(shape.drawn_name()).second) << shape.drawn_name();
    EXPECT_EQ(find_detector_shape(shape.name), &shape);
  }
  EXPECT_EQ(find_detector_shape("disc"), nullptr);
}

TEST(DetectorShapes, ShowOptionalArgumentsInBracketsAndRepeatedOnesTwice) {
  EXPECT_EQ(find_detector_shape("segment")->form(), "segment(row,col,r_in,r_out,k,n[,phi0])");
  EXPECT_EQ(find_detector_shape("polygon")->form(), "polygon(row,col,row,col,row,col,...)");
  EXPECT_EQ(find_detector_shape("runs")->form(), "runs(row,col0,col1,row,col0,col1,...)");
}

TEST(DetectorShapes, TakeAsManyArgumentsAsTheirFormShows) {
  const DetectorShape &segment = *find_detector_shape("segment"), &polygon = *find_detector_shape("polygon");
  EXPECT_FALSE(segment.takes(5));
  EXPECT_TRUE(segment.takes(6));
  EXPECT_TRUE(segment.takes(7));
  EXPECT_FALSE(segment.takes(8));
  EXPECT_FALSE(polygon.takes(4));
  EXPECT_TRUE(polygon.takes(6));
  EXPECT_FALSE(polygon.takes(7));
  EXPECT_TRUE(polygon.takes(8));
}

}  // namespace
}  // namespace sonde::stem
