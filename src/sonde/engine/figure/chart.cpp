// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/figure/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/process.h"
#include "sonde/engine/figure/chart_parts.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/report/json.h"

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

/// The same as literal() over several lines where it is long, so that it leaves room for what it names.
std::string wrapped(std::string_view text, std::size_t most) {
  std::string lines;
  while (text.size() > most) {
    std::size_t space = text.rfind(' ', most);
    if (space == std::string_view::npos) space = text.find(' ');
    if (space == std::string_view::npos) break;
    lines += literal(text.substr(0, space)) + R"( . "\n" . )";
    text.remove_prefix(space + 1);
  }
  return lines + literal(text);
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

/// The range of an axis; an end that is not given follows the data, stretched where a reference line lies beyond them.
std::string range_text(const Axis& axis, double largest, double largest_reference) {
  const std::string low = axis.low ? fmt::format("{}", *axis.low) : "*";
  if (axis.high) return fmt::format("[{}:{}]", low, *axis.high);
  if (largest_reference <= largest) return fmt::format("[{}:*]", low);
  return fmt::format("[{}:{:.6g}]", low, largest_reference * (axis.log ? 1.6 : 1.06));
}

double largest_value(const std::vector<Series>& all) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const Series& series : all)
    for (const std::vector<double>* values : {&series.y, &series.high})
      for (const double value : *values)
        if (std::isfinite(value)) largest = std::max(largest, value);
  return largest;
}

double largest_level(const Facet& facet) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const ReferenceLine& line : facet.references)
    if (!line.upright || has_bars(facet)) largest = std::max(largest, line.value);
  return largest;
}

/// The plot elements of a facet, one per series and error bar.
std::vector<std::string> elements(const Facet& facet, std::size_t facet_at) {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < facet.series.size(); ++k) {
    const Series& series = facet.series[k];
    const std::string data = block_name(facet_at, k);
    const std::string_view colour = chart_palette[k % std::size(chart_palette)];
    const std::string title = series.name.empty() ? "notitle" : "title " + literal(series.name);
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
        parts.push_back(fmt::format("{} using 1:2 with lines lw 2 lc rgb '{}' {}", data, colour, title));
        break;
      case Mark::points:
        parts.push_back(fmt::format("{} using 1:2 with points pt 7 ps 0.9 lc rgb '{}' {}", data, colour, title));
        break;
      case Mark::lines_points:
        parts.push_back(
            fmt::format("{} using 1:2 with linespoints lw 2 pt 7 ps 0.9 lc rgb '{}' {}", data, colour, title));
        break;
    }
  }
  return parts;
}

