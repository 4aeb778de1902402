// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/detector_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/stem/image/masked_sum.h"
#include "sonde/instruments/stem/load/mask_file.h"
#include "sonde/instruments/stem/load/trusted.h"
#include "sonde/instruments/stem/read/calibration.h"
#include "sonde/instruments/stem/results/compressed_images.h"

namespace sonde::stem {
namespace {

bool needs_disk(const DetectorOptions& options) {
  return std::any_of(options.detector.begin(), options.detector.end(), [](const std::string& text) {
    return !is_moment(text) && DetectorExpression::parse(text).needs_disk();
  });
}

/// Directions and lengths are measured from a centre, with or without a disk about it.
bool needs_origin(const DetectorOptions& options) {
  return std::any_of(options.detector.begin(), options.detector.end(), [](const std::string& text) {
    const std::optional<Moment> moment = moment_of(text);
    return moment == Moment::magnitude || moment == Moment::angle;
  });
}

void divide_by_area(DetectorImage& result) {
  Array scaled(Device::cpu(), result.image.shape(), DType::f64);
  const double area = std::max<double>(1, static_cast<double>(result.area));
  auto* to = static_cast<double*>(scaled.data());
  for (Index p = 0; p < scaled.count(); ++p)
    to[p] = (result.image.dtype() == DType::u64
                 ? static_cast<double>(static_cast<const std::uint64_t*>(result.image.data())[p])
                 : static_cast<const double*>(result.image.data())[p]) /
            area;
  result.image = std::move(scaled);
}

MaskImage load_mask(const std::string& path, Index rows, Index cols) {
  const Array image = read_detector_image(path, rows, cols);
  MaskImage mask{rows, cols, std::vector<float>(static_cast<std::size_t>(rows * cols))};
  const auto copy = [&](const auto* from) {
    std::transform(from, from + mask.weights.size(), mask.weights.begin(),
                   [](auto v) { return static_cast<float>(v); });
  };
  switch (image.dtype()) {
    case DType::u8:
      copy(static_cast<const std::uint8_t*>(image.data()));
      break;
    case DType::u16:
      copy(static_cast<const std::uint16_t*>(image.data()));
      break;
    case DType::u32:
      copy(static_cast<const std::uint32_t*>(image.data()));
      break;
    case DType::f32:
      copy(static_cast<const float*>(image.data()));
      break;
    case DType::f64:
      copy(static_cast<const double*>(image.data()));
      break;
    case DType::i32:
      copy(static_cast<const std::int32_t*>(image.data()));
      break;
    case DType::i64:
      copy(static_cast<const std::int64_t*>(image.data()));
      break;
    default:
      throw Error(ErrorKind::not_supported, fmt::format("{}: a mask of type {}", path, name(image.dtype())))
          .hint("store it as u8 or f32");
  }
  return mask;
}

}  // namespace

void DetectorOptions::describe(Fields& fields) {
  fields.heading("Detectors");
  fields.add("detector", detector,
             {.help = "bf, abf, adf, haadf, com-row, com-col, com-magnitude, com-angle, or an expression such as "
                      "'annulus(auto,auto,40,90)'; may be repeated",
              .metavar = "EXPRESSION",
              .letter = 'd'});
  fields.add("centre", centre,
             {.help = "centre of the pattern in pixels after binning; auto finds it in the mean pattern",
              .metavar = "ROW,COL|auto",
              .alias = "center"});
  fields.add(
      "radius", radius,
      {.help = "radius of the bright-field disk after binning; else found with the centre", .unit = "px", .min = 0});
  fields.choice("centre_method", centre_method,
                {{"edge", CentreMethod::edge},
                 {"threshold", CentreMethod::threshold},
                 {"plateau", CentreMethod::plateau},
                 {"com", CentreMethod::com},
                 {"friedel", CentreMethod::friedel}},
                {.help = "how the centre is found", .alias = "center_method"});
  fields.add("inclusive", inclusive,
             {.help = "pixels exactly on the outer radius belong to an annulus, as in some other programs"});
  fields.add("antialias", antialias, {.help = "weight edge pixels by their area inside"});
  fields.choice("normalise", normalise, {{"none", Normalise::none}, {"area", Normalise::area}},
                {.help = "divide by the number of good pixels of the detector"});
  fields.heading("");
}

Array mean_pattern(const Dataset& dataset) {
  const Array& sum = dataset.moments().pattern_sum;
  Array mean(Device::cpu(), sum.shape(), DType::f64);
  const auto& valid = dataset.valid();
  const Index summed =
      dataset.sampled_frames() > 0 ? dataset.sampled_frames() : std::count(valid.begin(), valid.end(), std::uint8_t{1});
  const double positions = std::max<double>(1, static_cast<double>(summed));
  auto* to = static_cast<double*>(mean.data());
  for (Index q = 0; q < mean.count(); ++q)
    to[q] = (sum.dtype() == DType::u64 ? static_cast<double>(static_cast<const std::uint64_t*>(sum.data())[q])
                                       : static_cast<const double*>(sum.data())[q]) /
            positions;
  return mean;
}

CentreNeed centre_need(const DetectorOptions& options) {
  const bool automatic = options.centre == "auto";
  if (needs_disk(options)) return automatic || !options.radius ? CentreNeed::disk : CentreNeed::none;
  return automatic && needs_origin(options) ? CentreNeed::origin : CentreNeed::none;
}

DetectorGeometry detector_geometry(const Dataset& dataset, const DetectorOptions& options,
                                   std::optional<Centre>& centre) {
  DetectorGeometry geometry;
  geometry.rows = dataset.shape()[2];
  geometry.cols = dataset.shape()[3];
  geometry.good = dataset.good();
  geometry.radius = options.radius;
  std::optional<BeamCentre> stated;
  if (options.stated_centre && options.centre == "auto")
    stated = resident_centre(dataset.calibration(), dataset.det_bin());
  const bool automatic = options.centre == "auto" && !stated;
  if (stated) {
    geometry.centre_row = stated->row;
    geometry.centre_col = stated->col;
  } else if (!automatic) {
    const std::vector<std::string> parts = split(options.centre, ',');
    char *end_row = nullptr, *end_col = nullptr;
    const double row = parts.size() == 2 ? std::strtod(parts[0].c_str(), &end_row) : 0,
                 col = parts.size() == 2 ? std::strtod(parts[1].c_str(), &end_col) : 0;
    if (parts.size() != 2 || end_row == parts[0].c_str() || end_col == parts[1].c_str() || *end_row != '\0' ||
        *end_col != '\0')
      throw Error(ErrorKind::usage, fmt::format("{}: \"{}\" is not ROW,COL", setting("centre"), options.centre))
          .hint("write for instance " + setting("centre", "95.5,95.5") + " or " + setting("centre", "auto"));
    geometry.centre_row = row;
    geometry.centre_col = col;
  }
  const CentreNeed need = centre_need(options);
  if (need == CentreNeed::none || (stated && (need == CentreNeed::origin || options.radius))) return geometry;
  if (!centre) {
    const bool disk = need == CentreNeed::disk;
    const Array mean = mean_pattern(dataset);
    try {
      const std::vector<std::uint8_t> trusted = trusted_pixels(dataset);
      centre = disk ? find_disk(mean.view<double, 2>(), trusted, options.centre_method)
                    : find_centre(mean.view<double, 2>(), trusted, options.centre_method);
    } catch (const Error&) {
      if (disk) throw;
      return geometry;
    }
  }
  if (stated) {  // of what was found only the disk counts
    centre->row = stated->row;
    centre->col = stated->col;
  }
  if (automatic) {
    geometry.centre_row = centre->row;
    geometry.centre_col = centre->col;
  }
  if (!options.radius && centre->radius > 0) geometry.radius = centre->radius;
  return geometry;
}

bool totals_match(const Dataset& dataset) { return dataset.exactness().clipped == 0; }

ImagerSources imager_sources(const Dataset& dataset) {
  const Array& elements = dataset.array();
  const Array& total = dataset.moments().total;
  const bool planes = dataset.layout() == LayoutChoice::pixel;
  const bool usable = total.dtype() == DType::u64 && elements.device() == total.device() && totals_match(dataset);
  return {.rows = dataset.shape()[2],
          .cols = dataset.shape()[3],
          .planes = planes ? &elements : nullptr,
          .frames = planes ? nullptr : &elements,
          .total = usable ? &total : nullptr,
          .good = dataset.good()};
}

std::vector<DetectorImage> mask_images(const Dataset& dataset, std::span<const Mask> masks) {
  if (dataset.layout() == LayoutChoice::compressed || dataset.layout() == LayoutChoice::file)
    return compressed_images(dataset, masks);
  Stream stream(dataset.array().device());
  std::vector<DetectorImage> images;
  if (dataset.layout() == LayoutChoice::frame && sums_together(stream, dataset.array(), masks)) {
    std::vector<Array> sums;
    for (std::size_t i = 0; i < masks.size(); ++i)
      sums.emplace_back(Device::cpu(), Shape{dataset.positions()}, DType::u64);
    masked_sums(stream, dataset.array(), masks, sums);
    for (std::size_t i = 0; i < masks.size(); ++i)
      images.push_back(
          {"", "together", masks[i].area(), masks[i].hash, std::move(sums[i]).reshaped(dataset.shape().first(2))});
    return images;
  }
  VirtualImager imager(imager_sources(dataset));
  for (const Mask& mask : masks) {
    const VirtualImage made = imager.compute(stream, mask);
    images.push_back({"", std::string(name(made.path)), mask.area(), mask.hash,
                      made.image->copy_to(Device::cpu(), stream).reshaped(dataset.shape().first(2))});
  }
  return images;
}

std::optional<DetectorImage> moment_image(const Dataset& dataset, const std::string& text,
                                          const DetectorGeometry& geometry) {
  const std::optional<Moment> moment = moment_of(text);
  if (!moment) return std::nullopt;
  const Index good = std::count(dataset.good().begin(), dataset.good().end(), std::uint8_t{1});
  const bool component = *moment == Moment::row || *moment == Moment::col;
  return DetectorImage{to_lower(trim(text)), "moments", good, 0,
                       component ? centre_of_mass(dataset, *moment == Moment::row)
                                 : deflection_image(dataset, *moment, deflection_origin(dataset, geometry))};
}

std::vector<Mask> detector_masks(const DetectorOptions& options, const DetectorGeometry& geometry) {
  const MembershipRules rules{options.inclusive, options.antialias,
                              [&](const std::string& path) { return load_mask(path, geometry.rows, geometry.cols); }};
  std::vector<Mask> masks;
  for (std::size_t i = 0; i < options.detector.size(); ++i)
    if (const std::string& text = options.detector[i]; !is_moment(text)) {
      masks.push_back(DetectorExpression::parse(text).mask(geometry, rules));
      const bool may_be_empty = i < options.in_family.size() && options.in_family[i] != 0;
      if (masks.back().area() == 0 && !may_be_empty)
        throw Error(ErrorKind::bad_input,
                    fmt::format("the detector {} covers no good pixel of {} x {}", text, geometry.rows, geometry.cols))
            .hint("coordinates are pixels after binning, rows before columns");
    }
  return masks;
}

void complete(std::span<DetectorImage> images, const DetectorOptions& options) {
  std::size_t next = 0;
  for (const std::string& text : options.detector) {
    if (is_moment(text)) continue;
    images[next].detector = text;
    if (options.normalise == Normalise::area) divide_by_area(images[next]);
    ++next;
  }
}

std::vector<DetectorImage> detector_images(const Dataset& dataset, const DetectorOptions& options,
                                           const DetectorGeometry& geometry) {
  std::vector<DetectorImage> from_masks = mask_images(dataset, detector_masks(options, geometry));
  complete(from_masks, options);

  std::vector<DetectorImage> images;
  std::size_t next = 0;
  for (const std::string& text : options.detector) {
    auto moment = moment_image(dataset, text, geometry);
    images.push_back(std::move(moment ? *moment : from_masks[next++]));
  }
  return images;
}

}  // namespace sonde::stem
