// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/figure/svg.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "sonde/engine/figure/html.h"

namespace sonde {
namespace {

/// A hundredth of a pixel is finer than any screen.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string drawn(const SvgStyle& style) {
  std::string text = fmt::format("fill=\"{}\"", style.fill);
  if (style.stroke != "none")
    text += fmt::format(" stroke=\"{}\" stroke-width=\"{}\"", style.stroke, number(style.width));
  if (!style.dash.empty()) text += fmt::format(" stroke-dasharray=\"{}\"", style.dash);
  if (style.opacity < 1) text += fmt::format(" opacity=\"{}\"", number(style.opacity));
  return text;
}

}  // namespace

Svg::Svg(double width, double height, std::string_view label)
    : text_(
          fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
                      "role=\"img\" aria-label=\"{2}\">\n",
                      number(width), number(height), html_text(label))) {}

void Svg::line(SvgPoint from, SvgPoint to, const SvgStyle& style) {
  text_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>\n", number(from.x), number(from.y),
                       number(to.x), number(to.y), drawn(style));
}

void Svg::path(std::span<const SvgPoint> points, const SvgStyle& style) {
  std::string steps;
  bool pen_down = false;
  for (const SvgPoint& point : points) {
    const bool finite = std::isfinite(point.x) && std::isfinite(point.y);
    if (finite) steps += fmt::format("{}{} {}", pen_down ? 'L' : 'M', number(point.x), number(point.y));
    pen_down = finite;
  }
  if (!steps.empty()) text_ += fmt::format("<path d=\"{}\" stroke-linejoin=\"round\" {}/>\n", steps, drawn(style));
}

void Svg::rectangle(SvgPoint corner, double width, double height, const SvgStyle& style) {
  text_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}/>\n", number(corner.x), number(corner.y),
                       number(width), number(height), drawn(style));
}

void Svg::circle(SvgPoint centre, double radius, const SvgStyle& style) {
  text_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {}/>\n", number(centre.x), number(centre.y),
                       number(radius), drawn(style));
}

void Svg::arrow(SvgPoint from, SvgPoint to, const SvgStyle& style) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  if (!(length > 0)) return;
  const double head = std::min(0.4 * length, 4 * style.width);
  const double x = (to.x - from.x) / length * head, y = (to.y - from.y) / length * head;
  const SvgPoint left{to.x - x - y / 2, to.y - y + x / 2}, right{to.x - x + y / 2, to.y - y - x / 2};
  text_ += fmt::format("<path d=\"M{} {}L{} {}M{} {}L{} {}L{} {}\" {}/>\n", number(from.x), number(from.y),
                       number(to.x), number(to.y), number(left.x), number(left.y), number(to.x), number(to.y),
                       number(right.x), number(right.y), drawn(style));
}

void Svg::text(SvgPoint at, std::string_view words, const SvgText& how) {
  const char* anchor = how.anchor == Anchor::start ? "start" : how.anchor == Anchor::middle ? "middle" : "end";
  text_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\" fill=\"{}\"", number(at.x),
                       number(at.y), number(how.size), anchor, how.colour);
  if (how.bold) text_ += " font-weight=\"600\"";
  if (how.turn != 0)
    text_ += fmt::format(" transform=\"rotate({} {} {})\"", number(how.turn), number(at.x), number(at.y));
  text_ += ">" + html_text(words) + "</text>\n";
}

void Svg::picture(SvgPoint corner, double width, double height, const Array& picture) {
  text_ += fmt::format(
      "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
      "style=\"image-rendering:pixelated\" href=\"{}\"/>\n",
      number(corner.x), number(corner.y), number(width), number(height), png_data(picture));
}

void Svg::begin_clip(SvgPoint corner, double width, double height) {
  // An inner drawing cuts off what lies outside, without names that would have to be unique in the page.
  text_ += fmt::format("<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" viewBox=\"{0} {1} {2} {3}\">\n",
                       number(corner.x), number(corner.y), number(width), number(height));
}

void Svg::end_clip() { text_ += "</svg>\n"; }

std::string Svg::take() { return std::exchange(text_, {}) + "</svg>\n"; }

}  // namespace sonde
