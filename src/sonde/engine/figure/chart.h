// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/options/value.h"

namespace sonde {

struct Axis {
  std::string title{};
  std::string unit{};  ///< shown in brackets after the title
  bool log = false;
  std::optional<double> low{}, high{};  ///< ends of the axis; unset follows the data
};

/// Bars lie on their side, one group per category, so that long names stay readable.
enum class Mark { lines, points, lines_points, bars };

struct Series {
  std::string name;
  std::vector<double> x{};            ///< positions; unused by bars, whose positions are the categories
  std::vector<double> y{};            ///< values; a value that is not finite is left out
  std::vector<double> low{}, high{};  ///< ends of the error bars, both empty or one per value
  Mark mark = Mark::lines_points;
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
};

struct Chart {
  std::string title{};
  std::vector<Facet> facets{};
  Index columns = 0;            ///< facets in a row; 0 puts up to three beside each other
  Index width = 0, height = 0;  ///< in pixels of the PNG; 0 chooses after the number of facets
};

struct ChartFiles {
  std::string data;                   ///< FILE.json: everything that is drawn, as numbers
  std::string script;                 ///< FILE.gp: `gnuplot FILE.gp` in its folder draws the pictures again
  std::vector<std::string> pictures;  ///< FILE.png and FILE.pdf; empty when gnuplot is not there (a note says so)
};

/// The chart as data, the members named as above.
[[nodiscard]] Value chart_value(const Chart& chart);

/// The script that draws NAME.png and NAME.pdf into its folder.
[[nodiscard]] std::string chart_script(const Chart& chart, const std::string& name);

/// Writes the files beside `path` (with or without an extension), each complete or not at all. Throws Error(io), and
/// Error(bad_input) for a chart without facets or series whose parts differ in length.
ChartFiles write_chart(const std::string& path, const Chart& chart);

}  // namespace sonde
