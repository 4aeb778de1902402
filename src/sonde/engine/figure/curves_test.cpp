// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/figure/curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/errors.h"

namespace sonde {
namespace {

using testing::error_of;

/// Where the first series is drawn: the mean row of its colour in every column, or -1.
std::vector<double> drawn_rows(const Array& picture) {
  const auto pixels = picture.view<std::uint8_t, 3>();
  std::vector<double> rows;
  for (Index col = 0; col < pixels.extent[1]; ++col) {
    double sum = 0, count = 0;
    for (Index row = pixels.extent[0] / 5; row < pixels.extent[0]; ++row)  // below the legend
      if (pixels(row, col, 0) == 0x44 && pixels(row, col, 1) == 0x77 && pixels(row, col, 2) == 0xAA) {
        sum += static_cast<double>(row);
        ++count;
      }
    rows.push_back(count > 0 ? sum / count : -1);
  }
  return rows;
}

Facet line(std::vector<double> y) {
  Facet facet{.x = {.title = "x"}, .y = {.title = "y", .unit = "rad", .low = 0.0, .high = 4.0}};
  Series series{.name = "a", .mark = Mark::lines};
  for (std::size_t i = 0; i < y.size(); ++i) series.x.push_back(static_cast<double>(i));
  series.y = std::move(y);
  facet.series.push_back(std::move(series));
  return facet;
}

TEST(RenderFacet, DrawsALineWhereItsValuesAre) {
  const Array picture = render_facet(line({1, 1, 1, 3, 3, 3}), 300, 400);
  ASSERT_EQ(picture.shape(), (Shape{300, 400, 3}));
  const std::vector<double> rows = drawn_rows(picture);
  // Two constant parts; 1 and 3 of an axis from 0 to 4 are half its height apart.
  const double low = rows[110], high = rows[340];
  ASSERT_GT(low, 0);
  ASSERT_GT(high, 0);
  EXPECT_EQ(rows[90], low);
  EXPECT_EQ(rows[350], high);
  const double letters = 300.0 / 36, height = 300 - 7 * letters;
  EXPECT_NEAR(low - high, height / 2, 1);  // pixels are whole
}

TEST(RenderFacet, BreaksLinesWhereAValueIsNone) {
  const std::vector<double> rows =
      drawn_rows(render_facet(line({1, 1, std::numeric_limits<double>::quiet_NaN(), 1, 1}), 300, 400));
  EXPECT_GT(rows[70], 0);
  EXPECT_EQ(rows[215], -1);  // the middle
  EXPECT_GT(rows[370], 0);
}

TEST(RenderFacet, KeepsTheLabelOfAReferenceInside) {
  Facet facet = line({1, 1, 1, 1, 1});
  facet.references.push_back({3.9, "a long label", true});
  const Array with = render_facet(facet, 300, 400);
  facet.references[0].label.clear();
  const Array without = render_facet(facet, 300, 400);
  Index left = 0, right = 0;
  const double letters = 300.0 / 36, at = 5.5 * letters + 3.9 / 4 * (400 - 7 * letters);
  for (Index i = 0; i < with.count(); ++i)
    if (static_cast<const std::uint8_t*>(with.data())[i] != static_cast<const std::uint8_t*>(without.data())[i])
      ++(static_cast<double>(i / 3 % 400) < at ? left : right);
  EXPECT_GT(left, 0);
  EXPECT_EQ(right, 0);
}

TEST(RenderFacet, RefusesWhatItCannotDraw) {
  using ::testing::HasSubstr;
  const auto refused = [](const Facet& facet, Index rows) {
    return error_of(ErrorKind::bad_input, [&] { (void)render_facet(facet, rows, 400); });
  };
  EXPECT_THAT(refused(line({1, 2}), 50), HasSubstr("axes on 50 x 400 pixels"));
  Facet facet = line({1, 2});
  facet.series[0].y.push_back(3);
  EXPECT_THAT(refused(facet, 300), HasSubstr("series \"a\": 3 values for 2 positions"));
  EXPECT_THAT(refused(line({}), 300), HasSubstr("without a finite value"));
}

}  // namespace
}  // namespace sonde
