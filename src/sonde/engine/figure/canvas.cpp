// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/figure/canvas.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sonde/engine/figure/font.h"

namespace sonde {
namespace {

/// Distance of a point from the segment between a and b.
double distance(Point p, Point a, Point b) {
  const double row = b.row - a.row, col = b.col - a.col;
  const double length2 = row * row + col * col;
  const double along =
      length2 > 0 ? std::clamp(((p.row - a.row) * row + (p.col - a.col) * col) / length2, 0.0, 1.0) : 0.0;
  return std::hypot(p.row - a.row - along * row, p.col - a.col - along * col);
}

/// How much of a pixel at this distance from the middle of a stroke is covered: a ramp one pixel wide.
double coverage(double distance, double width) { return std::clamp(width / 2 + 0.5 - distance, 0.0, 1.0); }

}  // namespace

void Canvas::blend(Index row, Index col, Colour colour, double opacity) {
  if (row < 0 || col < 0 || row >= rows() || col >= cols() || opacity <= 0) return;
  const std::uint8_t parts[3] = {colour.red, colour.green, colour.blue};
  for (Index i = 0; i < 3; ++i) {
    std::uint8_t& pixel = pixels_(row, col, i);
    pixel = static_cast<std::uint8_t>(std::lround((1 - opacity) * pixel + opacity * parts[i]));
  }
}

void Canvas::fill(Index row, Index col, Index height, Index width, Colour colour, double opacity) {
  for (Index r = std::max<Index>(row, 0); r < std::min(row + height, rows()); ++r)
    for (Index c = std::max<Index>(col, 0); c < std::min(col + width, cols()); ++c) blend(r, c, colour, opacity);
}

void Canvas::line(Point from, Point to, double width, Colour colour) {
  const double reach = width / 2 + 1;
  const auto first_row = static_cast<Index>(std::floor(std::min(from.row, to.row) - reach));
  const auto last_row = static_cast<Index>(std::ceil(std::max(from.row, to.row) + reach));
  const auto first_col = static_cast<Index>(std::floor(std::min(from.col, to.col) - reach));
  const auto last_col = static_cast<Index>(std::ceil(std::max(from.col, to.col) + reach));
  for (Index r = std::max<Index>(first_row, 0); r <= std::min(last_row, rows() - 1); ++r)
    for (Index c = std::max<Index>(first_col, 0); c <= std::min(last_col, cols() - 1); ++c)
      blend(r, c, colour, coverage(distance({static_cast<double>(r), static_cast<double>(c)}, from, to), width));
}

void Canvas::circle(Point centre, double radius, double width, Colour colour) {
  const double reach = radius + width / 2 + 1;
  const auto first_row = static_cast<Index>(std::floor(std::max(centre.row - reach, 0.0)));
  const auto last_row = static_cast<Index>(std::ceil(std::min(centre.row + reach, static_cast<double>(rows() - 1))));
  const auto first_col = static_cast<Index>(std::floor(std::max(centre.col - reach, 0.0)));
  const auto last_col = static_cast<Index>(std::ceil(std::min(centre.col + reach, static_cast<double>(cols() - 1))));
  for (Index r = first_row; r <= last_row; ++r)
    for (Index c = first_col; c <= last_col; ++c) {
      const double from_centre = std::hypot(static_cast<double>(r) - centre.row, static_cast<double>(c) - centre.col);
      blend(r, c, colour, coverage(std::abs(from_centre - radius), width));
    }
}

void Canvas::paste(const Array& image, Index row, Index col) {
  const auto source = image.view<std::uint8_t, 3>();
  for (Index r = 0; r < std::min(source.extent[0], rows() - row); ++r)
    for (Index c = 0; c < std::min(source.extent[1], cols() - col); ++c)
      for (Index i = 0; i < 3; ++i) pixels_(row + r, col + c, i) = source(r, c, i);
}

void Canvas::text(std::string_view words, Point baseline, double height, Colour colour) {
  const double width = std::max(1.0, height * stroke_width);
  double pen = baseline.col;
  for (const Glyph* glyph : glyphs_of(words)) {
    // Strokes of one glyph overlap at joints, so the nearest one decides, instead of blending each on its own.
    const auto place = [&](const GlyphPoint& p) { return Point{baseline.row - p.up * height, pen + p.right * height}; };
    const auto first_row = static_cast<Index>(std::floor(baseline.row - 1.4 * height));
    const auto last_row = static_cast<Index>(std::ceil(baseline.row + 0.5 * height));
    const auto first_col = static_cast<Index>(std::floor(pen - width));
    const auto last_col = static_cast<Index>(std::ceil(pen + glyph->advance * height + width));
    for (Index r = first_row; r <= last_row; ++r)
      for (Index c = first_col; c <= last_col; ++c) {
        double nearest = width + 1;
        for (const auto& stroke : glyph->strokes)
          for (std::size_t i = 0; i + 1 < stroke.size(); ++i)
            nearest = std::min(nearest, distance({static_cast<double>(r), static_cast<double>(c)}, place(stroke[i]),
                                                 place(stroke[i + 1])));
        blend(r, c, colour, coverage(nearest, width));
      }
    pen += (glyph->advance + letter_gap) * height;
  }
}

Array blank_image(Index rows, Index cols) {
  Array image(Device::cpu(), {rows, cols, 3}, DType::u8);
  if (image.count() > 0) std::memset(image.data(), 0xff, static_cast<std::size_t>(image.count()));
  return image;
}

double text_width(std::string_view words, double height) {
  double width = 0;
  for (const Glyph* glyph : glyphs_of(words)) width += glyph->advance + letter_gap;
  return std::max(0.0, width - letter_gap) * height;
}

}  // namespace sonde
