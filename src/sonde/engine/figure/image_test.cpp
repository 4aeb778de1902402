// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/figure/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "sonde/engine/io/png.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

Colour pixel(const Array& picture, Index row, Index col) {
  const auto view = picture.view<std::uint8_t, 3>();
  return {view(row, col, 0), view(row, col, 1), view(row, col, 2)};
}

Array ramp(Index count) {
  std::vector<float> values;
  for (Index i = 0; i < count; ++i) values.push_back(static_cast<float>(i));
  return Array::from(values, {1, count});
}

const ImageStyle plain{.low_percentile = 0, .high_percentile = 100, .zoom = 1};

TEST(ColourTable, MapsBeginAndEndAtTheirPublishedColours) {
  EXPECT_EQ(colour_table(ColourMap::gray).front(), (Colour{0, 0, 0}));
  EXPECT_EQ(colour_table(ColourMap::viridis).front(), (Colour{0x44, 0x01, 0x54}));
  EXPECT_EQ(colour_table(ColourMap::viridis).back(), (Colour{0xfd, 0xe7, 0x25}));
  EXPECT_EQ(colour_table(ColourMap::rdbu).back(), (Colour{0x05, 0x30, 0x61}));
}

TEST(ColourTable, ViridisPassesThroughItsMiddle) {
  // Entry 128 of the published table is 0x21918c.
  const Colour middle = colour_table(ColourMap::viridis)[128];
  EXPECT_NEAR(middle.red, 0x21, 3);
  EXPECT_NEAR(middle.green, 0x91, 3);
  EXPECT_NEAR(middle.blue, 0x8c, 3);
}

double luminance(Colour c) { return 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue; }

class SequentialMap : public ::testing::TestWithParam<ColourMap> {};

TEST_P(SequentialMap, GrowsBrighterFromEndToEnd) {
  const auto& table = colour_table(GetParam());
  // Rounding to 8 bits may take one level back.
  for (std::size_t i = 0; i + 1 < table.size(); ++i) EXPECT_GE(luminance(table[i + 1]), luminance(table[i]) - 1) << i;
}

INSTANTIATE_TEST_SUITE_P(, SequentialMap,
                         ::testing::Values(ColourMap::gray, ColourMap::viridis, ColourMap::cividis, ColourMap::inferno,
                                           ColourMap::magma));

TEST(ColourTable, ThePhaseCircleIsClosed) {
  const auto& table = colour_table(ColourMap::phase);
  const auto step = [](Colour a, Colour b) {
    return std::abs(a.red - b.red) + std::abs(a.green - b.green) + std::abs(a.blue - b.blue);
  };
  for (std::size_t i = 0; i < 256; ++i) EXPECT_LE(step(table[i], table[(i + 1) % 256]), 12) << i;
}

TEST(RenderImage, LinearRampBecomesGreyLevels) {
  const Array picture = render_image(ramp(256), plain);
  for (Index i = 0; i < 256; ++i) EXPECT_EQ(pixel(picture, 0, i).green, i);
}

TEST(RenderImage, PowerStretchIsAPower) {
  ImageStyle style = plain;
  style.stretch = Stretch::power;
  style.power = 0.5;
  EXPECT_EQ(pixel(render_image(ramp(256), style), 0, 64).red, std::lround(255 * std::sqrt(64.0 / 255)));
}

TEST(RenderImage, LogStretchLiftsSmallValues) {
  ImageStyle style = plain;
  style.stretch = Stretch::log;
  EXPECT_EQ(pixel(render_image(ramp(256), style), 0, 1).red,
            std::lround(255 * std::log1p(1000.0 / 255) / std::log1p(1000.0)));
}

TEST(RenderImage, PercentilesCutOutliers) {
  std::vector<float> values(1000, 0.0F);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  values[0] = 1e9F;
  const ValueRange range = percentile_range(Array::from(values, {10, 100}), 0.5, 99.5);
  EXPECT_NEAR(range.low, 6, 1);  // position 5 of the sorted values 1, 2, ...
  EXPECT_NEAR(range.high, 995, 1);
}

