// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/figure/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/process.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/figure/chart_parts.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/mark.h"
#include "sonde/engine/io/output_ending.h"
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
  if (map.both_signs) value["both_signs"] = *map.both_signs;
  return value;
}

void write_text(const std::string& path, const std::string& text, const OutputRole& role) {
  AtomicFile file(path, role);
  file.write(text);
  file.commit();
}

const OutputRole data_role = side_output("the data of the chart", FileMark::json);
const OutputRole script_role = side_output("the script of the chart", FileMark::text);

/// The names of a chart.
struct Names {
  std::string name;                  // without ending and folder
  std::vector<std::string> endings;  // of the pictures
  std::vector<std::string> pictures;
  std::string data, script;
  OutputRole picture_role;

  explicit Names(const std::string& path) {
    const fs::path whole(path);
    const bool one = is_chart_name(path);
    name = (one ? whole.stem() : whole.filename()).string();
    endings = one ? std::vector{output_ending(path)} : std::vector<std::string>{".png", ".pdf"};
    // In the form in which the caller gave the folder.
    const auto beside = [&](const std::string& file) { return (whole.parent_path() / file).string(); };
    for (const std::string& each : endings) pictures.push_back(one ? path : beside(name + each));
    data = beside(name + ".chart.json");
    script = beside(name + ".gp");
    // A picture that was named with its ending is a result.
    picture_role = one ? OutputRole{.what = "the chart"} : side_output("the chart", FileMark::picture);
  }
};

/// What gnuplot drew, with the mark of sonde, in the place that it was drawn for.
void take_picture(const fs::path& drawn, const std::string& path, const OutputRole& role) {
  const InRun apart(nullptr);  // what gnuplot wrote is no input
  constexpr std::size_t most_bytes = std::size_t{256} << 20;
  const std::string picture = marked_picture(read_text(drawn.string(), most_bytes));
  AtomicFile file(path, role);
  file.write(picture);
  file.commit();
}

/// A folder among the temporary files, where gnuplot draws; removed at the end. Not beside the pictures: a run that is
/// killed would leave it there for ever.
class WorkFolder {
 public:
  WorkFolder() {
    const fs::path parent = temporary_folder();
    std::string pattern = (parent / "sonde-chart-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw Error(ErrorKind::io,
                  fmt::format("{}: no temporary folder can be made: {}", parent.string(), std::strerror(errno)))
          .hint("set TMPDIR to a folder that you may write to");
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

bool is_chart_name(const std::string& path) {
  return std::find(chart_endings().begin(), chart_endings().end(), output_ending(path)) != chart_endings().end();
}

std::vector<std::string> ChartFiles::all() const {
  std::vector<std::string> files = pictures;
  files.push_back(data);
  files.push_back(script);
  return files;
}

void require_chart(const std::string& path) {
  const Names names(path);
  for (const std::string& picture : names.pictures) require_place(picture, names.picture_role);
  require_place(names.data, data_role);
  require_place(names.script, script_role);
}

ChartFiles write_chart(const std::string& path, const Chart& chart) {
  const Names names(path);
  require_chart(path);  // all of them, before the first is written
  const std::string script = chart_script(chart, names.name, names.endings);
  ChartFiles files;
  files.data = names.data;
  files.script = names.script;
  write_text(files.data, to_json(chart_value(chart)) + "\n", data_role);
  write_text(files.script, script, script_role);

  if (!program_output({"gnuplot", "--version"})) {
    log_note(
        fmt::format("{} is not drawn: gnuplot is not installed (package gnuplot-nox); later `gnuplot {}.gp` "
                    "draws it",
                    names.name + names.endings.front(), names.name));
    return files;
  }
  const WorkFolder work;
  const auto drawn = program_end({"gnuplot", absolute_path(files.script).string()}, work.path().string());
  if (!drawn || !drawn->well)
    throw Error(ErrorKind::internal, fmt::format("gnuplot does not understand {}: {}", files.script,
                                                 drawn ? trim(drawn->text) : "it cannot be started"));
  for (std::size_t i = 0; i < names.pictures.size(); ++i)
    take_picture(work.path() / (names.name + names.endings[i]), names.pictures[i], names.picture_role);
  files.pictures = names.pictures;
  return files;
}

}  // namespace sonde
