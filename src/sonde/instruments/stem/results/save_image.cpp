// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/save_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numbers>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/figure/image.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/engine/io/npy.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/io/png.h"
#include "sonde/engine/io/tiff.h"
#include "sonde/engine/report/json.h"

namespace sonde::stem {
namespace {

const OutputRole record_role = side_output("the record of the image", FileMark::json);

std::string record_path(const std::string& path) {
  return std::filesystem::path(path).replace_extension(".json").string();
}

/// TIFF readers know no 64-bit integers: u32 when every value fits, else f32, which rounds above 2^24.
Array for_tiff(const Array& image, Value& record) {
  if (image.dtype() != DType::u64 && image.dtype() != DType::f64) return image.clone();
  const Index count = image.count();
  const auto convert = [&](const auto* from, auto zero, DType dtype) {
    using To = decltype(zero);
    Array made(Device::cpu(), image.shape(), dtype);
    std::transform(from, from + count, static_cast<To*>(made.data()),
                   [](auto value) { return static_cast<To>(value); });
    record["stored_as"] = name(dtype);
    return made;
  };
  if (image.dtype() == DType::f64) return convert(static_cast<const double*>(image.data()), 0.0f, DType::f32);
  const auto* values = static_cast<const std::uint64_t*>(image.data());
  if (count == 0 || *std::max_element(values, values + count) <= max_value(DType::u32))
    return convert(values, std::uint32_t{0}, DType::u32);
  record["rounded"] = "values above 2^32 are stored as f32";
  return convert(values, 0.0f, DType::f32);
}

void save_hdf5(const std::string& path, const Array& image, const ImageScale& scale, const std::string& record,
               const ImageStack* stack) {
  Hdf5Writer writer(path);
  writer.attribute("/", "schema", std::string("sonde.stem.image/1"));
  writer.array("/image", image);
  if (stack == nullptr)
    writer.describe("/image", {"row", "column"});
  else
    writer.describe("/image", {"detector", "row", "column"});
  writer.attribute("/image", "axes", std::string(stack == nullptr ? "row,col" : "detector,row,col"));
  if (stack != nullptr)
    for (const ImageStack::Coordinate& each : stack->coordinates) {
      writer.array("/" + each.name, Array::from(each.values, {std::ssize(each.values)}));
      writer.describe("/" + each.name, {"detector"}, each.unit);
    }
  writer.attribute("/image", "unit", scale.unit);
  if (scale.row_step) writer.attribute("/image", "row_step", *scale.row_step);
  if (scale.col_step) writer.attribute("/image", "col_step", *scale.col_step);
  if (scale.row_step && scale.col_step)
    writer.attribute("/image", "pixel_size_" + scale.unit,
                     Array::from(std::vector<double>{*scale.row_step, *scale.col_step}, Shape{2}));
  writer.attribute("/image", "provenance", record);
  writer.finish();
}

/// The pictures of a stack side by side. Images of one range have one zoom: about 2000 pixels for all together.
Array picture_of(const Array& images, const ImageStack& stack, const Depiction& depiction, const ImageScale& scale,
                 const PictureOptions& picture) {
  const Index count = images.shape()[0], rows = images.shape()[1], cols = images.shape()[2];
  const auto across =
      stack.columns > 0 ? static_cast<double>(stack.columns) : std::ceil(std::sqrt(static_cast<double>(count)));
  ImageStyle style = picture_style(depiction, scale, picture);
  style.zoom = std::clamp<Index>(static_cast<Index>(2000 / (across * static_cast<double>(std::max(rows, cols)))), 1, 8);
  const auto part = [&](Index first, Index several) {
    Array made(Device::cpu(), {several * rows, cols}, images.dtype());
    std::memcpy(made.data(), static_cast<const std::byte*>(images.data()) + first * rows * cols * 8,
                made.allocated_bytes());
    return made;
  };
  std::vector<Panel> panels;
  for (Index image = 0; image < count; ++image) {
    ImageStyle own = style;
    const Index first = image - image % stack.of_one_range;
    const ValueRange range = percentile_range(part(first, std::min(stack.of_one_range, count - first)),
                                              style.low_percentile, style.high_percentile);
    if (!own.low) own.low = range.low;
    if (!own.high) own.high = range.high;
    panels.push_back({stack.labels[static_cast<std::size_t>(image)], render_image(part(image, 1), own)});
  }
  return montage(panels, stack.columns);
}

}  // namespace

ImageStyle picture_style(const Depiction& depiction, const ImageScale& scale, const PictureOptions& picture) {
  ImageStyle style;
  switch (depiction.palette) {
    case Palette::brightness:
      break;
    case Palette::signed_values:
      style.colours = ColourMap::rdbu;
      style.symmetric = true;
      break;
    case Palette::circle:
      style.colours = ColourMap::phase;
      style.low = -std::numbers::pi;
      style.high = std::numbers::pi;
      break;
    case Palette::pattern:
      // A pattern spans decades, and its few brightest pixels matter.
      style.colours = ColourMap::inferno;
      style.stretch = Stretch::log;
      style.low_percentile = 0;
      style.high_percentile = 99.9;
      break;
    case Palette::spectrum:
      style.stretch = Stretch::log;
      style.low_percentile = 5;
      style.high_percentile = 99.9;
      break;
  }
  if (picture.map) style.colours = *picture.map;
  if (!picture.range.empty()) {
    const std::vector<std::string> ends = split(picture.range, ',');
    char* end = nullptr;
    std::optional<double> low, high;
    for (std::size_t i = 0; i < ends.size() && ends.size() == 2; ++i) {
      const double value = std::strtod(ends[i].c_str(), &end);
      if (end == ends[i].c_str() || *end != '\0') break;
      (i == 0 ? low : high) = value;
    }
    if (!low || !high || !(*low < *high))
      throw Error(ErrorKind::usage, fmt::format("{}: \"{}\" is not LOW,HIGH", setting("range"), picture.range))
          .hint("write for instance " + setting("range", "0,1000"));
    style.low = low;
    style.high = high;
    style.symmetric = false;
  }
  if (scale.col_step && scale.unit != "px") {
    style.pixel_size = scale.col_step;
    style.unit = scale.unit;
  }
  style.colour_bar = picture.colour_bar;
  style.value_unit = depiction.unit;
  return style;
}

bool is_picture_name(const std::string& path) { return output_ending(path) == ".png"; }

void PictureOptions::describe(Fields& fields) {
  fields.add("range", range,
             {.help = "values at the ends of the colours of a PNG, in its unit; else the 0.5 and 99.5 % percentiles, "
                      "for deflections the same on both sides of 0",
              .metavar = "LOW,HIGH"});
  std::vector<std::pair<std::string, std::optional<ColourMap>>> maps = {{"auto", std::nullopt}};
  for (const auto& [word, colours] : colour_map_names()) maps.emplace_back(word, colours);
  fields.choice("map", map, std::move(maps),
                {.help = "colour map of a PNG; auto is gray for counts, RdBu for deflections, phase for directions"});
  fields.add("colour_bar", colour_bar, {.help = "draw a colour bar with its unit beside the picture of a PNG"});
}

ImageScale scan_scale(const Calibration& calibration, Index scan_bin) {
  ImageScale scale{std::nullopt, std::nullopt, "px"};
  if (!calibration.scan_step_row_nm || !calibration.scan_step_col_nm) return scale;
  scale.row_step = calibration.scan_step_row_nm->value * static_cast<double>(scan_bin);
  scale.col_step = calibration.scan_step_col_nm->value * static_cast<double>(scan_bin);
  scale.unit = "nm";
  return scale;
}

ImageScale detector_scale(const Calibration& calibration, Index det_bin) {
  ImageScale scale{std::nullopt, std::nullopt, "px"};
  std::optional<double> step_mrad;
  if (calibration.detector_step_mrad)
    step_mrad = calibration.detector_step_mrad->value;
  else if (calibration.detector_pixel_m && calibration.camera_length_m && calibration.camera_length_m->value > 0)
    step_mrad = 1e3 * calibration.detector_pixel_m->value / calibration.camera_length_m->value;
  if (step_mrad) {
    scale.row_step = scale.col_step = *step_mrad * static_cast<double>(det_bin);
    scale.unit = "mrad";
  } else if (calibration.detector_step_inv_a) {
    scale.row_step = scale.col_step = calibration.detector_step_inv_a->value * static_cast<double>(det_bin);
    scale.unit = "1/A";
  }
  return scale;
}

void require_image_name(const std::string& path) {
  (void)require_ending(path, "images", {".npy", ".tif", ".png", ".h5"});
  require_place(path);
  require_place(record_path(path), record_role);
}

void save_image(const std::string& path, const Array& image, const ImageScale& scale, const PictureOptions& picture,
                Value record, const Depiction& depiction, const ImageStack* stack) {
  require_image_name(path);
  const std::string ending = output_ending(path);
  const bool tiff = ending == ".tif";
  Array for_readers;
  if (tiff) for_readers = for_tiff(image, record);
  // The record is on the disk before the image gets its name: no image without its record.
  AtomicFile sidecar(record_path(path), record_role);
  sidecar.write(to_json(record) + "\n");
  if (tiff) {
    write_tiff(path, for_readers,
               {scale.row_step, scale.col_step, scale.unit == "px" ? "" : scale.unit, to_json(record, -1)});
  } else if (ending == ".npy") {
    write_npy(path, image);
  } else if (ending == ".png" && stack != nullptr) {
    write_png(path, picture_of(image, *stack, depiction, scale, picture), to_json(record, -1));
  } else if (ending == ".png") {
    write_image(path, depiction.values.empty() ? image : depiction.values, picture_style(depiction, scale, picture),
                to_json(record, -1));
  } else {
    save_hdf5(path, image, scale, to_json(record, -1), stack);
  }
  sidecar.commit();
}

}  // namespace sonde::stem