TEST(RenderImage, SymmetricRangePutsZeroInTheMiddle) {
  const Array image = Array::from(std::vector<float>{-1, 0, 3}, {1, 3});
  ImageStyle style = plain;
  style.symmetric = true;
  style.colours = ColourMap::rdbu;
  const Array picture = render_image(image, style);
  EXPECT_EQ(pixel(picture, 0, 1), colour_table(ColourMap::rdbu)[128]);
  EXPECT_EQ(pixel(picture, 0, 2), colour_table(ColourMap::rdbu)[255]);
}

TEST(RenderImage, ValuesThatAreNotFiniteStandOut) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Array picture = render_image(Array::from(std::vector<float>{0, nan, 1}, {1, 3}), plain);
  EXPECT_NE(pixel(picture, 0, 1).red, pixel(picture, 0, 1).green);
  EXPECT_EQ(pixel(picture, 0, 2), (Colour{255, 255, 255}));
}

TEST(RenderImage, FlatAndAllNanImagesAreDrawn) {
  EXPECT_EQ(pixel(render_image(Array::from(std::vector<std::uint16_t>{7, 7}, {1, 2}), plain), 0, 0).red, 128);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NO_THROW((void)render_image(Array::from(std::vector<float>{nan}, {1, 1}), plain));
}

TEST(RenderImage, ZoomRepeatsPixels) {
  ImageStyle style = plain;
  style.zoom = 3;
  const Array picture = render_image(ramp(2), style);
  EXPECT_EQ(picture.shape(), (Shape{3, 6, 3}));
  EXPECT_EQ(pixel(picture, 2, 2).red, 0);
  EXPECT_EQ(pixel(picture, 0, 3).red, 255);
}

TEST(RenderImage, SmallImagesAreEnlargedToAComfortableSize) {
  EXPECT_EQ(render_image(Array::zeros(Device::cpu(), {64, 32}, DType::u64)).shape(), (Shape{512, 256, 3}));
  EXPECT_EQ(render_image(Array::zeros(Device::cpu(), {900, 800}, DType::u8)).shape(), (Shape{900, 800, 3}));
}

TEST(RenderImage, CirclesAreDrawnWhereTheDataAre) {
  ImageStyle style = plain;
  style.zoom = 5;
  style.overlays = {Circle{.row = 16, .col = 16, .radius = 10}};
  const Array picture = render_image(Array::zeros(Device::cpu(), {33, 33}, DType::f32), style);
  EXPECT_EQ(pixel(picture, 5 * 16 + 2, 5 * 26 + 2), (Colour{255, 255, 255}));
  EXPECT_EQ(pixel(picture, 5 * 16 + 2, 5 * 16 + 2), (Colour{128, 128, 128}));
}

TEST(RenderImage, OverlaysOutsideTheImageAreCut) {
  ImageStyle style = plain;
  style.overlays = {Annulus{.row = -50, .col = 500, .inner = 10, .outer = 1e6}};
  EXPECT_NO_THROW((void)render_image(ramp(8), style));
}

TEST(RenderImage, OtherArraysAreRefused) {
  EXPECT_EQ(testing::error_of(ErrorKind::bad_input,
                              [] {
                                (void)render_image(Array::zeros(Device::cpu(), {2, 2, 2}, DType::u8));
                              }),
            "error: shape (2, 2, 2), expected an image of two dimensions");
  EXPECT_EQ(testing::error_of(ErrorKind::bad_input,
                              [] {
                                (void)render_image(Array::zeros(Device::cpu(), {2, 2}, DType::c64));
                              }),
            "error: element type c64, expected real numbers\nhint: show the amplitude or the phase");
}

TEST(ScaleBar, LengthFollowsTheOneTwoFiveRule) {
  EXPECT_DOUBLE_EQ(scale_bar_length(9.9), 5);
  EXPECT_DOUBLE_EQ(scale_bar_length(5), 5);
  EXPECT_DOUBLE_EQ(scale_bar_length(4.9), 2);
  EXPECT_DOUBLE_EQ(scale_bar_length(1.9), 1);
  EXPECT_DOUBLE_EQ(scale_bar_length(0.03), 0.02);
  EXPECT_DOUBLE_EQ(scale_bar_length(1000), 1000);
  EXPECT_DOUBLE_EQ(scale_bar_length(999.9), 500);
}

