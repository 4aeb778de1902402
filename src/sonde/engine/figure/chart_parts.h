// SPDX-License-Identifier: Apache-2.0
// Private to the room: what the ways to draw a chart share (gnuplot, SVG, pixels).
#pragma once

#include <string>
#include <string_view>

#include "sonde/engine/figure/chart.h"

namespace sonde {

// Tol's bright scheme: distinguished by people with any colour vision, and in print.
inline constexpr std::string_view chart_palette[] = {"#4477AA", "#EE6677", "#228833", "#CCBB44",
                                                     "#66CCEE", "#AA3377", "#888888"};

// How a chart's own files begin, so that no other file is taken for one.
inline constexpr std::string_view chart_script_beginning = "# Draws";
inline constexpr std::string_view chart_data_schema = "sonde.chart/1";

/// Throws Error(bad_input) for a chart without facets or series whose parts differ in length.
void check_chart(const Chart& chart);

/// "time (s)".
[[nodiscard]] std::string axis_title(const Axis& axis);

}  // namespace sonde