std::string draw_facet(const Facet& facet, std::size_t facet_at) {
  const bool bars = has_bars(facet);
  std::string text =
      "reset\n"
      "set border 3 lw 1 lc rgb '#777777'\n"
      "set tics nomirror out scale 0.6 textcolor rgb '#333333'\n"
      "set grid xtics ytics lt 1 lw 0.6 lc rgb '#e4e4e4'\n"
      "set key below left Left reverse horizontal samplen 1.6 spacing 1.1 textcolor rgb '#333333'\n";
  if (!facet.title.empty()) text += fmt::format("set title {} font ',12' offset 0,-0.3\n", literal(facet.title));
  if (!facet.x.title.empty())
    text += fmt::format("set xlabel {} offset 0,0.5 textcolor rgb '#333333'\n", literal(axis_title(facet.x)));
  if (!facet.y.title.empty())
    text += fmt::format("set ylabel {} textcolor rgb '#333333'\n", literal(axis_title(facet.y)));
  const double largest = largest_value(facet.series), level = largest_level(facet);
  const double nothing = -std::numeric_limits<double>::infinity();
  if (facet.x.log) text += "set logscale x 10\nset format x '10^{%L}'\n";
  if (bars) {
    Axis along = facet.x;
    if (!along.low && !along.log) along.low = 0;  // a bar's length is its value
    text += fmt::format("set xrange {}\nset yrange [{}:-0.6]\n", range_text(along, largest, level),
                        static_cast<double>(facet.categories.size()) - 0.4);
    text += "unset grid\nset grid xtics lt 1 lw 0.6 lc rgb '#e4e4e4'\nset ytics scale 0 (";
    for (std::size_t i = 0; i < facet.categories.size(); ++i)
      text += fmt::format("{}{} {}", i > 0 ? ", " : "", wrapped(facet.categories[i], 28), i);
    text += ")\n";
  } else {
    text += fmt::format("set xrange {}\nset yrange {}\n", range_text(facet.x, 0, nothing),
                        range_text(facet.y, largest, level));
    if (facet.y.log) text += "set logscale y 10\nset format y '10^{%L}'\n";
  }
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
          "set label {} at {}, graph 0.98 left rotate by -90 offset 1.1,0 font ',10' textcolor rgb '#555555' front\n",
          literal(line.label), line.value);
    else
      text += fmt::format(
          "set label {} at graph 0.01, first {} left offset 0,0.6 font ',10' textcolor rgb '#555555' front\n",
          literal(line.label), line.value);
  }
  const std::vector<std::string> parts = elements(facet, facet_at);
  if (parts.empty()) return text + "set label 'no data' at graph 0.5, graph 0.5 center\nplot [0:1][0:1] NaN notitle\n";
  text += "plot ";
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i > 0 ? ", \\\n     " : "") + parts[i];
  return text + "\n";
}

Index columns_of(const Chart& chart) {
  const auto count = static_cast<Index>(chart.facets.size());
  return std::min(count, chart.columns > 0 ? chart.columns : Index{3});
}

std::string draw(const Chart& chart) {
  const Index columns = columns_of(chart), rows = (static_cast<Index>(chart.facets.size()) + columns - 1) / columns;
  std::string text = fmt::format("set multiplot layout {},{}", rows, columns);
  if (!chart.title.empty()) text += fmt::format(" title {} font ',14'", wrapped(chart.title, 64));
  text += "\n";
  for (std::size_t i = 0; i < chart.facets.size(); ++i) text += draw_facet(chart.facets[i], i);
  return text + "unset multiplot\nset output\n";
}

Value axis_value(const Axis& axis) {
  Value value;
  value["title"] = axis.title;
  value["unit"] = axis.unit;
  value["log"] = axis.log;
  return value;
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  AtomicFile file(path.string());
  file.write(text);
  file.commit();
}

