// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/depiction.h"

#include <optional>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/correct/centre.h"
#include "sonde/instruments/stem/load/trusted.h"
#include "sonde/instruments/stem/results/moment_images.h"

namespace sonde::stem {
namespace {

/// A scan without a beam can be shown all the same.
DetectorGeometry with_centre(const Dataset& dataset, DetectorGeometry geometry, CentreMethod method) {
  if (geometry.centre_row && geometry.centre_col) return geometry;
  try {
    const Array mean = mean_pattern(dataset);
    const Centre centre = find_disk(mean.view<double, 2>(), trusted_pixels(dataset), method);
    geometry.centre_row = centre.row;
    geometry.centre_col = centre.col;
  } catch (const Error&) {
  }
  return geometry;
}

}  // namespace

Depiction depiction_of(Moment moment, const DeflectionUnit& unit, const DeflectionOrigin& origin) {
  Depiction shown;
  shown.unit = unit.name;
  shown.palette = moment == Moment::angle       ? Palette::circle
                  : moment == Moment::magnitude ? Palette::brightness
                                                : Palette::signed_values;
  Value& told = shown.record["deflection"];
  told["unit"] = unit.name;
  told["from"]["row"] = origin.row;
  told["from"]["col"] = origin.col;
  told["from"]["is"] = origin.is_beam ? "centre of the beam" : "mean of the scan";
  return shown;
}

Depiction depiction_of(const Dataset& dataset, const DetectorImage& image, const DetectorGeometry& geometry,
                       CentreMethod method) {
  const std::optional<Moment> moment = moment_of(image.detector);
  if (!moment) {
    Depiction shown;
    shown.unit = image.image.dtype() == DType::u64 ? "counts" : "";
    return shown;
  }
  const DeflectionOrigin origin = deflection_origin(dataset, with_centre(dataset, geometry, method));
  const DeflectionUnit unit = deflection_unit(*moment, dataset);
  Depiction shown = depiction_of(*moment, unit, origin);
  shown.values = deflection_image(dataset, *moment, origin, unit.per_px);
  return shown;
}

void save_detector_image(const std::string& path, const Dataset& dataset, const DetectorImage& image,
                         const DetectorGeometry& geometry, CentreMethod method, const PictureOptions& picture,
                         Value record) {
  const ImageScale scale = scan_scale(dataset.calibration(), dataset.scan_bin());
  if (!is_picture_name(path)) return save_image(path, image.image, scale, picture, std::move(record));
  const Depiction depiction = depiction_of(dataset, image, geometry, method);
  if (const Value* told = depiction.record.find("deflection"); told != nullptr)
    record["detector"]["deflection"] = *told;
  save_image(path, image.image, scale, picture, std::move(record), depiction);
}

}  // namespace sonde::stem
