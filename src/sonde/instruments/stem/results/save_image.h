// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/array/array.h"
#include "sonde/engine/figure/colour.h"
#include "sonde/engine/options/fields.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// How an image is shown in a PNG; the other formats hold the numbers.
struct PictureOptions {
  std::string range;  ///< "LOW,HIGH" in the image's unit; empty: percentiles 0.5 to 99.5
  ColourMap map = ColourMap::gray;
  void describe(Fields& fields);
};

/// What the pixels of an image are.
struct ImageScale {
  std::optional<double> row_step, col_step;
  std::string unit;  ///< "nm", "px"
};

/// The scale of scan images after binning, of detector patterns after binning; unit px where nothing is known.
[[nodiscard]] ImageScale scan_scale(const Calibration& calibration, Index scan_bin);
[[nodiscard]] ImageScale detector_scale(const Calibration& calibration, Index det_bin);

/// Writes a (rows, cols) image by the ending of `path`, atomically:
///   .npy  the element type as it is
///   .tif  u64 as u32 when it fits, else f32 (noted in the record); pixel size in ImageJ tags; record in the
///   description .png  8-bit with colour map and a scale bar when calibrated .h5   data set /image with its axes and
///   the record as attributes
/// and the record beside it as <path without ending>.json. Throws Error(usage) for other endings, Error(io).
void save_image(const std::string& path, const Array& image, const ImageScale& scale, const PictureOptions& picture,
                Value record);

/// save_image() for the name alone: Error(usage) for other endings, Error(io) when the folder is not there.
void require_image_name(const std::string& path);

}  // namespace sonde::stem
