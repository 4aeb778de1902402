// SPDX-License-Identifier: Apache-2.0
// Charts as verbs write them: in the phase "plot" of the report, with every file that was written named.
#pragma once

#include <string>

#include "sonde/engine/figure/chart.h"
#include "sonde/engine/run/run.h"

namespace sonde {

/// Where what is said of a file begins in its line, for verbs whose other lines have no column of their own.
constexpr int usual_column = 10;

/// Names a file that the run has written to who reads and in the report.
void wrote(const std::string& path, Run& run, int column = usual_column);

/// Where a verb draws: `output`; where the program is given none FILE.png and FILE.pdf beside `input`. Throws
/// Error(usage) for endings that pictures do not have and where a caller of Python names nothing, and what
/// require_chart() throws.
[[nodiscard]] std::string chart_place(const std::string& output, const std::string& input, const Run& run);
/// The same for a picture that is written beside other results, or not at all.
void require_plot(const std::string& path);

/// write_chart() there.
void draw(const Chart& chart, const std::string& path, Run& run, int column = usual_column);

}  // namespace sonde
