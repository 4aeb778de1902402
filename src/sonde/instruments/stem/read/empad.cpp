// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/empad.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/file.h"
#include "sonde/instruments/stem/read/frame_block.h"

namespace sonde::stem {
namespace {

namespace fs = std::filesystem;

constexpr Index picture_rows = 128, picture_cols = 128, further_rows = 2;

/// The value of an attribute in the inside of a tag: name="value".
std::optional<std::string> attribute(std::string_view tag, std::string_view name) {
  const std::string key = fmt::format(" {}=\"", name);
  const std::size_t begin = tag.find(key);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = tag.find('"', begin + key.size());
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(tag.substr(begin + key.size(), end - begin - key.size()));
}

/// Collects the text of every leaf under its path. Elements that carry a "mode" have it in their name, since two of
/// them describe the scan. This is the small part of XML that the detector's software writes: no entities, no comments.
class Leaves {
 public:
  Leaves(std::string_view xml, const std::string& name) : name_(name) {
    for (std::size_t at = xml.find('<'); at != std::string_view::npos; at = xml.find('<', at)) {
      const std::size_t end = xml.find('>', at);
      if (end == std::string_view::npos) throw wrong("a tag without end");
      const std::string_view tag = xml.substr(at + 1, end - at - 1);
      at = end + 1;
      take(tag, xml.substr(at, std::min(xml.find('<', at), xml.size()) - at));
    }
    if (!path_.empty()) throw wrong(fmt::format("<{}> has no end", path_.back()));
  }

  [[nodiscard]] const std::map<std::string, std::string>& all() const { return leaves_; }
  /// The first leaf whose path ends with this.
  [[nodiscard]] std::optional<std::string> find(std::string_view ending) const {
    for (const auto& [path, text] : leaves_)
      if (path.ends_with(ending)) return text;
    return std::nullopt;
  }
  template <class Number>
  [[nodiscard]] std::optional<Number> number(std::string_view ending) const {
    const auto text = find(ending);
    if (!text) return std::nullopt;
    Number value{};
    const auto [rest, status] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (status != std::errc() || rest != text->data() + text->size()) return std::nullopt;
    return value;
  }

 private:
  [[nodiscard]] Error wrong(const std::string& what) const {
    return Error(ErrorKind::bad_file, fmt::format("{}: not an EMPAD header: {}", name_, what));
  }

  void take(std::string_view tag, std::string_view text_after) {
    if (tag.empty() || tag.front() == '?' || tag.front() == '!') return;
    if (tag.front() == '/') {
      if (path_.empty()) throw wrong("it closes more than it opens");
      path_.pop_back();
      return;
    }
    const bool empty = tag.back() == '/';
    if (empty) tag.remove_suffix(1);
    std::string name(tag.substr(0, tag.find(' ')));
    if (const auto mode = attribute(tag, "mode")) name += "[" + *mode + "]";
    path_.push_back(std::move(name));
    constexpr std::size_t most_depth = 32;
    if (path_.size() > most_depth) throw wrong("it is nested too deeply");
    if (const auto file = attribute(tag, "filename")) leaves_[path() + "/filename"] = *file;
    const std::string_view text = trim(text_after);
    if (!empty && !text.empty()) leaves_[path()] = std::string(text);
    if (empty) path_.pop_back();
  }

  [[nodiscard]] std::string path() const { return fmt::format("{}", fmt::join(path_, "/")); }

