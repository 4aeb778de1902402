// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/figure/font.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <sstream>
#include <string>

namespace sonde {
namespace {

struct Drawing {
  char32_t letter;
  double advance;  // in hundredths of a capital's height, like all numbers here
  const char*
      steps;  // m x y: move; l x y: line; a cx cy rx ry from to: arc of an ellipse, degrees, joined to the stroke
};

constexpr Drawing drawings[] = {
    {U' ', 30, ""},
    {U'0', 60, "m 58 50 a 30 50 28 50 0 360"},
    {U'1', 60, "m 10 80 l 34 100 l 34 0"},
    {U'2', 60, "m 4 76 a 30 73 26 27 172 -38 l 3 0 l 57 0"},
    {U'3', 60, "m 7 88 a 29 75 24 25 148 -90 a 29 25 29 25 90 -150"},
    {U'4', 60, "m 46 0 l 46 100 l 2 30 l 60 30"},
    {U'5', 60, "m 52 100 l 13 100 l 9 53 a 30 33 28 33 138 -150"},
    {U'6', 60, "m 58 32 a 30 32 28 32 0 360 m 50 100 a 58 32 56 68 98 180"},
    {U'7', 60, "m 3 100 l 57 100 l 20 0"},
    {U'8', 60, "m 54 76 a 30 76 24 24 0 360 m 58 26 a 30 26 28 26 0 360"},
    {U'9', 60, "m 58 68 a 30 68 28 32 0 360 m 58 68 a 2 68 56 68 0 -82"},
    {U'A', 66, "m 0 0 l 33 100 l 66 0 m 11 33 l 55 33"},
    {U'B', 60, "m 32 52 l 6 52 l 6 0 l 32 0 a 32 26 26 26 -90 90 a 30 76 22 24 -90 90 l 6 100 l 6 52"},
    {U'C', 66, "m 60 85 a 36 50 34 50 45 315"},
    {U'D', 68, "m 6 0 l 6 100 l 26 100 a 26 50 40 50 90 -90 l 6 0"},
    {U'E', 56, "m 54 100 l 6 100 l 6 0 l 54 0 m 6 52 l 48 52"},
    {U'F', 54, "m 54 100 l 6 100 l 6 0 m 6 52 l 48 52"},
    {U'G', 74, "m 64 85 a 38 50 36 50 46 360 l 44 50"},
    {U'H', 68, "m 6 0 l 6 100 m 62 0 l 62 100 m 6 52 l 62 52"},
    {U'I', 12, "m 6 0 l 6 100"},
    {U'J', 46, "m 40 100 l 40 28 a 22 28 18 28 0 -170"},
    {U'K', 62, "m 6 0 l 6 100 m 58 100 l 6 40 m 23 60 l 61 0"},
    {U'L', 52, "m 6 100 l 6 0 l 50 0"},
    {U'M', 82, "m 6 0 l 6 100 l 41 28 l 76 100 l 76 0"},
    {U'N', 68, "m 6 0 l 6 100 l 62 0 l 62 100"},
    {U'O', 76, "m 74 50 a 38 50 36 50 0 360"},
    {U'P', 60, "m 6 0 l 6 100 l 32 100 a 32 73 26 27 90 -90 l 6 46"},
    {U'Q', 76, "m 74 50 a 38 50 36 50 0 360 m 48 22 l 72 -6"},
    {U'R', 62, "m 6 0 l 6 100 l 32 100 a 32 73 26 27 90 -90 l 6 46 m 34 46 l 61 0"},
    {U'S', 62, "m 52 91 a 31 75 27 25 40 270 a 31 25 29 25 90 -140"},
    {U'T', 60, "m 0 100 l 60 100 m 30 100 l 30 0"},
    {U'U', 68, "m 6 100 l 6 32 a 34 32 28 32 180 360 l 62 100"},
    {U'V', 64, "m 0 100 l 32 0 l 64 100"},
    {U'W', 94, "m 0 100 l 23 0 l 47 92 l 71 0 l 94 100"},
    {U'X', 62, "m 2 100 l 60 0 m 60 100 l 2 0"},
    {U'Y', 62, "m 0 100 l 31 48 l 62 100 m 31 48 l 31 0"},
    {U'Z', 62, "m 4 100 l 58 100 l 3 0 l 60 0"},
    {U'a', 58, "m 53 35 a 28 35 25 35 0 360 m 53 70 l 53 0"},
    {U'b', 58, "m 6 100 l 6 0 m 56 35 a 31 35 25 35 0 360"},
    {U'c', 52, "m 47 62 a 30 35 27 35 50 310"},
    {U'd', 58, "m 53 100 l 53 0 m 53 35 a 28 35 25 35 0 360"},
    {U'e', 57, "m 4 37 l 57 37 a 30 35 27 35 3 312"},
    {U'f', 32, "m 16 0 l 16 78 a 34 78 18 22 180 78 m 2 68 l 32 68"},
    {U'g', 58, "m 53 35 a 28 35 25 35 0 360 m 53 70 l 53 -6 a 29 -6 24 22 0 -150"},
    {U'h', 56, "m 6 100 l 6 0 m 6 44 a 28 44 22 26 180 0 l 50 0"},
    {U'i', 12, "m 6 70 l 6 0 m 6 95 l 6 97"},
    {U'j', 18, "m 13 70 l 13 -10 a 0 -10 13 18 0 -90 m 13 95 l 13 97"},
    {U'k', 50, "m 6 100 l 6 0 m 46 70 l 6 28 m 20 42 l 49 0"},
    {U'l', 12, "m 6 100 l 6 0"},
    {U'm', 88, "m 6 70 l 6 0 m 6 46 a 25 46 19 24 180 0 l 44 0 m 44 46 a 63 46 19 24 180 0 l 82 0"},
    {U'n', 56, "m 6 70 l 6 0 m 6 44 a 28 44 22 26 180 0 l 50 0"},
    {U'o', 58, "m 56 35 a 29 35 27 35 0 360"},
    {U'p', 58, "m 6 70 l 6 -28 m 56 35 a 31 35 25 35 0 360"},
    {U'q', 58, "m 53 70 l 53 -28 m 53 35 a 28 35 25 35 0 360"},
    {U'r', 34, "m 6 70 l 6 0 m 6 40 a 28 40 22 30 180 76"},
    {U's', 48, "m 41 62 a 24 53 21 17 35 270 a 24 18 22 18 90 -145"},
    {U't', 34, "m 15 92 l 15 17 a 32 17 17 17 180 285 m 2 68 l 33 68"},
    {U'u', 56, "m 6 70 l 6 26 a 28 26 22 26 180 360 m 50 70 l 50 0"},
    {U'v', 52, "m 0 70 l 26 0 l 52 70"},
    {U'w', 78, "m 0 70 l 19 0 l 39 64 l 59 0 l 78 70"},
    {U'x', 48, "m 2 70 l 46 0 m 46 70 l 2 0"},
    {U'y', 52, "m 0 70 l 27 0 m 52 70 l 24 -8 a 6 -2 20 24 -20 -100"},
    {U'z', 50, "m 4 70 l 46 70 l 3 0 l 48 0"},
    {U'.', 12, "m 6 1 l 6 3"},
    {U',', 14, "m 9 3 l 3 -16"},
    {U':', 12, "m 6 1 l 6 3 m 6 62 l 6 64"},
    {U';', 14, "m 9 3 l 3 -16 m 9 62 l 9 64"},
    {U'-', 38, "m 4 38 l 34 38"},
    {U'+', 58, "m 4 42 l 54 42 m 29 67 l 29 17"},
    {U'=', 58, "m 4 54 l 54 54 m 4 30 l 54 30"},
    {U'<', 54, "m 50 68 l 4 42 l 50 16"},
    {U'>', 54, "m 4 68 l 50 42 l 4 16"},
    {U'/', 38, "m 0 -10 l 38 106"},
    {U'_', 52, "m 0 -12 l 52 -12"},
    {U'|', 12, "m 6 -14 l 6 110"},
    {U'(', 24, "m 22 110 a 40 48 34 70 122 238"},
    {U')', 24, "m 2 110 a -16 48 34 70 58 -58"},
    {U'[', 24, "m 22 108 l 6 108 l 6 -12 l 22 -12"},
    {U']', 24, "m 2 108 l 18 108 l 18 -12 l 2 -12"},
    {U'%', 84, "m 32 76 a 18 76 14 23 0 360 m 80 24 a 66 24 14 23 0 360 m 66 100 l 18 0"},
    {U'*', 40, "m 20 100 l 20 60 m 2 90 l 38 70 m 38 90 l 2 70"},
    {U'\'', 12, "m 6 104 l 6 80"},
    {U'"', 28, "m 6 104 l 6 80 m 22 104 l 22 80"},
    {U'?', 54, "m 4 78 a 28 76 24 24 172 -50 l 26 40 l 26 28 m 26 1 l 26 3"},
    {U'!', 12, "m 6 100 l 6 28 m 6 1 l 6 3"},
    {U'#', 64, "m 22 100 l 10 0 m 52 100 l 40 0 m 6 68 l 62 68 m 2 32 l 58 32"},
    {U'~', 56, "m 4 36 a 16 36 12 12 180 0 a 40 36 12 12 180 360"},
    {U'\u00b5', 56, "m 6 70 l 6 -28 m 6 26 a 28 26 22 26 180 360 m 50 70 l 50 0"},
    {U'\u03bc', 56, "m 6 70 l 6 -28 m 6 26 a 28 26 22 26 180 360 m 50 70 l 50 0"},
    {U'\u00c5', 66, "m 0 0 l 33 100 l 66 0 m 11 33 l 55 33 m 44 117 a 33 117 11 11 0 360"},
    {U'\u00b0', 32, "m 30 86 a 16 86 14 14 0 360"},
    {U'\u00d7', 50, "m 5 62 l 45 22 m 45 62 l 5 22"},
    {U'\u00b1', 58, "m 4 52 l 54 52 m 29 76 l 29 28 m 4 10 l 54 10"},
    {U'\u00b7', 12, "m 6 40 l 6 42"},
    {U'\u2212', 58, "m 4 42 l 54 42"},
    {U'\u207b', 34, "m 4 82 l 30 82"},
    {U'\u00b9', 24, "m 4 98 l 16 108 l 16 56"},
    {U'\u00b2', 36, "m 4 96 a 18 94 14 14 172 -38 l 3 56 l 33 56"},
    {U'\u00b3', 36, "m 5 101 a 17 95 13 13 148 -90 a 17 69 15 13 90 -150"},
};

Glyph draw(const Drawing& drawing) {
  Glyph glyph{drawing.advance / 100, {}};
  std::istringstream steps(drawing.steps);
  const auto add = [&](double x, double y) { glyph.strokes.back().push_back({x / 100, y / 100}); };
  for (char kind = 0; steps >> kind;) {
    double x = 0, y = 0;
    steps >> x >> y;
    if (kind == 'm') glyph.strokes.emplace_back();
    if (kind != 'a') {
      add(x, y);
      continue;
    }
    double across = 0, along = 0, from = 0, to = 0;
    steps >> across >> along >> from >> to;
    const int pieces = std::max(6, static_cast<int>(std::abs(to - from) / 12));
    for (int i = 0; i <= pieces; ++i) {
      const double angle = (from + (to - from) * i / pieces) * std::numbers::pi / 180;
      add(x + across * std::cos(angle), y + along * std::sin(angle));
    }
  }
  return glyph;
}

const Glyph& glyph_of(char32_t letter) {
  static const std::map<char32_t, Glyph> glyphs = [] {
    std::map<char32_t, Glyph> all;
    for (const Drawing& drawing : drawings) all.emplace(drawing.letter, draw(drawing));
    return all;
  }();
  static const Glyph box = draw({0, 60, "m 6 0 l 6 100 l 54 100 l 54 0 l 6 0"});
  const auto found = glyphs.find(letter);
  return found == glyphs.end() ? box : found->second;
}

}  // namespace

std::vector<const Glyph*> glyphs_of(std::string_view text) {
  std::vector<const Glyph*> glyphs;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<std::uint8_t>(text[i++]);
    const int tail = lead < 0xc0 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    char32_t letter = tail == 0 ? lead : lead & (0x3fu >> tail);
    for (int k = 0; k < tail && i < text.size() && (static_cast<std::uint8_t>(text[i]) & 0xc0u) == 0x80u; ++k)
      letter = (letter << 6) | (static_cast<std::uint8_t>(text[i++]) & 0x3fu);
    glyphs.push_back(&glyph_of(letter));
  }
  return glyphs;
}

}  // namespace sonde
