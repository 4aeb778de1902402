// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/figure/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/process.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/figure/chart_parts.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/report/json.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

Value axis_value(const Axis& axis) {
  Value value;
  value["title"] = axis.title;
  value["unit"] = axis.unit;
  value["log"] = axis.log;
  return value;
}

Value map_value(const HeightMap& map) {
  Value value;
  value["title"] = map.title;
  value["x"] = map.x;
  value["y"] = map.y;
  value["z"] = map.z;
  value["contours"] = map.contours;
  return value;
}

void write_text(const fs::path& path, const std::string& text) {
  AtomicFile file(path.string());
  file.write(text);
  file.commit();
}

/// Throws Error(io) when a file of this name is there and does not hold, near its beginning, what a chart's does.
void require_ours(const std::string& path, std::string_view beginning) {
  if (!fs::exists(path)) return;
  std::string first(200, '\0');
  std::ifstream(path).read(first.data(), static_cast<std::streamsize>(first.size()));
  if (first.find(beginning) == std::string::npos)
    throw Error(ErrorKind::io, fmt::format("{}: a file of another kind is here, which the chart would replace", path))
        .hint("give the chart another name");
}

/// A folder beside the pictures, so that they can be renamed into place; removed at the end.
class WorkFolder {
 public:
  explicit WorkFolder(const fs::path& beside) {
    std::string pattern = (beside / ".sonde-chart-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw Error(ErrorKind::io, fmt::format("{}: no folder can be made there", beside.string()));
    path_ = pattern;
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

void check_chart(const Chart& chart) {
  if (chart.facets.empty()) throw Error(ErrorKind::bad_input, "a chart without facets");
  for (const Facet& facet : chart.facets) {
    if (facet.map && facet.map->z.size() != facet.map->x.size() * facet.map->y.size())
      throw Error(ErrorKind::bad_input, fmt::format("a map of {} values on {} x {} places", facet.map->z.size(),
                                                    facet.map->y.size(), facet.map->x.size()));
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
}

std::string axis_title(const Axis& axis) {
  return axis.unit.empty() ? axis.title : fmt::format("{} ({})", axis.title, axis.unit);
}

Value chart_value(const Chart& chart) {
  Value value;
  value["schema"] = std::string(chart_data_schema);
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
    if (facet.map) part["map"] = map_value(*facet.map);
    value["facets"].push_back(std::move(part));
  }
  return value;
}

const std::vector<std::string>& chart_endings() {
  static const std::vector<std::string> endings = {".png", ".pdf", ".svg"};
  return endings;
}

std::vector<std::string> ChartFiles::all() const {
  std::vector<std::string> files = pictures;
  files.push_back(data);
  files.push_back(script);
  return files;
}

ChartFiles write_chart(const std::string& path, const Chart& chart) {
  const fs::path whole(path), folder = whole.has_parent_path() ? whole.parent_path() : fs::path(".");
  const std::string ending = whole.extension().string();
  const bool one = std::find(chart_endings().begin(), chart_endings().end(), ending) != chart_endings().end();
  const std::string name = (one ? whole.stem() : whole.filename()).string();
  const std::vector<std::string> endings = one ? std::vector{ending} : std::vector<std::string>{".png", ".pdf"};
  const std::string script = chart_script(chart, name, endings);
  ChartFiles files;
  // In the form in which the caller gave the folder.
  const auto beside = [&](const std::string& file) { return (whole.parent_path() / file).string(); };
  files.data = beside(name + ".chart.json");
  files.script = beside(name + ".gp");
  require_ours(files.data, chart_data_schema);
  require_ours(files.script, chart_script_beginning);
  write_text(files.data, to_json(chart_value(chart)) + "\n");
  write_text(files.script, script);

  const WorkFolder work(folder);
  if (!program_output({"gnuplot", "--version"})) {
    log_note(
        fmt::format("{} is not drawn: gnuplot is not installed (package gnuplot-nox); later `gnuplot {}.gp` "
                    "draws it",
                    name + endings.front(), name));
    return files;
  }
  const auto drawn = program_end({"gnuplot", fs::absolute(files.script).string()}, work.path().string());
  if (!drawn || !drawn->well)
    throw Error(ErrorKind::internal, fmt::format("gnuplot does not understand {}: {}", files.script,
                                                 drawn ? trim(drawn->text) : "it cannot be started"));
  for (const std::string& each : endings) {
    const std::string picture = beside(name + each);
    std::error_code failed;
    fs::rename(work.path() / (name + each), picture, failed);
    if (failed) throw Error(ErrorKind::io, fmt::format("{}: cannot be written: {}", picture, failed.message()));
    files.pictures.push_back(picture);
  }
  return files;
}

}  // namespace sonde
