// SPDX-License-Identifier: Apache-2.0
// Private to the room: letters as strokes, so that labels need no font file and are smooth at any size.
#pragma once

#include <string_view>
#include <vector>

namespace sonde {

/// In units of the height of a capital, from the left end of the base line.
struct GlyphPoint {
  double right = 0, up = 0;
};

struct Glyph {
  double advance = 0;
  std::vector<std::vector<GlyphPoint>> strokes;  ///< polygons, drawn with round ends
};

inline constexpr double stroke_width = 0.135;  ///< of the height of a capital: a regular weight
inline constexpr double letter_gap = 0.19;

/// The glyphs of UTF-8 text; what the font lacks becomes a box.
[[nodiscard]] std::vector<const Glyph*> glyphs_of(std::string_view text);

}  // namespace sonde
