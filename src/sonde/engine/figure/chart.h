// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/options/value.h"

namespace sonde {

struct Tick {
  double at = 0;
  std::string label{};
};

struct Axis {
  std::string title{};
  std::string unit{};  ///< shown in brackets after the title
  bool log = false;
  std::optional<double> low{}, high{};  ///< ends of the axis; unset follows the data
  std::vector<Tick> ticks{};            ///< empty: at round numbers
};

/// Bars lie on their side, one group per category, so that long names stay readable.
enum class Mark { lines, points, lines_points, bars };

/// How single values are marked. A ring is filled with white, so that what it stands on does not run through it.
enum class Symbol { disc, ring, cross };

struct Series {
  std::string name;                   ///< in the legend; empty: not there
  std::vector<double> x{};            ///< positions; unused by bars, whose positions are the categories
  std::vector<double> y{};            ///< values; a value that is not finite is left out
  std::vector<double> low{}, high{};  ///< ends of the error bars, both empty or one per value
  Mark mark = Mark::lines_points;
  Symbol symbol = Symbol::disc;
  std::string colour{};  ///< "#4477AA"; empty: the next of the palette
};

/// Values over an even grid of x and y: coloured, with a scale beside them and lines of equal value.
struct HeightMap {
  std::vector<double> x{}, y{};    ///< ascending
  std::vector<double> z{};         ///< [y][x]
  std::string title{};             ///< of the scale
  std::vector<double> contours{};  ///< values of the lines
  /// The largest magnitude that has a colour of its own, for values of either sign: red below zero, white at it, blue
  /// above. Unset: from the smallest to the largest value.
  std::optional<double> both_signs{};
};

/// A straight line across the chart: a limit, a target.
struct ReferenceLine {
  double value = 0;
  std::string label{};
  bool upright = false;  ///< at an x instead of a y; for bars, whose values run along x, lines are upright anyway
};

/// One pair of axes.
struct Facet {
  std::string title{};
  Axis x{}, y{};
  std::vector<Series> series{};
  std::vector<std::string> categories{};  ///< names of the bars, from the top
  std::vector<ReferenceLine> references{};
  std::optional<HeightMap> map{};  ///< under the series
};

struct Chart {
  std::string title{};
  std::vector<Facet> facets{};
  Index columns = 0;            ///< facets in a row; 0 puts up to three beside each other
  Index width = 0, height = 0;  ///< in pixels of the PNG; 0 chooses after the number of facets
  bool one_legend = false;      ///< one below all facets, with every name once, in place of one for each
};

struct ChartFiles {
  std::string data;                   ///< FILE.chart.json: everything that is drawn, as numbers
  std::string script;                 ///< FILE.gp: `gnuplot FILE.gp` in its folder draws the pictures again
  std::vector<std::string> pictures;  ///< empty when gnuplot is not there (a note says so)

  /// Pictures, data and script: everything that was written.
  [[nodiscard]] std::vector<std::string> all() const;
};

/// The chart as data, the members named as above.
[[nodiscard]] Value chart_value(const Chart& chart);

/// The endings of pictures: ".png", ".pdf", ".svg".
[[nodiscard]] const std::vector<std::string>& chart_endings();
/// Whether a name has one of these endings, in either case.
[[nodiscard]] bool is_chart_name(const std::string& path);

/// The script that draws NAME with each of these endings into its folder.
[[nodiscard]] std::string chart_script(const Chart& chart, const std::string& name,
                                       const std::vector<std::string>& endings = {".png", ".pdf"});

/// require_place() for everything that write_chart(path) writes: before the work that leads to it.
void require_chart(const std::string& path);

/// Writes the picture `path`, or, when it has none of the endings, FILE.png and FILE.pdf; and data and script beside
/// it, each complete or not at all. Only a picture that was named with its ending replaces a file of others. Throws
/// Error(io), and Error(bad_input) for such files, for inputs of the run, and for a chart without facets or series
/// whose parts differ in length.
ChartFiles write_chart(const std::string& path, const Chart& chart);

}  // namespace sonde