  const std::string& name_;
  std::vector<std::string> path_;
  std::map<std::string, std::string> leaves_;
};

/// "scan_x64_y32.raw" is what the software names a scan of 32 rows and 64 columns.
std::optional<StatedGrid> grid_in_name(const std::string& path) {
  const std::string stem = fs::path(path).stem().string();
  const std::size_t x = stem.rfind("_x"), y = stem.rfind("_y");
  if (x == std::string::npos || y == std::string::npos || y < x) return std::nullopt;
  StatedGrid grid;
  const auto number = [](std::string_view text, Index& value) {
    const auto [rest, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    return status == std::errc() && rest == text.data() + text.size() && value > 0;
  };
  const std::string_view view = stem;
  if (!number(view.substr(x + 2, y - x - 2), grid.cols) || !number(view.substr(y + 2), grid.rows)) return std::nullopt;
  grid.source = "the name of the file";
  return grid;
}

bool is_xml(const std::string& path) { return to_lower(fs::path(path).extension().string()) == ".xml"; }

/// The raw file that belongs to a header.
std::string raw_beside(const std::string& xml_path, const EmpadHeader& header) {
  // The name may be a path on the computer of the detector; only its last part means something here.
  const std::string name = fs::path(header.raw_file).filename().string();
  std::string path = (fs::path(xml_path).parent_path() / name).string();
  std::error_code ignored;
  if (!name.empty() && fs::is_regular_file(path, ignored)) return path;
  throw Error(ErrorKind::not_supported,
              fmt::format("{}: is an EMPAD header, but its raw data {} are not beside it", xml_path, name))
      .hint("put the raw file into the same folder");
}

}  // namespace

bool is_empad_raw(const std::string& path, std::uint64_t bytes) {
  if (to_lower(fs::path(path).extension().string()) != ".raw") return false;
  const auto grid = grid_in_name(path);
  constexpr Index most = 1 << 20;
  constexpr auto frame_bytes = static_cast<std::uint64_t>((picture_rows + further_rows) * picture_cols) * sizeof(float);
  return grid && grid->rows <= most && grid->cols <= most &&
         bytes == static_cast<std::uint64_t>(grid->rows * grid->cols) * frame_bytes;
}

EmpadHeader parse_empad_header(std::string_view xml, const std::string& name) {
  const Leaves leaves(xml, name);
  EmpadHeader header;
  const auto raw_file = leaves.find("raw_file/filename");
  if (!raw_file) throw Error(ErrorKind::bad_file, name + ": not an EMPAD header: it names no raw file");
  header.raw_file = *raw_file;
  header.metadata = leaves.all();
  // Older software writes the scan as pix_x and pix_y, whatever the parameters of the next one say.
  auto cols = leaves.number<Index>("/pix_x"), rows = leaves.number<Index>("/pix_y");
  if (!cols || !rows) {
    cols = leaves.number<Index>("scan_parameters[acquire]/scan_resolution_x");
    rows = leaves.number<Index>("scan_parameters[acquire]/scan_resolution_y");
  }
  if (cols && rows && *cols > 0 && *rows > 0) header.grid = StatedGrid{*rows, *cols, 0, "the XML header"};
  const auto quantity = [&](std::string_view newer, std::string_view older) -> std::optional<Quantity> {
    auto value = leaves.number<double>(newer);
    if (!value) value = leaves.number<double>(older);
    if (!value || !(*value > 0)) return std::nullopt;
    return Quantity{*value, StatedBy::file};
  };
  header.calibration.high_tension_v = quantity("/high_voltage", "/source.get_voltage");
  header.calibration.camera_length_m = quantity("/nominal_camera_length", "/optics.get_cameralength");
  return header;
}

std::unique_ptr<Source> open_empad(const std::string& path, const ReadOptions& options) {
  Acquisition acquisition;
  acquisition.path = path;
  acquisition.format = "EMPAD";
  acquisition.stored = DType::f32;
  acquisition.rows = picture_rows;
  acquisition.cols = picture_cols;

  std::string raw_path = path;
  const std::string xml_path = is_xml(path) ? path : fs::path(path).replace_extension(".xml").string();
  std::optional<StatedGrid> grid;
  std::error_code ignored;
  if (is_xml(path) || fs::is_regular_file(xml_path, ignored)) {
    EmpadHeader header = parse_empad_header(read_text(xml_path), xml_path);
    if (is_xml(path)) raw_path = raw_beside(path, header);
    grid = header.grid;
    acquisition.calibration = header.calibration;
    acquisition.original_metadata = std::move(header.metadata);
  }
  if (!grid) grid = grid_in_name(raw_path);
  acquisition.files = {raw_path};

  FrameLayout layout;
  layout.frame_bytes = static_cast<std::size_t>(picture_rows * picture_cols) * size_bytes(acquisition.stored);
  layout.gap_bytes = static_cast<std::size_t>(further_rows * picture_cols) * size_bytes(acquisition.stored);
  FrameBlock block(File(raw_path), layout);
  block.check_rest(options, acquisition);
  ScanFacts facts;
  facts.frames = block.frames();
  facts.attribute = grid;
  apply_scan(acquisition, facts, options);
  return plain_source(std::move(acquisition), std::move(block), /*big_endian=*/false);
}

}  // namespace sonde::stem