TEST(ScaleBar, IsAsLongAsItSays) {
  ImageStyle style = plain;
  style.zoom = 1;
  style.pixel_size = 0.5;
  style.unit = "nm";
  style.low = 0;
  style.high = 1;
  const Array picture = render_image(Array::zeros(Device::cpu(), {400, 400}, DType::u8), style);
  // At most 0.3 x 400 px x 0.5 nm = 60 nm, so 50 nm: 100 pixels of pure white in one row, and no text as long.
  Index longest = 0;
  for (Index r = 0; r < 400; ++r) {
    Index run = 0;
    for (Index c = 0; c < 400; ++c) {
      run = pixel(picture, r, c) == Colour{255, 255, 255} ? run + 1 : 0;
      longest = std::max(longest, run);
    }
  }
  EXPECT_EQ(longest, 100);
}

TEST(ScaleBar, NeedsAUnit) {
  ImageStyle style = plain;
  style.pixel_size = 0.5;
  EXPECT_EQ(pixel(render_image(Array::zeros(Device::cpu(), {64, 64}, DType::u8), style), 60, 5),
            (Colour{128, 128, 128}));
}

TEST(ColourBar, StandsBesideTheImage) {
  ImageStyle style = plain;
  style.colour_bar = true;
  const Array picture = render_image(ramp(64), style);
  EXPECT_GT(picture.shape()[1], 64);
  EXPECT_EQ(picture.shape()[0], 1);
}

TEST(ColourBar, RoundsTheEndsOfItsRange) {
  ImageStyle style = plain;
  style.colour_bar = true;
  const auto drawn = [&](double low, double high, const std::string& unit) {
    style.low = low;
    style.high = high;
    style.value_unit = unit;
    return render_image(ramp(64), style);
  };
  const auto same = [](const Array& a, const Array& b) {
    return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.allocated_bytes()) == 0;
  };
  EXPECT_TRUE(same(drawn(0.0041, 0.6013, ""), drawn(0.00, 0.60, "")));
  EXPECT_FALSE(same(drawn(0.00, 0.60, ""), drawn(0.00, 0.63, "")));
  EXPECT_GT(drawn(0, 0.60, "rad").shape()[1], drawn(0, 0.60, "").shape()[1]);
}

TEST(ColourBar, TellsTheEndsOfANarrowRangeApart) {
  const auto drawn = [](double low, double high) {
    ImageStyle style = plain;
    style.colour_bar = true;
    style.low = low;
    style.high = high;
    return render_image(Array::zeros(Device::cpu(), {64, 64}, DType::u8), style);
  };
  const auto same = [](const Array& a, const Array& b) {
    return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.allocated_bytes()) == 0;
  };
  EXPECT_FALSE(same(drawn(1e7, 1.02e7), drawn(1e7, 1.04e7)));
  EXPECT_FALSE(same(drawn(4.37668, 4.37672), drawn(4.37668, 4.37674)));
}

TEST(Montage, HoldsEveryPanelAtItsPlace) {
  std::vector<Panel> panels;
  ImageStyle style = plain;
  style.low = 0;
  style.high = 1;
  for (int i = 0; i < 3; ++i)
    panels.push_back({"panel", render_image(Array::zeros(Device::cpu(), {40, 60}, DType::u8), style)});
  const Array sheet = montage(panels, 2, "title");
  Index black = 0;
  const auto view = sheet.view<std::uint8_t, 3>();
  for (Index r = 0; r < view.extent[0]; ++r)
    for (Index c = 0; c < view.extent[1]; ++c) black += view(r, c, 0) == 0 && view(r, c, 1) == 0 ? 1 : 0;
  EXPECT_EQ(black, 3 * 40 * 60);
  EXPECT_GT(sheet.shape()[1], 2 * 60);
  EXPECT_LT(sheet.shape()[1], 3 * 60);
}

TEST(Montage, OfNothingIsRefused) {
  EXPECT_EQ(testing::error_of(ErrorKind::bad_input, [] { (void)montage({}); }),
            "error: a montage of 0 panels; expected 1 or more");
}

TEST(WriteImage, MakesAPngFile) {
  const testing::TemporaryFolder folder;
  write_image(folder.file("x.png"), ramp(8), plain);
  const auto bytes = testing::read_bytes(folder.file("x.png"));
  ASSERT_GT(bytes.size(), 8u);
  EXPECT_EQ(bytes[1], 'P');
}

}  // namespace
}  // namespace sonde
