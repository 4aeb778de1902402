// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/image_record.h"

#include <fmt/format.h>

#include "sonde/instruments/stem/results/provenance.h"

namespace sonde::stem {

Value image_record(const Dataset& dataset, const DetectorImage& image, const DetectorOptions& options,
                   PictureOptions picture, const DetectorGeometry& geometry, const std::optional<Centre>& centre) {
  Value record = provenance(dataset);
  record["picture"] = Fields(picture).echo();
  DetectorOptions resolved = options;
  resolved.detector = {image.detector};
  if (geometry.centre_row) resolved.centre = fmt::format("{:.17g},{:.17g}", *geometry.centre_row, *geometry.centre_col);
  resolved.radius = geometry.radius;
  record["image"] = Fields(resolved).echo();
  Value& detail = record["detector"];
  detail["expression"] = image.detector;
  detail["area_pixels"] = image.area;
  detail["mask_hash"] = fmt::format("xxh3:{:016x}", image.mask_hash);
  detail["computed_from"] = image.path;
  detail["accumulated_as"] = name(image.image.dtype());
  if (centre) {
    detail["centre_found"]["row"] = centre->row;
    detail["centre_found"]["col"] = centre->col;
    detail["centre_found"]["radius"] = centre->radius;
    detail["centre_found"]["confidence"] = centre->confidence;
    detail["centre_found"]["residual_rms"] = centre->residual_rms;
  }
  return record;
}

}  // namespace sonde::stem
