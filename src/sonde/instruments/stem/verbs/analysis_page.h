// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/figure/chart.h"
#include "sonde/engine/figure/html_page.h"
#include "sonde/engine/options/fields.h"
#include "sonde/engine/run/run.h"

namespace sonde::stem {

/// What an analysis found, for those who were not there.
struct AnalysisPage {
  std::string title;  ///< "Strain"
  std::string input;
  std::vector<Figure> figures;
  std::vector<std::string> lines;  ///< as the verb says them: a word and, after spaces, what it is
  std::vector<std::string> warnings;
};

[[nodiscard]] Figure picture_figure(const Array& picture, std::string_view words);
/// None of a chart that a page does not draw: bars and maps.
[[nodiscard]] std::vector<Figure> chart_figures(const Chart& chart, std::string_view words);

/// The setting `html`: where the page goes.
void describe_page(std::string& html, Fields& fields);
/// Throws Error(usage) for another ending than .html and what require_place() throws. Nothing for an empty name.
void require_page(const std::string& html);
/// One file that needs nothing else: what should not be trusted first, then pictures, figures, the settings that were
/// given, `command` and all settings. Nothing for an empty name. Throws what writing throws.
void write_page(const AnalysisPage& page, const std::string& html, std::string_view command, Run& run);

}  // namespace sonde::stem
