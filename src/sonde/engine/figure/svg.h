// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sonde/engine/array/array.h"

namespace sonde {

/// How a shape is drawn; colours as in CSS.
struct SvgStyle {
  std::string_view stroke = "none";
  double width = 1;
  std::string_view fill = "none";
  std::string_view dash{};  ///< "4 3"
  double opacity = 1;
};

enum class Anchor { start, middle, end };

struct SvgText {
  double size = 12;
  Anchor anchor = Anchor::start;
  std::string_view colour = "#222";
  bool bold = false;
  double turn = 0;  ///< degrees, clockwise, about the text's own place
};

struct SvgPoint {
  double x = 0, y = 0;
};

/// A drawing as SVG text for the inside of a page: x to the right, y downwards, in CSS pixels.
class Svg {
 public:
  /// `label` says to those who do not see it what is drawn.
  Svg(double width, double height, std::string_view label);

  void line(SvgPoint from, SvgPoint to, const SvgStyle& style);
  /// Breaks at points that are not finite.
  void path(std::span<const SvgPoint> points, const SvgStyle& style);
  void rectangle(SvgPoint corner, double width, double height, const SvgStyle& style);
  void circle(SvgPoint centre, double radius, const SvgStyle& style);
  void arrow(SvgPoint from, SvgPoint to, const SvgStyle& style);
  void text(SvgPoint at, std::string_view words, const SvgText& how = {});
  /// u8 (rows, cols, 3), stretched to the size without smoothing.
  void picture(SvgPoint corner, double width, double height, const Array& picture);
  /// What follows until end_clip() is drawn inside the rectangle only.
  void begin_clip(SvgPoint corner, double width, double height);
  void end_clip();

  /// The whole element.
  [[nodiscard]] std::string take();

 private:
  std::string text_;
};

}  // namespace sonde
