// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/chip_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <deque>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/options/tables.h"
#include "sonde/engine/options/toml.h"
#include "sonde/instruments/stem/timepix/packets.h"

namespace sonde::stem {
namespace {

constexpr Index largest_place = 65536 - chip_side;  // a frame has at most 65536 rows and columns

bool overlap(const Chip& a, const Chip& b) {
  return std::abs(a.x - b.x) < chip_side && std::abs(a.y - b.y) < chip_side;
}

ChipLayout::Place place_of(const Chip& chip) {
  constexpr std::int32_t last = chip_side - 1;
  ChipLayout::Place place;
  if (chip.flip) {
    place.x = last;
    place.column_x = -1;
  }
  for (Index turn = 0; turn < chip.quarter_turns; ++turn) {  // (x, y) goes to (last - y, x)
    const ChipLayout::Place was = place;
    place = {last - was.y, was.x, -was.column_y, was.column_x, -was.row_y, was.row_x};
  }
  place.x += static_cast<std::int32_t>(chip.x);
  place.y += static_cast<std::int32_t>(chip.y);
  return place;
}

}  // namespace

ChipLayout::ChipLayout(std::vector<Chip> chips) : chips_(std::move(chips)) {
  if (chips_.empty())
    throw Error(ErrorKind::bad_input, "the layout of the detector has no chip; expected a table [[chip]] for each");
  for (std::size_t i = 0; i < chips_.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (chips_[i].number == chips_[j].number)
        throw Error(ErrorKind::bad_input,
                    fmt::format("chip {} is in the layout twice; expected one place for each", chips_[i].number));
      if (overlap(chips_[i], chips_[j]))
        throw Error(ErrorKind::bad_input,
                    fmt::format("chips {} and {} overlap: x, y = {}, {} and {}, {}; expected {} pixels or more between "
                                "them in one direction",
                                chips_[j].number, chips_[i].number, chips_[j].x, chips_[j].y, chips_[i].x, chips_[i].y,
                                chip_side));
    }
  for (const Chip& chip : chips_) {
    rows_ = std::max(rows_, chip.y + chip_side);
    cols_ = std::max(cols_, chip.x + chip_side);
  }
  for (const Chip& chip : chips_) places_[static_cast<std::size_t>(chip.number)] = place_of(chip);
}

ChipLayout parse_chip_layout(std::string_view text, const std::string& name) {
  std::deque<Chip> chips;
  Tables tables;
  tables.add_list("chip", {}, [&](const std::string&) {
    Chip& chip = chips.emplace_back();
    Fields fields;
    fields.add("number", chip.number, {.help = "of the chip, as chunks name it", .min = 0, .max = 255});
    fields.add("x", chip.x, {.help = "first column", .unit = "px", .min = 0, .max = largest_place});
    fields.add("y", chip.y, {.help = "first row", .unit = "px", .min = 0, .max = largest_place});
    fields.add("quarter_turns", chip.quarter_turns, {.help = "clockwise, after the flip", .min = 0, .max = 3});
    fields.add("flip", chip.flip, {.help = "mirror its columns"});
    return fields;
  });
  parse_toml(text, name, tables);
  try {
    return ChipLayout({chips.begin(), chips.end()});
  } catch (const Error& error) {
    throw Error(ErrorKind::bad_file, name + ": " + error.marked_message());
  }
}

ChipLayout read_chip_layout(const std::string& path) { return parse_chip_layout(read_text(path), path); }

}  // namespace sonde::stem
