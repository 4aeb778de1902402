// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/write_charts.h"

#include <fmt/format.h>

#include <filesystem>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/io/output_ending.h"

namespace sonde {

void wrote(const std::string& path, Run& run, int column) {
  run.results()["files"].push_back(path);
  run.say(fmt::format("{:<{}}{}", "wrote", column, path));
}

std::string chart_place(const std::string& output, const std::string& input, const Run& run) {
  if (output.empty() && run.gives_arrays())
    throw Error(ErrorKind::usage, setting("output") + " is missing").hint("name the picture, FILE.png, .pdf or .svg");
  std::string place = output;
  if (output.empty())
    place = std::filesystem::path(input).replace_extension().string();
  else
    (void)require_ending(output, "charts", chart_endings());
  require_chart(place);
  return place;
}

void require_plot(const std::string& path) {
  if (path.empty()) return;
  (void)require_ending(path, "charts", chart_endings());
  require_chart(path);
}

void draw(const Chart& chart, const std::string& path, Run& run, int column) {
  const auto phase = run.report().phase("plot");
  for (const std::string& file : write_chart(path, chart).all()) wrote(file, run, column);
}

}  // namespace sonde
