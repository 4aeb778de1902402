// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/array/array.h"
#include "sonde/engine/figure/colour.h"
#include "sonde/engine/figure/image.h"
#include "sonde/engine/options/fields.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// How an image is shown in a PNG; the other formats hold the numbers.
struct PictureOptions {
  std::string range;             ///< "LOW,HIGH" in the picture's unit; empty: percentiles, or what the palette says
  std::optional<ColourMap> map;  ///< unset: that of the palette
  bool colour_bar = true;
  void describe(Fields& fields);
};

/// What colours stand for. brightness: from little to much, gray. signed_values: RdBu about zero. circle: directions
/// from -pi to pi. pattern: counts that span decades, logarithmic in inferno. spectrum: the same in gray.
enum class Palette { brightness, signed_values, circle, pattern, spectrum };

/// What a picture shows in place of the numbers that are kept.
struct Depiction {
  Array values{};    ///< empty: the numbers themselves
  std::string unit;  ///< of the values, for the colour bar
  Palette palette = Palette::brightness;
  Value record = Value::object();  ///< what is recorded about it
};

/// What the pixels of an image are.
struct ImageScale {
  std::optional<double> row_step, col_step;
  std::string unit;  ///< "nm", "px"
};

/// The scale of scan images after binning, of detector patterns after binning; unit px where nothing is known.
[[nodiscard]] ImageScale scan_scale(const Calibration& calibration, Index scan_bin);
[[nodiscard]] ImageScale detector_scale(const Calibration& calibration, Index det_bin);

/// Several images of one scan, (images, rows, cols).
struct ImageStack {
  struct Coordinate {
    std::string name, unit;
    std::vector<double> values;  ///< (image)
  };
  std::vector<Coordinate> coordinates;  ///< data sets beside those images in HDF5
  std::vector<std::string> labels;      ///< (image)
  Index columns = 0;                    ///< side by side in a picture; 0: nearly square
  Index of_one_range = 1;               ///< so many neighbours have the colours of one range
};

/// Writes a (rows, cols) image by the ending of `path`, atomically:
///   .npy  the element type as it is
///   .tif  u64 as u32 when it fits, else f32 (noted in the record); pixel size in ImageJ tags; record in the
///   description .png  8-bit as depicted, with a colour bar and, when calibrated, a scale bar .h5   data set /image
///   with its axes and the record as attributes
/// and the record beside it as <path without ending>.json. With a stack the image is (images, rows, cols): a TIFF then
/// has several pages, a PNG the pictures side by side. Throws Error(usage) for other endings, Error(io).
void save_image(const std::string& path, const Array& image, const ImageScale& scale, const PictureOptions& picture,
                Value record, const Depiction& depiction = {}, const ImageStack* stack = nullptr);

/// The style of save_image() in a PNG. Throws Error(usage) for a range that is none.
[[nodiscard]] ImageStyle picture_style(const Depiction& depiction, const ImageScale& scale,
                                       const PictureOptions& picture);

/// Whether save_image() draws a picture there rather than keeping numbers.
[[nodiscard]] bool is_picture_name(const std::string& path);

/// save_image() for the name: Error(usage) for other endings, Error(io) when the folder is not there.
void require_image_name(const std::string& path);

}  // namespace sonde::stem
