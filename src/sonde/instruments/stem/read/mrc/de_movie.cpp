// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/mrc/de_movie.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

#include "sonde/engine/base/text.h"
#include "sonde/engine/io/file.h"
#include "sonde/instruments/stem/read/file_cursor.h"

namespace sonde::stem {
namespace {

namespace fs = std::filesystem;

template <class Number>
std::optional<Number> number(std::string_view text) {
  const std::string_view digits = trim(text);
  Number value{};
  const auto [rest, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status != std::errc() || rest != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// The values of the info file by their keys.
class Info {
 public:
  explicit Info(const std::map<std::string, std::string>& lines) : lines_(lines) {}
  [[nodiscard]] std::string text(const char* key) const {
    const auto line = lines_.find(key);
    return line == lines_.end() ? "" : line->second;
  }
  [[nodiscard]] Index count(const char* key) const { return number<Index>(text(key)).value_or(0); }
  /// -1 is written where nothing is known.
  [[nodiscard]] std::optional<Quantity> positive(const char* key, double factor) const {
    const auto value = number<double>(text(key));
    return value && *value > 0 ? std::optional(Quantity{*value * factor, StatedBy::file}) : std::nullopt;
  }

 private:
  const std::map<std::string, std::string>& lines_;
};

/// "NAME" of "NAME_movie.mrc".
std::optional<std::string> base_of(const std::string& path) {
  constexpr std::string_view ending = "_movie";
  const fs::path whole(path);
  std::string stem = whole.stem().string();
  if (!stem.ends_with(ending)) return std::nullopt;
  stem.resize(stem.size() - ending.size());
  return (whole.parent_path() / stem).string();
}

std::optional<StatedGrid> raster(const Info& info) {
  if (info.text("Scan - Enable") != "Enable" || info.text("Scan - Type") != "Raster") return std::nullopt;
  const bool part = info.text("Scan - ROI Enable") == "Enable";
  const Index rows = info.count(part ? "Scan - ROI Size Y" : "Scan - Size Y");
  const Index cols = info.count(part ? "Scan - ROI Size X" : "Scan - Size X");
  if (rows < 1 || cols < 1) return std::nullopt;
  return StatedGrid{rows, cols, 0, "the info file"};
}

std::vector<Index> distinct(const std::vector<std::pair<Index, Index>>& points, bool of_rows) {
  std::vector<Index> values;
  for (const auto& [x, y] : points) values.push_back(of_rows ? y : x);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

bool evenly_spaced(const std::vector<Index>& values) {
  for (std::size_t i = 2; i < values.size(); ++i)
    if (values[i] - values[i - 1] != values[1] - values[0]) return false;
  return true;
}

}  // namespace

std::map<std::string, std::string> parse_de_info(const std::string& text) {
  std::map<std::string, std::string> lines;
  for (const std::string& line : split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) lines.emplace(trim(line.substr(0, equals)), trim(line.substr(equals + 1)));
  }
  return lines;
}

std::optional<VisitedScan> parse_scan_coordinates(const std::string& text, const std::string& name) {
  std::vector<std::pair<Index, Index>> points;
  for (const std::string& line : split(text, '\n')) {
    if (trim(line).empty()) continue;
    const std::vector<std::string> parts = split(line, ',');
    const auto x = parts.size() == 2 ? number<Index>(parts[0]) : std::nullopt;
    const auto y = parts.size() == 2 ? number<Index>(parts[1]) : std::nullopt;
    constexpr Index most = 1 << 24;
    if (!x || !y || *x < 0 || *y < 0 || *x > most || *y > most)
      throw damaged(name, fmt::format("line {} is not \"x,y\"", points.size() + 1));
    points.emplace_back(*x, *y);
  }
  const std::vector<Index> columns = distinct(points, false), rows = distinct(points, true);
  if (points.empty() || columns.size() * rows.size() != points.size() || !evenly_spaced(columns) ||
      !evenly_spaced(rows))
    return std::nullopt;
  VisitedScan scan{static_cast<Index>(rows.size()), static_cast<Index>(columns.size()), {}};
  scan.frame_of.assign(points.size(), -1);
  for (std::size_t frame = 0; frame < points.size(); ++frame) {
    const auto row = std::lower_bound(rows.begin(), rows.end(), points[frame].second) - rows.begin();
    const auto col = std::lower_bound(columns.begin(), columns.end(), points[frame].first) - columns.begin();
    Index& here = scan.frame_of[static_cast<std::size_t>(row * scan.cols + col)];
    if (here >= 0) return std::nullopt;  // visited twice
    here = static_cast<Index>(frame);
  }
  return scan;
}

std::optional<DeMovie> read_de_movie(const std::string& mrc_path, Index frames) {
  const auto base = base_of(mrc_path);
  std::error_code ignored;
  if (!base || !fs::is_regular_file(*base + "_info.txt", ignored)) return std::nullopt;
  DeMovie movie;
  movie.metadata = parse_de_info(read_text(*base + "_info.txt"));
  const Info info(movie.metadata);
  movie.calibration.high_tension_v = info.positive("Instrument Accelerating Voltage (V)", 1);
  movie.calibration.camera_length_m = info.positive("Instrument Project Camera Length (centimeters)", 0.01);
  movie.calibration.scan_step_col_nm = info.positive("Specimen Pixel Size X (nanometers)", 1);
  movie.calibration.scan_step_row_nm = info.positive("Specimen Pixel Size Y (nanometers)", 1);
  if (info.positive("Diffraction Pixel Size X", 1))
    movie.notes.push_back(
        {fmt::format("the diffraction pixel size of {} is not used", info.text("Diffraction Pixel Size X")),
         "the info file does not state its unit"});
  movie.grid = raster(info);
  const std::string coordinates = *base + "_scan_coordinates.csv";
  if (movie.grid || !fs::is_regular_file(coordinates, ignored)) return movie;
  movie.visited = parse_scan_coordinates(read_text(coordinates), coordinates);
  if (movie.visited && static_cast<Index>(movie.visited->frame_of.size()) != frames) movie.visited.reset();
  if (!movie.visited) {
    movie.unordered = fs::path(coordinates).filename().string();
    movie.notes.push_back(
        {"the frames are in the order of time", movie.unordered + " lists positions that do not fill a grid once"});
  }
  return movie;
}

}  // namespace sonde::stem
