// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/figure/chart_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/figure/chart_parts.h"
#include "sonde/engine/figure/svg.h"

namespace sonde {
namespace {

constexpr double letters = 12, small_letters = 11;
constexpr double letter = 6.6;  // about the width of one
// Room about the axes, in pixels: for marks and titles.
constexpr double room_left = 66, room_right = 18, room_below = 46, room_title = 24, room_legend = 22;
constexpr SvgStyle frame{.stroke = "#888"}, grid{.stroke = "#e6e6e6"};

/// Values from low to high as places from 0 to 1.
struct Scale {
  double low = 0, high = 1;
  bool log = false;

  [[nodiscard]] double at(double value) const {
    if (!log) return (value - low) / (high - low);
    return value > 0 ? std::log(value / low) / std::log(high / low) : std::numeric_limits<double>::quiet_NaN();
  }
};

/// The range of an axis over what it shows, with a little air at free ends.
Scale scale_of(const Axis& axis, const std::vector<double>& shown, double air) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : shown) {
    if (!std::isfinite(value) || (axis.log && value <= 0)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (!(low <= high)) low = axis.log ? 1 : 0, high = axis.log ? 10 : 1;
  if (low == high) {
    const double half = axis.log ? 0 : low == 0 ? 1 : 0.1 * std::abs(low);
    low = axis.log ? low / 1.5 : low - half;
    high = axis.log ? high * 1.5 : high + half;
  }
  const double stretch = axis.log ? std::pow(high / low, air) : air * (high - low);
  Scale scale{axis.log ? low / stretch : low - stretch, axis.log ? high * stretch : high + stretch, axis.log};
  if (axis.low) scale.low = *axis.low;
  if (axis.high) scale.high = *axis.high;
  return scale;
}

/// "5·10⁻⁴".
std::string power_text(double value) {
  constexpr std::string_view digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const double power = std::floor(std::log10(value) + 1e-9), factor = value / std::pow(10, power);
  std::string text = std::abs(factor - 1) < 1e-6 ? "10" : fmt::format("{:.3g}·10", factor);
  if (power < 0) text += "⁻";
  for (const char digit : fmt::format("{:.0f}", std::abs(power))) text += digits[digit - '0'];
  return text;
}

/// All marks of a logarithmic axis are written alike.
std::string log_mark_text(double value, const std::vector<double>& marks) {
  const bool wide = marks.front() < 1e-3 || marks.back() >= 1e5;
  return wide ? power_text(value) : fmt::format("{:g}", value);
}

std::string mark_text(double value, double step) {
  const double size = std::abs(value);
  if (size != 0 && (size >= 1e5 || size < 1e-3)) return fmt::format("{:.3g}", value);
  if (step <= 0) return fmt::format("{:g}", value);
  return fmt::format("{:.{}f}", value, std::max(0, static_cast<int>(-std::floor(std::log10(step) + 1e-9))));
}

/// One pair of axes on the page.
class Axes {
 public:
  Axes(Svg& svg, const Facet& facet, SvgPoint corner, double width, double height) : svg_(svg), facet_(facet) {
    left_ = corner.x + room_left;
    right_ = corner.x + width - room_right;
    const bool named = std::any_of(facet.series.begin(), facet.series.end(),
                                   [](const Series& series) { return !series.name.empty(); });
    top_ = corner.y + (facet.title.empty() ? 10 : room_title) + (named ? room_legend : 0);
    bottom_ = corner.y + height - room_below;
    std::vector<double> xs, ys;
    for (const Series& series : facet.series) {
      xs.insert(xs.end(), series.x.begin(), series.x.end());
      for (const auto* values : {&series.y, &series.low, &series.high})
        ys.insert(ys.end(), values->begin(), values->end());
    }
    for (const ReferenceLine& line : facet.references) (line.upright ? xs : ys).push_back(line.value);
    x_ = scale_of(facet.x, xs, 0);
    y_ = scale_of(facet.y, ys, 0.06);
  }

  void draw() {
    if (!facet_.title.empty()) svg_.text({left_, top_of_texts()}, facet_.title, {.size = letters + 1, .bold = true});
    draw_marks();
    svg_.begin_clip({left_, top_}, right_ - left_, bottom_ - top_);
    for (const ReferenceLine& line : facet_.references) draw_reference(line);
    for (std::size_t k = 0; k < facet_.series.size(); ++k) draw_series(facet_.series[k], colour(k), width_of(k));
    svg_.end_clip();
    svg_.rectangle({left_, top_}, right_ - left_, bottom_ - top_, frame);
    draw_legend();
  }

 private:
  [[nodiscard]] std::string_view colour(std::size_t k) const {
    const std::string& own = facet_.series[k].colour;
    return own.empty() ? chart_palette[k % std::size(chart_palette)] : std::string_view(own);
  }
  /// The first of several is wider: one that lies under another can be seen beside it.
  [[nodiscard]] double width_of(std::size_t k) const { return k == 0 && facet_.series.size() > 1 ? 2.8 : 1.6; }
  [[nodiscard]] double top_of_texts() const { return top_ - (legend_is_there() ? room_legend : 0) - 9; }
  [[nodiscard]] bool legend_is_there() const {
    return std::any_of(facet_.series.begin(), facet_.series.end(), [](const Series& s) { return !s.name.empty(); });
  }
  [[nodiscard]] double across(double x) const { return left_ + (right_ - left_) * x_.at(x); }
  [[nodiscard]] double up(double y) const { return bottom_ - (bottom_ - top_) * y_.at(y); }

  void draw_marks() {
    const std::vector<double> xs =
        axis_marks(x_.low, x_.high, x_.log, std::max(2, static_cast<int>((right_ - left_) / 55)));
    for (const double x : xs) {
      svg_.line({across(x), top_}, {across(x), bottom_}, grid);
      svg_.text({across(x), bottom_ + 16}, text_of(x, xs, x_), {.size = small_letters, .anchor = Anchor::middle});
    }
    const std::vector<double> ys =
        axis_marks(y_.low, y_.high, y_.log, std::max(2, static_cast<int>((bottom_ - top_) / 24)));
    for (const double y : ys) {
      svg_.line({left_, up(y)}, {right_, up(y)}, grid);
      svg_.text({left_ - 6, up(y) + 4}, text_of(y, ys, y_), {.size = small_letters, .anchor = Anchor::end});
    }
    svg_.text({(left_ + right_) / 2, bottom_ + 36}, axis_title(facet_.x), {.size = letters, .anchor = Anchor::middle});
    svg_.text({left_ - room_left + 14, (top_ + bottom_) / 2}, axis_title(facet_.y),
              {.size = letters, .anchor = Anchor::middle, .turn = -90});
  }
  static std::string text_of(double mark, const std::vector<double>& marks, const Scale& scale) {
    if (scale.log) return log_mark_text(mark, marks);
    // Their distance decides how many digits they need.
    return mark_text(mark, marks.size() < 2 ? 0 : marks[1] - marks[0]);
  }

  void draw_reference(const ReferenceLine& line) {
    const SvgStyle style{.stroke = "#777", .width = 1.2, .dash = "5 4"};
    if (line.upright) {
      svg_.line({across(line.value), top_}, {across(line.value), bottom_}, style);
      const bool near_end = across(line.value) + 10 + letter * static_cast<double>(line.label.size()) > right_;
      svg_.text({across(line.value) + (near_end ? -5 : 5), top_ + 14}, line.label,
                {.size = small_letters, .anchor = near_end ? Anchor::end : Anchor::start, .colour = "#555"});
    } else {
      svg_.line({left_, up(line.value)}, {right_, up(line.value)}, style);
      const bool on_left = room_above(left_, line) > room_above(right_, line);
      svg_.text({on_left ? left_ + 6 : right_ - 6, up(line.value) - 5}, line.label,
                {.size = small_letters, .anchor = on_left ? Anchor::start : Anchor::end, .colour = "#555"});
    }
  }

  /// How far, up to a line of text, the curves stay from a label that begins or ends at this end of its line.
  [[nodiscard]] double room_above(double end, const ReferenceLine& line) const {
    const double width = letter * static_cast<double>(line.label.size()), at = up(line.value) - 9;
    double room = 3 * small_letters;
    for (const Series& series : facet_.series)
      for (std::size_t i = 0; i < series.y.size(); ++i)
        if (std::abs(across(series.x[i]) - end) < width + 12) room = std::min(room, std::abs(up(series.y[i]) - at));
    return room;
  }

  void draw_series(const Series& series, std::string_view colour, double width) {
    std::vector<SvgPoint> points;
    for (std::size_t i = 0; i < series.y.size(); ++i) points.push_back({across(series.x[i]), up(series.y[i])});
    for (std::size_t i = 0; i < series.low.size(); ++i)
      svg_.line({points[i].x, up(series.low[i])}, {points[i].x, up(series.high[i])}, {.stroke = colour});
    if (series.mark != Mark::points) svg_.path(points, {.stroke = colour, .width = width});
    if (series.mark == Mark::lines) return;
    for (const SvgPoint& point : points)
      if (std::isfinite(point.x) && std::isfinite(point.y)) draw_symbol(point, series.symbol, colour);
  }

  void draw_symbol(SvgPoint at, Symbol symbol, std::string_view colour) {
    switch (symbol) {
      case Symbol::disc:
        svg_.circle(at, 2.6, {.fill = colour});
        return;
      case Symbol::ring:
        svg_.circle(at, 2.6, {.stroke = colour, .width = 1.4, .fill = "white"});
        return;
      case Symbol::cross:
        for (const double turn : {-3.5, 3.5})
          svg_.line({at.x - 3.5, at.y - turn}, {at.x + 3.5, at.y + turn}, {.stroke = colour, .width = 1.6});
        return;
    }
  }

  void draw_legend() {
    double x = left_;
    for (std::size_t k = 0; k < facet_.series.size(); ++k) {
      const std::string& name = facet_.series[k].name;
      if (name.empty()) continue;
      svg_.line({x, top_ - 11}, {x + 18, top_ - 11}, {.stroke = colour(k), .width = 2.5});
      svg_.text({x + 23, top_ - 7}, name, {.size = letters});
      x += 40 + letter * static_cast<double>(name.size());
    }
  }

  Svg& svg_;
  const Facet& facet_;
  double left_, right_, top_, bottom_;
  Scale x_, y_;
};

/// Multiples of 1, 2 or 5 times a power of ten.
std::vector<double> even_marks(double low, double high, int most) {
  const double rough = (high - low) / most, decade = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * decade;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * decade >= rough) step = factor * decade;
  std::vector<double> marks;
  const double first = std::ceil(low / step - 1e-9);
  for (double k = first; k * step <= high + 1e-9 * step; ++k) marks.push_back(k == 0 ? 0 : k * step);
  return marks;
}

std::vector<double> marks_of_decades(double low, double high, const std::vector<double>& factors) {
  std::vector<double> marks;
  for (double decade = std::floor(std::log10(low) + 1e-9); decade <= std::log10(high) + 1e-9; ++decade)
    for (const double factor : factors)
      if (const double mark = factor * std::pow(10, decade); mark >= low * (1 - 1e-9) && mark <= high * (1 + 1e-9))
        marks.push_back(mark);
  return marks;
}

}  // namespace