/// A folder beside the pictures, so that they can be renamed into place; removed at the end.
class WorkFolder {
 public:
  explicit WorkFolder(const std::filesystem::path& beside) {
    std::string pattern = (beside / ".sonde-chart-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw Error(ErrorKind::io, fmt::format("{}: no folder can be made there", beside.string()));
    path_ = pattern;
  }
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

void check_chart(const Chart& chart) {
  if (chart.facets.empty()) throw Error(ErrorKind::bad_input, "a chart without facets");
  for (const Facet& facet : chart.facets)
    for (const Series& series : facet.series) {
      const std::size_t wanted = series.mark == Mark::bars ? facet.categories.size() : series.x.size();
      const bool ends_fit =
          series.low.size() == series.high.size() && (series.low.empty() || series.low.size() == series.y.size());
      if (series.y.size() != wanted || !ends_fit)
        throw Error(ErrorKind::bad_input,
                    fmt::format("series \"{}\": {} values for {} positions, {} and {} ends of error bars", series.name,
                                series.y.size(), wanted, series.low.size(), series.high.size()));
    }
}

std::string axis_title(const Axis& axis) {
  return axis.unit.empty() ? axis.title : fmt::format("{} ({})", axis.title, axis.unit);
}

Value chart_value(const Chart& chart) {
  Value value;
  value["title"] = chart.title;
  value["facets"] = Value::list();
  for (const Facet& facet : chart.facets) {
    Value part;
    part["title"] = facet.title;
    part["x"] = axis_value(facet.x);
    part["y"] = axis_value(facet.y);
    part["categories"] = facet.categories;
    part["series"] = Value::list();
    for (const Series& series : facet.series) {
      Value curve;
      curve["name"] = series.name;
      if (series.mark != Mark::bars) curve["x"] = series.x;
      curve["y"] = series.y;
      if (!series.low.empty()) {
        curve["low"] = series.low;
        curve["high"] = series.high;
      }
      part["series"].push_back(std::move(curve));
    }
    part["references"] = Value::list();
    for (const ReferenceLine& line : facet.references) {
      Value reference;
      reference["value"] = line.value;
      reference["label"] = line.label;
      part["references"].push_back(std::move(reference));
    }
    value["facets"].push_back(std::move(part));
  }
  return value;
}

std::string chart_script(const Chart& chart, const std::string& name) {
  check_chart(chart);
  const Index columns = columns_of(chart), rows = (static_cast<Index>(chart.facets.size()) + columns - 1) / columns;
  const Index width = chart.width > 0 ? chart.width : std::min<Index>(560 * columns + 120, 1800);
  const Index height = chart.height > 0 ? chart.height : 420 * rows + (chart.title.empty() ? 0 : 40);
  std::string text = fmt::format("# Draws {}.png and {}.pdf: gnuplot {}.gp\nset encoding utf8\n", name, name, name);
  for (std::size_t i = 0; i < chart.facets.size(); ++i)
    for (std::size_t k = 0; k < chart.facets[i].series.size(); ++k) text += data_block(chart.facets[i], i, k);
  // Drawn at twice the size for sharp lines on screens; a PDF point is 1/72 inch, a pixel here 1/96.
  text += fmt::format(
      "set terminal pngcairo size {},{} font 'Sans,11' fontscale 2 linewidth 2 pointscale 2 background rgb "
      "'white'\nset output {}\n",
      2 * width, 2 * height, file_literal(name + ".png"));
  text += draw(chart);
  text += fmt::format(
      "set terminal pdfcairo size {:.2f}in,{:.2f}in font 'Sans,11' fontscale 0.75 background rgb 'white'\nset output "
      "{}\n",
      static_cast<double>(width) / 96, static_cast<double>(height) / 96, file_literal(name + ".pdf"));
  return text + draw(chart);
}

ChartFiles write_chart(const std::string& path, const Chart& chart) {
  namespace fs = std::filesystem;
  const fs::path whole(path), folder = whole.has_parent_path() ? whole.parent_path() : fs::path(".");
  const std::string name = whole.stem().string();
  const std::string script = chart_script(chart, name);
  ChartFiles files;
  files.data = (folder / (name + ".json")).string();
  files.script = (folder / (name + ".gp")).string();
  write_text(files.data, to_json(chart_value(chart)) + "\n");
  write_text(files.script, script);

  const WorkFolder work(folder);
  if (!program_output({"gnuplot", "--version"})) {
    log_note(fmt::format(
        "{}.png is not drawn: gnuplot is not installed (package gnuplot-nox); later `gnuplot {}.gp` draws it", name,
        name));
    return files;
  }
  if (!program_output({"gnuplot", fs::absolute(files.script).string()}, work.path().string()))
    throw Error(ErrorKind::internal, fmt::format("gnuplot does not understand {}", files.script));
  for (const char* extension : {".png", ".pdf"}) {
    const fs::path picture = folder / (name + extension);
    std::error_code failed;
    fs::rename(work.path() / (name + extension), picture, failed);
    if (failed)
      throw Error(ErrorKind::io, fmt::format("{}: cannot be written: {}", picture.string(), failed.message()));
    files.pictures.push_back(picture.string());
  }
  return files;
}

}  // namespace sonde
