// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/scan_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

struct Row {
  const char* what;
  ScanFacts facts;
  ReadOptions options;
  Index rows, cols, prescan;
  const char* because;
};

ReadOptions user(std::optional<Index> rows, std::optional<Index> cols) {
  ReadOptions options;
  options.scan_rows = rows;
  options.scan_cols = cols;
  return options;
}
ReadOptions incomplete(ReadOptions options = {}) {
  options.allow_incomplete = true;
  return options;
}
ReadOptions extra(ReadOptions options = {}) {
  options.drop_extra = true;
  return options;
}
ScanFacts only(Index frames) { return {frames, {}, {}, {}, {}}; }
StatedGrid attribute(Index rows, Index cols) { return {rows, cols, 0, "attribute scan_shape of /entry/data"}; }
StatedGrid sidecar(Index rows, Index cols, Index prescan = 0) { return {rows, cols, prescan, "sidecar x.h5"}; }

class ScanShapeRules : public ::testing::TestWithParam<Row> {};

TEST_P(ScanShapeRules, FirstThatFitsDecides) {
  const Row& row = GetParam();
  const ScanShape shape = choose_scan_shape(row.facts, row.options);
  EXPECT_EQ(shape.rows, row.rows);
  EXPECT_EQ(shape.cols, row.cols);
  EXPECT_EQ(shape.prescan, row.prescan);
  EXPECT_THAT(shape.because, HasSubstr(row.because));
}

INSTANTIATE_TEST_SUITE_P(
    , ScanShapeRules,
    ::testing::Values(
        Row{"user", {20, attribute(4, 5), {}, {}, {}}, user(2, 10), 2, 10, 0, "given as scan_shape"},
        Row{"user_rows", {20, {}, {}, {}, {}}, user(4, {}), 4, 5, 0, "the rest from 20 frames"},
        Row{"user_cols", {20, {}, {}, {}, {}}, user({}, 4), 5, 4, 0, "the rest from 20 frames"},
        Row{"user_rows_incomplete", {19, {}, {}, {}, {}}, incomplete(user(4, {})), 4, 5, 0, "the rest from 19"},
        Row{"user_rows_extra", {22, {}, {}, {}, {}}, extra(user(4, {})), 4, 5, 0, "the rest from 22"},
        Row{"attribute", {20, attribute(4, 5), sidecar(5, 4), {}, {}}, {}, 4, 5, 0, "attribute scan_shape"},
        Row{"sidecar", {20, {}, sidecar(5, 4), 20, 1}, {}, 5, 4, 0, "sidecar x.h5"},
        Row{"sidecar_before_square", {16, {}, sidecar(2, 8), 16, 1}, {}, 2, 8, 0, "sidecar x.h5"},
        Row{"prescan", {30, {}, sidecar(5, 4, 2), {}, {}}, {}, 5, 4, 2, "2 prescan columns"},
        Row{"prescan_not_stored", {20, {}, sidecar(5, 4, 2), {}, {}}, {}, 5, 4, 0, "sidecar x.h5"},
        Row{"sidecar_incomplete", {19, {}, sidecar(5, 4), {}, {}}, incomplete(), 5, 4, 0, "sidecar x.h5"},
        Row{"sidecar_extra", {21, {}, sidecar(5, 4), {}, {}}, extra(), 5, 4, 0, "sidecar x.h5"},
        Row{"sidecar_of_another_scan", {16, {}, sidecar(5, 4), 16, 1}, {}, 4, 4, 0, "the master expects 16"},
        Row{"detector", {20, {}, {}, 5, 4}, {}, 5, 4, 0, "5 triggers of 4 images"},
        Row{"detector_square", {16, {}, {}, 16, 1}, {}, 4, 4, 0, "the master expects 16 frames"},
        Row{"detector_square_incomplete", {14, {}, {}, 16, 1}, incomplete(), 4, 4, 0, "the master expects 16"},
        Row{"square", {65536, {}, {}, {}, {}}, {}, 256, 256, 0, "65536 is a square number"},
        Row{"square_though_one_expected", {4, {}, {}, 1, 1}, {}, 2, 2, 0, "4 is a square number"},
        Row{"one", {1, {}, {}, {}, {}}, {}, 1, 1, 0, "1 is a square number"}),
    [](const auto& each) { return each.param.what; });

TEST(ScanShape, PairsNearestToASquareAreOffered) {
  const std::string text = error_of(ErrorKind::bad_input, [] { (void)choose_scan_shape(only(65280), {}); });
  EXPECT_THAT(text, HasSubstr("65280 frames: nothing says the shape of the scan"));
  EXPECT_THAT(text, HasSubstr("give --scan-shape, for instance 255,256 or 240,272"));
}

TEST(ScanShape, MissingFramesAreAnError) {
  const ScanFacts facts = {29, {}, sidecar(5, 6), {}, {}};
  const std::string text = error_of(ErrorKind::bad_file, [&] { (void)choose_scan_shape(facts, {}); });
  EXPECT_THAT(text, HasSubstr("29 frames, but sidecar x.h5 describes a scan of 5 x 6 = 30"));
  EXPECT_THAT(text, HasSubstr("--allow-incomplete"));
}

TEST(ScanShape, ExtraFramesAreAnError) {
  const std::string text = error_of(ErrorKind::bad_file, [] { (void)choose_scan_shape(only(31), user(5, 6)); });
  EXPECT_THAT(text, HasSubstr("31 frames, but --scan-shape asks for a scan of 5 x 6 = 30"));
  EXPECT_THAT(text, HasSubstr("--drop-extra"));
}

TEST(ScanShape, AllowingExtraDoesNotAllowMissing) {
  EXPECT_THAT(error_of(ErrorKind::bad_file, [] { (void)choose_scan_shape(only(29), extra(user(5, 6))); }),
              HasSubstr("29 frames"));
}

TEST(ScanShape, AnotherCountThanTheMasterExpectsIsAnError) {
  const ScanFacts facts = {16, {}, {}, 20, 1};
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)choose_scan_shape(facts, {}); }),
              HasSubstr("16 frames, but the master expects 20"));
}

TEST(ScanShape, RowsThatDoNotDivideAreAnError) {
  EXPECT_THAT(error_of(ErrorKind::bad_input, [] { (void)choose_scan_shape(only(31), user(5, {})); }),
              HasSubstr("31 frames do not divide into 5 rows"));
}

TEST(ScanShape, NoFramesAreAnError) {
  EXPECT_THAT(error_of(ErrorKind::bad_file, [] { (void)choose_scan_shape({}, {}); }), HasSubstr("no frames"));
}

/// The grid of stored frames with each frame's number, dropped prescan left out.
TEST(ScanOrderOf, TransposesThenFlips) {
  ReadOptions options;
  options.transpose_scan = options.flip_rows = true;
  const ScanOrder order = scan_order({2, 3, 1, ""}, options);
  EXPECT_EQ(order.rows, 3);
  EXPECT_EQ(order.cols, 2);
  // stored: x 1 2 3 / x 5 6 7; transposed: 1 5 / 2 6 / 3 7; rows flipped: 3 7 / 2 6 / 1 5
  const Index expected[3][2] = {{3, 7}, {2, 6}, {1, 5}};
  for (Index row = 0; row < 3; ++row)
    for (Index col = 0; col < 2; ++col) EXPECT_EQ(order.frame(row, col), expected[row][col]);
}

}  // namespace
}  // namespace sonde::stem