std::vector<double> axis_marks(double low, double high, bool log, int most) {
  if (!log) return even_marks(low, high, most);
  for (const auto& factors : {std::vector<double>{1}, {1, 2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9}}) {
    std::vector<double> marks = marks_of_decades(low, high, factors);
    if (marks.size() < 3) continue;
    // Many decades: every second one, every third one, ...
    const std::size_t every = (marks.size() + static_cast<std::size_t>(most) - 1) / static_cast<std::size_t>(most);
    std::vector<double> kept;
    for (std::size_t i = 0; i < marks.size(); i += every) kept.push_back(marks[i]);
    return kept;
  }
  return even_marks(low, high, std::min(most, 5));
}

std::string chart_svg(const Chart& chart) {
  check_chart(chart);
  for (const Facet& facet : chart.facets) {
    if (facet.map) throw Error(ErrorKind::not_supported, "a chart with a map is drawn only by write_chart");
    for (const Series& series : facet.series)
      if (series.mark == Mark::bars)
        throw Error(ErrorKind::not_supported, "a chart of bars is drawn only by write_chart");
  }
  const auto count = static_cast<Index>(chart.facets.size());
  const Index columns = std::min(count, chart.columns > 0 ? chart.columns : Index{3});
  const Index rows = (count + columns - 1) / columns;
  const double heading = chart.title.empty() ? 0 : 28;
  const double width = chart.width > 0 ? static_cast<double>(chart.width) : 520.0 * static_cast<double>(columns);
  const double height =
      chart.height > 0 ? static_cast<double>(chart.height) : heading + 320.0 * static_cast<double>(rows);
  Svg svg(width, height, chart.title.empty() ? chart.facets.front().title : chart.title);
  if (!chart.title.empty()) svg.text({room_left, 18}, chart.title, {.size = letters + 3, .bold = true});
  const double each = width / static_cast<double>(columns), tall = (height - heading) / static_cast<double>(rows);
  for (Index i = 0; i < count; ++i)
    Axes(svg, chart.facets[static_cast<std::size_t>(i)],
         {static_cast<double>(i % columns) * each, heading + static_cast<double>(i / columns) * tall}, each, tall)
        .draw();
  return svg.take();
}

}  // namespace sonde
