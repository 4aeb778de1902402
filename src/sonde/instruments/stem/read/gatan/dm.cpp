// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/gatan/dm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/read/axes/axis_units.h"
#include "sonde/instruments/stem/read/calibration.h"
#include "sonde/instruments/stem/read/file_cursor.h"
#include "sonde/instruments/stem/read/frame_block.h"
#include "sonde/instruments/stem/read/gatan/dm_tags.h"
#include "sonde/instruments/stem/read/plane_block.h"

namespace sonde::stem {
namespace {

/// One image of the file. Dimensions are in DigitalMicrograph's order: the first is the fast one.
struct DmImage {
  std::string path;  ///< "ImageList/1"
  std::vector<Index> extents;
  std::vector<AxisScale> axes;
  int type = 0;
  DmArray data;

  [[nodiscard]] std::string shape_text() const { return fmt::format("{}", fmt::join(extents, " x ")); }
  [[nodiscard]] double elements() const {
    double product = 1;
    for (const Index extent : extents) product *= static_cast<double>(extent);
    return product;
  }
};

std::optional<DType> dtype_of_dm(int type) {
  static constexpr std::array<std::pair<int, DType>, 11> known = {{{1, DType::i16},
                                                                   {2, DType::f32},
                                                                   {6, DType::u8},
                                                                   {7, DType::i32},
                                                                   {9, DType::i8},
                                                                   {10, DType::u16},
                                                                   {11, DType::u32},
                                                                   {12, DType::f64},
                                                                   {14, DType::u8},
                                                                   {39, DType::i64},
                                                                   {40, DType::u64}}};
  for (const auto& [number, dtype] : known)
    if (number == type) return dtype;
  return std::nullopt;
}

std::optional<DmImage> image_at(const DmTags& tags, Index number) {
  DmImage image;
  image.path = fmt::format("ImageList/{}", number);
  const auto data = tags.array(image.path + "/ImageData/Data");
  if (!data) return std::nullopt;
  image.data = *data;
  image.type = static_cast<int>(tags.integer(image.path + "/ImageData/DataType").value_or(0));
  constexpr Index most_dimensions = 8;
  for (Index i = 0; i < most_dimensions; ++i) {
    const auto extent = tags.integer(fmt::format("{}/ImageData/Dimensions/{}", image.path, i));
    if (!extent) break;
    image.extents.push_back(*extent);
    const std::string axis = fmt::format("{}/ImageData/Calibrations/Dimension/{}", image.path, i);
    image.axes.push_back({tags.number(axis + "/Scale").value_or(0), tags.text(axis + "/Units")});
  }
  return image;
}

/// The image with the most dimensions, then the most elements; thumbnails do not count.
DmImage choose_image(const DmTags& tags, const std::string& path, Acquisition& acquisition) {
  std::set<std::int64_t> thumbnails;
  std::vector<DmImage> images;
  for (Index i = 0;; ++i) {
    const auto index = tags.integer(fmt::format("Thumbnails/{}/ImageIndex", i));
    if (!index) break;
    thumbnails.insert(*index);
  }
  constexpr Index most_images = 10000;
  for (Index i = 0; i < most_images; ++i) {
    auto image = image_at(tags, i);
    if (!image) {
      // An image may lack its data, but its group is there.
      if (!tags.values.contains(fmt::format("ImageList/{}/ImageData/DataType", i))) break;
      continue;
    }
    if (!thumbnails.contains(i)) images.push_back(std::move(*image));
  }
  if (images.empty())
    throw Error(ErrorKind::bad_file, path + ": no image besides thumbnails; expected a pattern, a stack or a 4D scan");
  const auto best = std::max_element(images.begin(), images.end(), [](const DmImage& a, const DmImage& b) {
    return std::pair(a.extents.size(), a.elements()) < std::pair(b.extents.size(), b.elements());
  });
  if (images.size() > 1)
    acquisition.notes.push_back({fmt::format("image {} of {}", best->path, best->shape_text()),
                                 fmt::format("the largest of {}", images.size())});
  return *best;
}

/// Throws unless the elements are counts and all of them are in the file.
DType checked_type(const DmImage& image, const std::string& path) {
  const auto dtype = dtype_of_dm(image.type);
  if (!dtype)
    throw Error(
        ErrorKind::not_supported,
        fmt::format("{}: {} has DigitalMicrograph data of type {}, which are not counts (complex, colour or packed)",
                    path, image.path, image.type))
        .hint("convert the image to integers or real numbers in DigitalMicrograph");
  std::uint64_t left = image.data.count * image.data.element_bytes;  // inside the file, so without overflow
  left /= size_bytes(*dtype);
  const std::uint64_t stored = left;
  for (const Index extent : image.extents) {
    if (extent < 1) throw damaged(path, fmt::format("{} has {} pixels", image.path, image.shape_text()));
    left /= static_cast<std::uint64_t>(extent);
  }
  if (left == 0)
    throw damaged(path, fmt::format("{} has {} pixels, but {} values", image.path, image.shape_text(), stored));
  return *dtype;
}

/// Whether the scan axes are the first (fast) ones: by their units where those say it, else by the tag.
Choice<bool> scan_is_fast(const DmTags& tags, const DmImage& image) {
  const std::size_t rank = image.extents.size();
  const auto is_length = [&](std::size_t axis) {
    const auto step = known_step(image.axes[axis]);
    return step && step->kind == AxisKind::length;
  };
  if (is_length(0) != is_length(rank - 1)) return {is_length(0), "only their units are lengths"};
  if (const auto swapped = tags.integer(image.path + "/ImageTags/Meta Data/Data Order Swapped"); swapped && rank == 4)
    return {*swapped == 0, "the tag Data Order Swapped says so"};
  if (rank == 3) return {false, "a stack of images"};
  return {true, "no units and no tag say which axes are those of the scan; this is DigitalMicrograph's own order"};
}

void take_microscope(const DmTags& tags, const DmImage& image, Calibration& calibration) {
  const auto positive = [&](const char* name, double factor) -> std::optional<Quantity> {
    const auto value = tags.number(image.path + "/ImageTags/Microscope Info/" + name);
    return value && *value > 0 ? std::optional(Quantity{*value * factor, StatedBy::file}) : std::nullopt;
  };
  calibration.high_tension_v = positive("Voltage", 1);
  calibration.camera_length_m = positive("STEM Camera Length", 1e-3);  // stored in mm
}

/// Everything about the image itself, and the tags of the file that concern no other.
std::map<std::string, std::string> metadata_of(const DmTags& tags, const DmImage& image) {
  std::map<std::string, std::string> all;
  for (const auto& [path, value] : tags.values) {
    if (path.starts_with("ImageList/") && !path.starts_with(image.path + "/")) continue;
    if (const auto* whole = std::get_if<std::int64_t>(&value)) all[path] = fmt::to_string(*whole);
    if (const auto* whole = std::get_if<std::uint64_t>(&value)) all[path] = fmt::to_string(*whole);
    if (const auto* real = std::get_if<double>(&value)) all[path] = fmt::to_string(*real);
    if (const auto* text = std::get_if<std::string>(&value)) all[path] = *text;
  }
  return all;
}

}  // namespace

std::unique_ptr<Source> open_dm(const std::string& path, const ReadOptions& options) {
  File file(path);
  const DmTags tags = read_dm_tags(file);
  Acquisition acquisition;
  acquisition.path = path;
  acquisition.format = tags.version == 4 ? "DM4" : "DM3";
  acquisition.files = {path};
  const DmImage image = choose_image(tags, path, acquisition);
  acquisition.stored = checked_type(image, path);
  const std::size_t rank = image.extents.size();
  const std::string format = to_lower(tags.text(image.path + "/ImageTags/Meta Data/Format"));
  if (rank < 2 || rank > 4 || format.starts_with("spectrum"))
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: {} is {} of {}; expected one pattern, a stack of patterns or a 4D scan", path,
                            image.path, format.empty() ? "an array" : "a \"" + format + "\"", image.shape_text()));

  // A frame has two axes, whatever is left are those of the scan.
  const bool fast = rank > 2 && scan_is_fast(tags, image).value;
  const std::size_t detector = fast ? rank - 2 : 0, scan = fast ? 0 : 2;
  acquisition.cols = image.extents[detector];
  acquisition.rows = image.extents[detector + 1];
  acquisition.original_metadata = metadata_of(tags, image);
  take_microscope(tags, image, acquisition.calibration);
  take_detector_axes(image.axes[detector + 1], image.axes[detector], acquisition);
  ScanFacts facts;
  facts.frames = 1;
  if (rank == 2) facts.attribute = StatedGrid{1, 1, 0, "a single pattern"};
  if (rank == 3) {
    facts.frames = image.extents[scan];
    const auto step = known_step(image.axes[scan]);
    if (step && step->kind == AxisKind::length) {
      facts.attribute = StatedGrid{1, facts.frames, 0, "one scan axis with a unit of length"};
      take_scan_axes(std::nullopt, image.axes[scan], acquisition);
    }
  }
  if (rank == 4) {
    const Index rows = image.extents[scan + 1], cols = image.extents[scan];
    facts.frames = rows * cols;
    facts.attribute = StatedGrid{rows, cols, 0, "the dimensions of the image"};
    take_scan_axes(image.axes[scan + 1], image.axes[scan], acquisition);
    acquisition.notes.push_back({fmt::format("the scan has the {} axes of the image", fast ? "fast" : "slow"),
                                 scan_is_fast(tags, image).because});
  }
  derive_detector_steps(acquisition.calibration);
  apply_scan(acquisition, facts, options);
  if (fast) return plane_source(std::move(acquisition), std::move(file), image.data.offset, tags.big_endian);
  FrameLayout layout;
  layout.offset = image.data.offset;
  layout.frame_bytes = static_cast<std::size_t>(acquisition.rows * acquisition.cols) * size_bytes(acquisition.stored);
  return plain_source(std::move(acquisition), FrameBlock(std::move(file), layout), tags.big_endian);
}

}  // namespace sonde::stem
