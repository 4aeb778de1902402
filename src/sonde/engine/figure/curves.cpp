// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/figure/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/figure/canvas.h"
#include "sonde/engine/figure/chart_parts.h"
#include "sonde/engine/figure/image.h"

namespace sonde {
namespace {

constexpr Colour axis_ink{40, 40, 40}, grid_grey{222, 222, 222};
/// Of "#rrggbb".
Colour colour_of(std::string_view hex) {
  const auto part = [&](std::size_t at) {
    return static_cast<std::uint8_t>(std::stoi(std::string(hex.substr(at, 2)), nullptr, 16));
  };
  return {part(1), part(3), part(5)};
}

struct Span {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void take(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// The ends of an axis: those that are given, else those of the values, never the same.
Span ends(const Axis& axis, Span values) {
  if (axis.low) values.low = *axis.low;
  if (axis.high) values.high = *axis.high;
  if (!(values.high > values.low)) values.high = values.low + 1;
  return values;
}

/// Pixels of the frame inside of which values are drawn.
struct Frame {
  double top, left, bottom, right;
  Span x, y;
  [[nodiscard]] Point at(double px, double py) const {
    return {bottom - (py - y.low) / (y.high - y.low) * (bottom - top),
            left + (px - x.low) / (x.high - x.low) * (right - left)};
  }
  [[nodiscard]] bool holds(double px, double py) const {
    return std::isfinite(px) && std::isfinite(py) && px >= x.low && px <= x.high && py >= y.low && py <= y.high;
  }
};

void draw_ticks(Canvas& canvas, const Frame& frame, double letters) {
  const auto each = [](const Span& span, auto&& draw) {
    const double step = scale_bar_length((span.high - span.low) / 3);
    for (double value = std::ceil(span.low / step - 1e-9) * step; value <= span.high + 1e-9 * step; value += step)
      draw(std::abs(value) < 1e-9 * step ? 0.0 : value);
  };
  each(frame.x, [&](double value) {
    const Point foot = frame.at(value, frame.y.low);
    canvas.line(foot, {frame.top, foot.col}, 1, grid_grey);
    const std::string text = fmt::format("{:.6g}", value);
    canvas.text(text, {frame.bottom + 1.7 * letters, foot.col - text_width(text, letters) / 2}, letters, axis_ink);
  });
  each(frame.y, [&](double value) {
    const Point foot = frame.at(frame.x.low, value);
    canvas.line(foot, {foot.row, frame.right}, 1, grid_grey);
    const std::string text = fmt::format("{:.6g}", value);
    canvas.text(text, {foot.row + letters / 2, frame.left - 0.6 * letters - text_width(text, letters)}, letters,
                axis_ink);
  });
}

void draw_series(Canvas& canvas, const Frame& frame, const Series& series, Colour colour) {
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!frame.holds(series.x[i], series.y[i])) continue;
    const Point here = frame.at(series.x[i], series.y[i]);
    if (series.mark != Mark::lines) canvas.circle(here, 1, 3, colour);
    if (series.mark != Mark::points && i > 0 && frame.holds(series.x[i - 1], series.y[i - 1]))
      canvas.line(frame.at(series.x[i - 1], series.y[i - 1]), here, 2, colour);
  }
}

void draw_references(Canvas& canvas, const Frame& frame, const Facet& facet, double letters) {
  for (const ReferenceLine& line : facet.references) {
    const double x = line.upright ? line.value : frame.x.low, y = line.upright ? frame.y.low : line.value;
    if (!frame.holds(x, y)) continue;
    const Point foot = frame.at(x, y);
    canvas.line(foot, line.upright ? Point{frame.top, foot.col} : Point{foot.row, frame.right}, 1, axis_ink);
    const double width = text_width(line.label, letters);
    // Beside the line, on the side that has room for it.
    const double left =
        foot.col + 0.6 * letters + width <= frame.right ? foot.col + 0.6 * letters : foot.col - 0.6 * letters - width;
    const double base = line.upright ? frame.top + 1.4 * letters : foot.row - 0.5 * letters;
    if (!line.label.empty())
      canvas.fill(std::lround(base - 1.2 * letters), std::lround(left), std::lround(1.5 * letters), std::lround(width),
                  {255, 255, 255});
    canvas.text(line.label, {base, left}, letters, axis_ink);
  }
}

/// In one line above the frame, where nothing crosses it.
void draw_legend(Canvas& canvas, const Frame& frame, const Facet& facet, double letters) {
  double right = frame.right;
  for (std::size_t s = facet.series.size(); s-- > 0;) {
    const std::string& name = facet.series[s].name;
    if (name.empty()) continue;
    const double left = right - text_width(name, letters), row = frame.top - 1.4 * letters;
    canvas.text(name, {row + letters / 2, left}, letters, axis_ink);
    canvas.line({row, left - 2.6 * letters}, {row, left - 0.6 * letters}, 2,
                colour_of(chart_palette[s % std::size(chart_palette)]));
    right = left - 4.2 * letters;
  }
}

}  // namespace

Array render_facet(const Facet& facet, Index rows, Index cols) {
  if (rows < 120 || cols < 160) throw Error(ErrorKind::bad_input, fmt::format("axes on {} x {} pixels", rows, cols));
  Span x, y;
  for (const Series& series : facet.series) {
    if (series.x.size() != series.y.size())
      throw Error(ErrorKind::bad_input, fmt::format("series \"{}\": {} values for {} positions", series.name,
                                                    series.y.size(), series.x.size()));
    for (const double value : series.x) x.take(value);
    for (const double value : series.y) y.take(value);
  }
  if (!(x.low <= x.high) || !(y.low <= y.high)) throw Error(ErrorKind::bad_input, "axes without a finite value");

  const double letters = std::clamp(static_cast<double>(rows) / 36, 8.0, 16.0);
  const Frame frame{2.5 * letters,
                    5.5 * letters,
                    static_cast<double>(rows) - 4.5 * letters,
                    static_cast<double>(cols) - 1.5 * letters,
                    ends(facet.x, x),
                    ends(facet.y, y)};
  Array picture = blank_image(rows, cols);
  Canvas canvas(picture);
  draw_ticks(canvas, frame, letters);
  canvas.line({frame.bottom, frame.left}, {frame.bottom, frame.right}, 1.5, axis_ink);
  canvas.line({frame.bottom, frame.left}, {frame.top, frame.left}, 1.5, axis_ink);
  const std::string across = axis_title(facet.x), up = axis_title(facet.y);
  canvas.text(across,
              {static_cast<double>(rows) - 0.9 * letters, (frame.left + frame.right - text_width(across, letters)) / 2},
              letters, axis_ink);
  canvas.text(up, {frame.top - 0.9 * letters, 0.8 * letters}, letters, axis_ink);
  for (std::size_t s = 0; s < facet.series.size(); ++s)
    draw_series(canvas, frame, facet.series[s], colour_of(chart_palette[s % std::size(chart_palette)]));
  draw_references(canvas, frame, facet, letters);
  draw_legend(canvas, frame, facet, letters);
  return picture;
}

}  // namespace sonde
