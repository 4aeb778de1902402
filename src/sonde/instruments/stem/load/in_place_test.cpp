// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/in_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

Budget roomy() { return Budget(std::size_t{1} << 30, "a test"); }

/// 2 x 3 positions of 4 x 5 pixels that count up.
Array counting() {
  std::vector<std::uint16_t> elements(2 * 3 * 4 * 5);
  std::iota(elements.begin(), elements.end(), std::uint16_t{0});
  return Array::from(elements, {2, 3, 4, 5});
}

LoadOptions as_they_are() {
  LoadOptions options;
  options.hot_pixels = BadPixelAction::none;
  return options;
}

TEST(InPlace, TheFramesAreTheArray) {
  Array scan = counting();
  const void* elements = scan.data();
  const Dataset dataset = load_in_place(std::move(scan), "scan", as_they_are(), roomy());
  EXPECT_EQ(dataset.array().data(), elements);
  EXPECT_EQ(dataset.layout(), LayoutChoice::frame);
  EXPECT_EQ(dataset.shape(), (Shape{2, 3, 4, 5}));
  EXPECT_EQ((dataset.pattern(1, 2).view<std::uint16_t, 2>()(3, 4)), 119);
}

TEST(InPlace, MomentsAreThoseOfTheArray) {
  const Dataset dataset = load_in_place(counting(), "scan", as_they_are(), roomy());
  // Position p holds 20 p ... 20 p + 19, whose sum is 400 p + 190.
  for (Index p = 0; p < 6; ++p)
    EXPECT_EQ((dataset.moments().total.view<std::uint64_t, 1>()(p)), static_cast<std::uint64_t>(400 * p + 190));
}

TEST(InPlace, SettingsThatChangeElementsAreNamed) {
  LoadOptions options = as_they_are();
  options.det_bin = "2";
  options.scan_region = "0,1,0,1";
  const std::string text =
      error_of(ErrorKind::bad_input, [&] { (void)load_in_place(counting(), "scan", options, roomy()); });
  EXPECT_THAT(text, HasSubstr("scan: det_bin and scan_region would change elements"));
  EXPECT_THAT(text, HasSubstr("copy=True"));
}

TEST(InPlace, BadPixelsAreNotSilentlyKept) {
  std::vector<std::uint16_t> elements(32 * 32 * 16 * 16, 10);
  for (std::size_t p = 0; p < 32 * 32; ++p) elements[p * 256 + 3 * 16 + 7] = 5000;
  Array scan = Array::from(elements, {32, 32, 16, 16});
  EXPECT_THAT(
      error_of(ErrorKind::bad_input, [&] { (void)load_in_place(std::move(scan), "scan", LoadOptions(), roomy()); }),
      HasSubstr("1 pixels are bad (row 3, col 7 is hot)"));
}

TEST(InPlace, OtherElementsNeedACopy) {
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] {
                         Array scan = Array::from(std::vector<double>(16), {2, 2, 2, 2});
                         (void)load_in_place(std::move(scan), "scan", as_they_are(), roomy());
                       }),
              HasSubstr("elements of type f64"));
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [] {
                         (void)open_array(Array::from(std::vector<float>(8), {2, 2, 2}), "scan", LoadOptions{});
                       }),
              HasSubstr("scan: shape (2, 2, 2), expected (scan rows, scan cols, rows, cols)"));
}

TEST(InPlace, ALoadOfTheArrayMakesNewElements) {
  LoadOptions options = as_they_are();
  options.det_bin = "2";
  const Dataset dataset = load(open_array(counting(), "scan", options), options, roomy());
  EXPECT_EQ(dataset.shape(), (Shape{2, 3, 2, 3}));
  EXPECT_EQ(dataset.pattern(0, 0).count(), 6);
}

}  // namespace
}  // namespace sonde::stem
