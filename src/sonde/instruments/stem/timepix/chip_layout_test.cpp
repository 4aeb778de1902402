// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/chip_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

std::pair<int, int> place(const ChipLayout& layout, unsigned chip, int column, int row) {
  const ChipLayout::Place* of = layout.find(chip);
  if (of == nullptr) return {-1, -1};
  return {of->x_of(column, row), of->y_of(column, row)};
}
using Place = std::pair<int, int>;

TEST(ChipLayout, OneChipIsTheDetector) {
  const ChipLayout layout;
  EXPECT_EQ(layout.rows(), 256);
  EXPECT_EQ(layout.cols(), 256);
  EXPECT_EQ(place(layout, 0, 3, 250), Place(3, 250));
  EXPECT_EQ(layout.find(1), nullptr);
}

// The pixel in column 10 and row 3 of a chip at (300, 20), on a screen with rows downward.
TEST(ChipLayout, TurnsAreClockwiseAndAfterTheFlip) {
  const auto with = [](Index turns, bool flip) {
    return place(ChipLayout({{.number = 2, .x = 300, .y = 20, .quarter_turns = turns, .flip = flip}}), 2, 10, 3);
  };
  EXPECT_EQ(with(0, false), Place(310, 23));
  EXPECT_EQ(with(1, false), Place(300 + 252, 20 + 10));
  EXPECT_EQ(with(2, false), Place(300 + 245, 20 + 252));
  EXPECT_EQ(with(3, false), Place(300 + 3, 20 + 245));
  EXPECT_EQ(with(0, true), Place(300 + 245, 23));
  EXPECT_EQ(with(1, true), Place(300 + 252, 20 + 245));
}

TEST(ChipLayout, EveryChipCoversItsSquareOnce) {
  for (Index turns = 0; turns < 4; ++turns)
    for (const bool flip : {false, true}) {
      const ChipLayout layout({{.number = 7, .x = 5, .y = 9, .quarter_turns = turns, .flip = flip}});
      std::vector<int> seen(256 * 256);
      for (int row = 0; row < 256; ++row)
        for (int column = 0; column < 256; ++column) {
          const auto [x, y] = place(layout, 7, column, row);
          ASSERT_TRUE(x >= 5 && x < 261 && y >= 9 && y < 265);
          ++seen[static_cast<std::size_t>((y - 9) * 256 + x - 5)];
        }
      EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), 256 * 256);
    }
}

TEST(ChipLayout, IsReadFromTables) {
  const ChipLayout layout = parse_chip_layout(
      "[[chip]]\nnumber = 3\nx = 260\n[[chip]]\nnumber = 0\ny = 260\nquarter_turns = 2\nflip = true\n", "quad.toml");
  EXPECT_EQ(layout.rows(), 516);
  EXPECT_EQ(layout.cols(), 516);
  EXPECT_EQ(place(layout, 3, 1, 2), Place(261, 2));
  EXPECT_EQ(place(layout, 0, 1, 2), Place(1, 260 + 253));
}

TEST(ChipLayout, ErrorsNameTheChips) {
  const auto told = [](const char* text) {
    return error_of(ErrorKind::bad_file, [&] { (void)parse_chip_layout(text, "d.toml"); });
  };
  EXPECT_THAT(told(""),
              HasSubstr("d.toml: the layout of the detector has no chip; expected a table [[chip]] for each"));
  EXPECT_THAT(told("[[chip]]\nnumber = 1\n[[chip]]\nnumber = 1\nx = 256\n"),
              HasSubstr("d.toml: chip 1 is in the layout twice; expected one place for each"));
  EXPECT_THAT(told("[[chip]]\n[[chip]]\nnumber = 1\nx = 255\ny = 10\n"),
              HasSubstr("d.toml: chips 0 and 1 overlap: x, y = 0, 0 and 255, 10; expected 256 pixels or more between "
                        "them in one direction"));
  EXPECT_THAT(told("[[chip]]\nquarter_turns = 4\n"), HasSubstr("quarter_turns"));
  EXPECT_THAT(told("[[chip]]\ncolumn = 4\n"), HasSubstr("column"));
}

}  // namespace
}  // namespace sonde::stem
