// SPDX-License-Identifier: Apache-2.0
// A chart in the language of gnuplot.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "sonde/engine/base/text.h"
#include "sonde/engine/figure/chart.h"
#include "sonde/engine/figure/chart_parts.h"
#include "sonde/engine/figure/colour.h"

namespace sonde {
namespace {

/// Text inside gnuplot's single quotes, in enhanced mode without its special meanings.
std::string literal(std::string_view text) {
  std::string safe = "'";
  for (const char c : text) {
    if (c == '\'') safe += '\'';
    if (std::string_view("_^{}@&~\\").find(c) != std::string_view::npos) safe += '\\';
    safe += c == '\n' ? ' ' : c;
  }
  return safe + "'";
}

/// The name of a file inside gnuplot's single quotes.
std::string file_literal(std::string_view name) {
  std::string safe = "'";
  for (const char c : name) safe += c == '\'' ? std::string("''") : std::string(1, c);
  return safe + "'";
}

// Sizes of letters in points. A letter of the sans serif that stands in for 'Sans' (DejaVu) is on the mean about this
// wide, in pixels per point.
constexpr int plain = 11, facet_title = 12, chart_title = 14;
constexpr double letter_width = 0.7;

/// How many letters of a size fit into a line of so many pixels.
std::size_t letters_in(double width, int points) {
  return static_cast<std::size_t>(std::max(1.0, width / (letter_width * points)));
}

/// The letters of UTF-8 text.
std::size_t length(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Text in lines of at most so many letters, broken at spaces; a longer word has a line of its own.
std::vector<std::string> lines_of(std::string_view text, std::size_t most) {
  std::vector<std::string> lines;
  for (const std::string& word : split(text, ' ')) {
    if (lines.empty() || length(lines.back()) + 1 + length(word) > most)
      lines.push_back(word);
    else
      lines.back() += " " + word;
  }
  return lines;
}

/// The same as literal() over several lines where it is long, so that it leaves room for what it names.
std::string wrapped(std::string_view text, std::size_t most) {
  std::string joined;
  for (const std::string& line : lines_of(text, most))
    joined += (joined.empty() ? "" : R"( . "\n" . )") + literal(line);
  return joined;
}

bool has_bars(const Facet& facet) {
  return std::any_of(facet.series.begin(), facet.series.end(), [](const Series& s) { return s.mark == Mark::bars; });
}

std::string block_name(std::size_t facet, std::size_t series) { return fmt::format("$facet{}_{}", facet, series); }

/// Data of one series: position, value and, with error bars, their ends.
std::string data_block(const Facet& facet, std::size_t facet_at, std::size_t series_at) {
  const Series& series = facet.series[series_at];
  std::string text = block_name(facet_at, series_at) + " << EOD\n";
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    // Bars stand at 0, 1, ... from the top, those of one group beside each other.
    const double group = static_cast<double>(facet.series.size());
    const double x = series.mark == Mark::bars
                         ? static_cast<double>(i) + (static_cast<double>(series_at) + 0.5 - group / 2) * 0.8 / group
                         : series.x[i];
    if (!std::isfinite(series.y[i]) || !std::isfinite(x)) {
      text += "\n";  // a gap in the line
      continue;
    }
    text += fmt::format("{} {}", x, series.y[i]);
    if (!series.low.empty()) text += fmt::format(" {} {}", series.low[i], series.high[i]);
    text += "\n";
  }
  return text + "EOD\n";
}

std::string map_name(std::size_t facet) { return fmt::format("$map{}", facet); }
std::string contours_name(std::size_t facet) { return fmt::format("$contours{}", facet); }

/// Rows of a map, each of one y, with the empty line between that makes them a surface.
std::string map_block(const HeightMap& map, std::size_t facet_at) {
  std::string text = map_name(facet_at) + " << EOD\n";
  for (std::size_t i = 0; i < map.y.size(); ++i) {
    for (std::size_t j = 0; j < map.x.size(); ++j)
      text += fmt::format("{:.7g} {:.7g} {:.7g}\n", map.x[j], map.y[i], map.z[i * map.x.size() + j]);
    text += "\n";
  }
  return text + "EOD\n";
}

/// The lines of equal value as a data block of their own: gnuplot finds them, once for all pictures.
std::string contour_block(const HeightMap& map, std::size_t facet_at) {
  if (map.contours.empty()) return "";
  std::string levels;
  for (const double level : map.contours) levels += fmt::format("{}{:.7g}", levels.empty() ? "" : ",", level);
  return fmt::format(
      "set contour base\nunset surface\nset cntrparam levels discrete {}\nset table {}\nsplot {} using 1:2:3\n"
      "unset table\nunset contour\nset surface\n",
      levels, contours_name(facet_at), map_name(facet_at));
}

/// The smallest and the largest of some values that an axis can show.
struct Ends {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void take(double value, bool log) {
    if (!std::isfinite(value) || (log && value <= 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// The range of an axis; an end that is not given follows the data, stretched where a reference line lies beyond them.
std::string range_text(const Axis& axis, const Ends& data, const Ends& references) {
  std::string low = "*", high = "*";
  if (axis.low)
    low = fmt::format("{}", *axis.low);
  else if (axis.log && references.low < data.low)
    low = fmt::format("{:.6g}", references.low / 1.6);
  if (axis.high)
    high = fmt::format("{}", *axis.high);
  else if (references.high > data.high)
    high = fmt::format("{:.6g}", references.high * (axis.log ? 1.6 : 1.06));
  return fmt::format("[{}:{}]", low, high);
}

std::string ticks_text(const char* axis, const std::vector<Tick>& ticks) {
  if (ticks.empty()) return "";
  std::string text = fmt::format("set {}tics (", axis);
  for (std::size_t i = 0; i < ticks.size(); ++i)
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", literal(ticks[i].label), ticks[i].at);
  return text + ")\n";
}

Ends ends_of_values(const std::vector<Series>& all, bool log) {
  Ends ends;
  for (const Series& series : all)
    for (const std::vector<double>* values : {&series.y, &series.low, &series.high})
      for (const double value : *values) ends.take(value, log);
  return ends;
}

Ends ends_of_references(const Facet& facet, bool log) {
  Ends ends;
  for (const ReferenceLine& line : facet.references)
    if (!line.upright || has_bars(facet)) ends.take(line.value, log);
  return ends;
}

std::string colour_of(const Series& series, std::size_t at) {
  return series.colour.empty() ? std::string(chart_palette[at % std::size(chart_palette)]) : series.colour;
}

const char* symbol_of(Symbol symbol) {
  switch (symbol) {
    case Symbol::disc:
      return "pt 7 ps 0.9";
    case Symbol::ring:
      return "pt 6 ps 0.9 lw 1.6";
    case Symbol::cross:
      return "pt 2 ps 1.3 lw 2.2";
  }
  return "";
}

/// A line and marks of x and y, as `using` gives them. Empty data show in the legend all the same.
void add_curve(std::vector<std::string>& parts, const Series& series, const std::string& data,
               const std::string& colour, const std::string& title) {
  const bool line = series.mark != Mark::points, marks = series.mark != Mark::lines;
  if (line && marks && series.symbol == Symbol::disc) {
    parts.push_back(
        fmt::format("{} with linespoints lw 2 {} lc rgb '{}' {}", data, symbol_of(series.symbol), colour, title));
    return;
  }
  if (line) parts.push_back(fmt::format("{} with lines lw 2 lc rgb '{}' {}", data, colour, marks ? "notitle" : title));
  if (!marks) return;
  if (series.symbol == Symbol::ring)
    parts.push_back(fmt::format("{} with points pt 7 ps 0.9 lc rgb 'white' notitle", data));
  parts.push_back(fmt::format("{} with points {} lc rgb '{}' {}", data, symbol_of(series.symbol), colour, title));
}

std::string title_of(const Series& series, bool named) {
  return series.name.empty() || !named ? "notitle" : "title " + literal(series.name);
}

/// The plot elements of a facet: map and contours, then one per series and error bar; `named` in its own legend.
std::vector<std::string> elements(const Facet& facet, std::size_t facet_at, bool named) {
  std::vector<std::string> parts;
  if (facet.map) {
    parts.push_back(fmt::format("{} using 1:2:3 with image notitle", map_name(facet_at)));
    if (!facet.map->contours.empty())
      parts.push_back(fmt::format("{} using 1:2 with lines lw 0.8 lc rgb 'white' notitle", contours_name(facet_at)));
  }
  for (std::size_t k = 0; k < facet.series.size(); ++k) {
    const Series& series = facet.series[k];
    const std::string data = block_name(facet_at, k);
    const std::string colour = colour_of(series, k), title = title_of(series, named);
    if (!series.low.empty() && series.mark != Mark::bars)
      parts.push_back(fmt::format("{} using 1:2:3:4 with yerrorbars ps 0 lw 1.2 lc rgb '{}' notitle", data, colour));
    switch (series.mark) {
      case Mark::bars: {
        const double half = 0.8 / static_cast<double>(facet.series.size()) / 2 * 0.92;
        const double base = facet.x.log ? 1e-300 : 0;
        parts.push_back(
            fmt::format("{} using 2:1:({}):2:($1-{}):($1+{}) with boxxyerror fs solid 0.9 noborder lc rgb '{}' {}",
                        data, base, half, half, colour, title));
        if (!series.low.empty())
          parts.push_back(fmt::format("{} using 2:1:3:4 with xerrorbars ps 0 lw 1.2 lc rgb '#333333' notitle", data));
        break;
      }
      case Mark::lines:
      case Mark::points:
      case Mark::lines_points:
        add_curve(parts, series, data + " using 1:2", colour, title);
        break;
    }
  }
  return parts;
}

/// The colours of a map with its scale, whole to the edges.
std::string map_settings(const HeightMap& map) {
  constexpr std::size_t steps = 16;  // the table is smooth between
  const std::array<Colour, 256>& colours = colour_table(map.both_signs ? ColourMap::rdbu : ColourMap::viridis);
  std::string text = "set palette defined (";
  for (std::size_t i = 0; i <= steps; ++i) {
    const Colour& colour = colours[i * 255 / steps];
    text += fmt::format("{}{} '#{:02x}{:02x}{:02x}'", i > 0 ? ", " : "", i, colour.red, colour.green, colour.blue);
  }
  text += ")\nunset grid\nset border 31 lw 1 lc rgb '#777777'\nset colorbox\n";
  const auto [low, high] = std::minmax_element(map.z.begin(), map.z.end());
  if (map.both_signs)
    text += fmt::format("set cbrange [{0:.7g}:{1:.7g}]\n", -*map.both_signs, *map.both_signs);
  else if (low != map.z.end() && *low < *high)
    text += fmt::format("set cbrange [{:.7g}:{:.7g}]\n", *low, *high);
  if (!map.title.empty()) text += fmt::format("set cblabel {} textcolor rgb '#333333'\n", literal(map.title));
  return text;
}

/// Ends of an axis without ends of its own whose values lie within a decade: with a little air, where gnuplot would go
/// on to whole decades.
Axis within_a_decade(Axis axis, const std::vector<Series>& all) {
  Ends ends;
  for (const Series& series : all)
    for (const double x : series.x) ends.take(x, axis.log);
  if (!axis.log || axis.low || axis.high || !(ends.high < 10 * ends.low)) return axis;
  axis.low = ends.low / 1.3;
  axis.high = ends.high * 1.3;
  return axis;
}

/// Where a logarithmic axis could show none of the values, gnuplot draws nothing at all: an even one shows them.
Facet with_visible_values(Facet facet) {
  Axis& axis = has_bars(facet) ? facet.x : facet.y;
  const Ends shown = ends_of_values(facet.series, axis.log);
  if (!facet.series.empty() && shown.low > shown.high) axis.log = false;
  return facet;
}

/// Everything but the place of one pair of axes, so many pixels wide; `named`: with a legend of its own.
std::string draw_facet(const Facet& given, std::size_t facet_at, double width, bool named) {
  const Facet facet = with_visible_values(given);
  const bool bars = has_bars(facet);
  std::string text =
      "set border 3 lw 1 lc rgb '#777777'\n"
      "set tics nomirror out scale 0.6 textcolor rgb '#333333'\n"
      "set grid xtics ytics lt 1 lw 0.6 lc rgb '#e4e4e4'\n"
      "set key below left Left reverse horizontal samplen 1.6 spacing 1.1 textcolor rgb '#333333'\n"
      "set style textbox opaque noborder fillcolor rgb 'white' margins 0.3,0.3\n";
  if (!facet.title.empty())
    text += fmt::format("set title {} font ',{}' offset 0,-0.3\n",
                        wrapped(facet.title, letters_in(width - 100, facet_title)), facet_title);
  if (!facet.x.title.empty())
    text += fmt::format("set xlabel {} offset 0,0.5 textcolor rgb '#333333'\n", literal(axis_title(facet.x)));
  if (!facet.y.title.empty())
    text += fmt::format("set ylabel {} textcolor rgb '#333333'\n", literal(axis_title(facet.y)));
  const bool log = bars ? facet.x.log : facet.y.log;
  const Ends values = ends_of_values(facet.series, log), levels = ends_of_references(facet, log);
  if (facet.x.log) text += "set logscale x 10\nset format x '10^{%L}'\n";
  if (bars) {
    Axis along = facet.x;
    if (!along.low && !along.log) along.low = 0;  // a bar's length is its value
    text += fmt::format("set xrange {}\nset yrange [{}:-0.6]\n", range_text(along, values, levels),
                        static_cast<double>(facet.categories.size()) - 0.4);
    text += "unset grid\nset grid xtics lt 1 lw 0.6 lc rgb '#e4e4e4'\nset ytics scale 0 (";
    for (std::size_t i = 0; i < facet.categories.size(); ++i)
      text += fmt::format("{}{} {}", i > 0 ? ", " : "", wrapped(facet.categories[i], 28), i);
    text += ")\n";
  } else {
    text += fmt::format("set xrange {}\nset yrange {}\n", range_text(within_a_decade(facet.x, facet.series), {}, {}),
                        range_text(facet.y, values, levels));
    if (facet.y.log) text += "set logscale y 10\nset format y '10^{%L}'\n";
    text += ticks_text("x", facet.x.ticks) + ticks_text("y", facet.y.ticks);
  }
  if (facet.map) text += map_settings(*facet.map);
  for (const ReferenceLine& line : facet.references) {
    const bool upright = line.upright || bars;
    const std::string from =
        upright ? fmt::format("{}, graph 0", line.value) : fmt::format("graph 0, first {}", line.value);
    const std::string to =
        upright ? fmt::format("{}, graph 1", line.value) : fmt::format("graph 1, first {}", line.value);
    text += fmt::format("set arrow from {} to {} nohead dt 2 lw 1.4 lc rgb '#555555' front\n", from, to);
    if (line.label.empty()) continue;
    if (upright)
      text += fmt::format(
          "set label {} at {}, graph 0.98 left rotate by -90 offset 1.1,0 font ',10' textcolor rgb '#555555' front "
          "boxed\n",
          literal(line.label), line.value);
    else
      text += fmt::format(
          "set label {} at graph 0.01, first {} left offset 0,0.7 font ',10' textcolor rgb '#555555' front boxed\n",
          literal(line.label), line.value);
  }
  const std::vector<std::string> parts = elements(facet, facet_at, named);
  if (parts.empty()) return text + "set label 'no data' at graph 0.5, graph 0.5 center\nplot [0:1][0:1] NaN notitle\n";
  text += "plot ";
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i > 0 ? ", \\\n     " : "") + parts[i];
  return text + "\n";
}

Index columns_of(const Chart& chart) {
  const auto count = static_cast<Index>(chart.facets.size());
  return std::min(count, chart.columns > 0 ? chart.columns : Index{3});
}

/// Where things stand, in pixels.
struct Layout {
  Index columns = 1, rows = 1, width = 0, height = 0, title = 0, legend = 0;
  Index legend_columns = 1;
  std::vector<const Series*> in_legend{};  ///< every name once
};

std::size_t letters_of_title(const Layout& layout) {
  return letters_in(static_cast<double>(layout.width) - 40, chart_title);
}

Layout layout_of(const Chart& chart) {
  Layout layout;
  const auto count = static_cast<Index>(chart.facets.size());
  layout.columns = columns_of(chart);
  layout.rows = (count + layout.columns - 1) / layout.columns;
  layout.width = chart.width > 0 ? chart.width : std::min<Index>(560 * layout.columns + 120, 1800);
  if (!chart.title.empty())
    layout.title = 16 + 24 * static_cast<Index>(lines_of(chart.title, letters_of_title(layout)).size());
  if (chart.one_legend) {
    std::size_t longest = 1;
    for (const Facet& facet : chart.facets)
      for (const Series& series : facet.series) {
        const bool there = std::any_of(layout.in_legend.begin(), layout.in_legend.end(),
                                       [&](const Series* other) { return other->name == series.name; });
        if (series.name.empty() || there) continue;
        layout.in_legend.push_back(&series);
        longest = std::max(longest, length(series.name));
      }
    // What stands before and after a name takes about 70 pixels.
    const auto each = static_cast<Index>(letter_width * plain * static_cast<double>(longest)) + 70;
    layout.legend_columns = std::max<Index>(1, (layout.width - 40) / each);
    const auto named = static_cast<Index>(layout.in_legend.size());
    layout.legend_columns = std::min(layout.legend_columns, std::max<Index>(1, named));
    if (named > 0) layout.legend = 20 + 22 * ((named + layout.legend_columns - 1) / layout.legend_columns);
  }
  layout.height = chart.height > 0 ? chart.height : 420 * layout.rows + layout.title + layout.legend;
  return layout;
}

/// A plot of nothing but the names, below all facets.
std::string draw_legend(const Layout& layout) {
  if (layout.in_legend.empty()) return "";
  std::string text = fmt::format(
      "reset\nset origin 0,0\nset size 1,{:.4f}\nunset border\nunset tics\nset lmargin 0\nset rmargin 0\nset tmargin "
      "0\nset bmargin 0\nset key center center Left reverse horizontal maxcols {} samplen 1.6 spacing 1.1 textcolor "
      "rgb "
      "'#333333'\nplot [0:1][0:1] ",
      static_cast<double>(layout.legend) / static_cast<double>(layout.height), layout.legend_columns);
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < layout.in_legend.size(); ++k)
    add_curve(parts, *layout.in_legend[k], "NaN", colour_of(*layout.in_legend[k], k),
              title_of(*layout.in_legend[k], true));
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i > 0 ? ", \\\n     " : "") + parts[i];
  return text + "\n";
}

std::string draw(const Chart& chart, const Layout& layout) {
  std::string text = "set multiplot";
  if (!chart.title.empty())
    text += fmt::format(" title {} font ',{}'", wrapped(chart.title, letters_of_title(layout)), chart_title);
  text += "\n";
  const double height = static_cast<double>(layout.height);
  const double cell = (height - static_cast<double>(layout.title + layout.legend)) / static_cast<double>(layout.rows);
  for (std::size_t i = 0; i < chart.facets.size(); ++i) {
    const Index row = static_cast<Index>(i) / layout.columns, col = static_cast<Index>(i) % layout.columns;
    const double bottom = static_cast<double>(layout.legend) + static_cast<double>(layout.rows - 1 - row) * cell;
    text += "reset\n";
    text += fmt::format("set origin {:.4f},{:.4f}\nset size {:.4f},{:.4f}\n",
                        static_cast<double>(col) / static_cast<double>(layout.columns), bottom / height,
                        1 / static_cast<double>(layout.columns), cell / height);
    text += draw_facet(chart.facets[i], i, static_cast<double>(layout.width) / static_cast<double>(layout.columns),
                       !chart.one_legend);
  }
  return text + draw_legend(layout) + "unset multiplot\nset output\n";
}

std::string terminal_of(const std::string& ending, const Layout& layout) {
  if (ending == ".png")  // at twice the size for sharp lines on screens
    return fmt::format(
        "set terminal pngcairo size {},{} font 'Sans,11' fontscale 2 linewidth 2 pointscale 2 background rgb 'white'\n",
        2 * layout.width, 2 * layout.height);
  if (ending == ".svg")
    return fmt::format("set terminal svg size {},{} font 'Sans,11' background rgb 'white'\n", layout.width,
                       layout.height);
  // A point is 1/72 inch, a pixel here 1/96.
  return fmt::format(
      "set terminal pdfcairo size {:.2f}in,{:.2f}in font 'Sans,11' fontscale 0.75 background rgb 'white'\n",
      static_cast<double>(layout.width) / 96, static_cast<double>(layout.height) / 96);
}

}  // namespace

std::string chart_script(const Chart& chart, const std::string& name, const std::vector<std::string>& endings) {
  check_chart(chart);
  const Layout layout = layout_of(chart);
  std::string text(chart_script_beginning);
  for (const std::string& ending : endings)
    text += fmt::format("{} {}{}", ending == endings.front() ? "" : ",", name, ending);
  text += fmt::format(": gnuplot {}.gp\nset encoding utf8\n", name);
  for (std::size_t i = 0; i < chart.facets.size(); ++i) {
    for (std::size_t k = 0; k < chart.facets[i].series.size(); ++k) text += data_block(chart.facets[i], i, k);
    if (chart.facets[i].map) text += map_block(*chart.facets[i].map, i) + contour_block(*chart.facets[i].map, i);
  }
  for (const std::string& ending : endings)
    text += terminal_of(ending, layout) + "set output " + file_literal(name + ending) + "\n" + draw(chart, layout);
  return text;
}

}  // namespace sonde
