// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/figure/chart.h"

namespace sonde {

/// The chart as an SVG element for the inside of a page, drawn without another program. Facets stand side by side,
/// `columns` in a row; width and height are in CSS pixels. Throws Error(bad_input) like write_chart(), and
/// Error(not_supported) for bars and maps. Every facet has its own legend, and ticks are at round numbers.
[[nodiscard]] std::string chart_svg(const Chart& chart);

/// Where an axis from `low` to `high` has its marks, ascending and inside: 1, 2 or 5 times powers of ten; on a
/// logarithmic one the finest of {decades; 1, 2, 5; 1 to 9; evenly} that gives three or more. At most `most`.
[[nodiscard]] std::vector<double> axis_marks(double low, double high, bool log, int most);

}  // namespace sonde
