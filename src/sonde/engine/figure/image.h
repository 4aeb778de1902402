// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/figure/colour.h"
#include "sonde/engine/io/atomic_file.h"

namespace sonde {

/// How values become positions in the colour map, after scaling the range to s in [0, 1]: s; log(1 + 1000 s) /
/// log(1001), for patterns that span decades; s^power.
enum class Stretch { linear, log, power };

/// Outlines in pixel coordinates of the data (pixel centres are whole numbers).
struct Circle {
  double row = 0, col = 0, radius = 0;
};
struct Annulus {
  double row = 0, col = 0, inner = 0, outer = 0;
};
using Overlay = std::variant<Circle, Annulus>;

/// How an image is shown. The range is that of the percentiles unless `low` or `high` are given.
struct ImageStyle {
  ColourMap colours = ColourMap::gray;
  Stretch stretch = Stretch::linear;
  double power = 0.5;
  double low_percentile = 0.5, high_percentile = 99.5;
  std::optional<double> low{}, high{};
  bool symmetric = false;              ///< the range is widened to be symmetric about zero, for signed quantities
  Index zoom = 0;                      ///< every pixel becomes zoom x zoom; 0 enlarges small images to about 512
  std::optional<double> pixel_size{};  ///< with a unit: draws a scale bar
  std::string unit{};                  ///< "nm", "mrad"; with an empty one no bar is drawn
  std::vector<Overlay> overlays{};
  bool colour_bar = false;   ///< a bar with the ends of the range to the right of the image
  std::string value_unit{};  ///< "rad": after the numbers of the colour bar
};

/// Range of values that ends at these percentiles of the finite values; both 0 and 1 when there are none. O(n).
struct ValueRange {
  double low = 0, high = 1;
};
[[nodiscard]] ValueRange percentile_range(const Array& image, double low_percentile, double high_percentile);

/// Largest length 1, 2 or 5 times a power of ten that is at most `most`. `most` must be positive.
[[nodiscard]] double scale_bar_length(double most);

/// A two-dimensional real array (any type, on any device) as u8 (rows, cols, 3) on the host. Values that are not finite
/// become a flat grey-red that no map contains. Throws Error(bad_input) for other ranks, complex and empty arrays.
[[nodiscard]] Array render_image(const Array& image, const ImageStyle& style = {});

/// Draws a scale bar, as render_image does, into a picture, u8 (rows, cols, 3), whose pixels are `pixel_size` of the
/// unit wide.
void add_scale_bar(Array& picture, double pixel_size, const std::string& unit);

/// render_image into a PNG file, atomically.
void write_image(const std::string& path, const Array& image, const ImageStyle& style = {},
                 std::string_view description = {}, const OutputRole& role = {});

/// A rendered picture with the label that stands above it.
struct Panel {
  std::string label;
  Array picture;  ///< u8 (rows, cols, 3)
};

/// Panels side by side on white, `columns` in a row (0: nearly square), each row aligned at its top, with a title above
/// when it is not empty. Throws Error(bad_input) without panels.
[[nodiscard]] Array montage(const std::vector<Panel>& panels, Index columns = 0, std::string_view title = {});

}  // namespace sonde
