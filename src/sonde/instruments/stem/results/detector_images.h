// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/options/fields.h"
#include "sonde/instruments/stem/correct/centre.h"
#include "sonde/instruments/stem/image/expression.h"
#include "sonde/instruments/stem/image/imager.h"
#include "sonde/instruments/stem/image/mask.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

enum class Normalise { none, area };

/// Which images are made of a scan.
struct DetectorOptions {
  std::vector<std::string> detector = {"bf"};  ///< expressions, or com-row, com-col
  std::string centre = "auto";                 ///< "auto" or "ROW,COL" in resident (binned) pixels
  std::optional<double> radius;  ///< of the bright-field disk, resident pixels; else found with the centre
  CentreMethod centre_method = CentreMethod::edge;
  bool inclusive = false, antialias = false;
  Normalise normalise = Normalise::none;
  void describe(Fields& fields);
};

/// The detector as expressions see it: size, good pixels, and the centre and radius given or found in the mean pattern.
/// `centre` receives what was found when anything had to be. Throws what find_centre throws.
[[nodiscard]] DetectorGeometry detector_geometry(const Dataset& dataset, const DetectorOptions& options,
                                                 std::optional<Centre>& centre);

/// One virtual image: (scan rows, scan cols), u64 for boolean masks on counts, else f64.
struct DetectorImage {
  std::string detector;  ///< the expression
  std::string path;      ///< how it was computed: an ImagePath, "bit planes", "decoded frames" or "moments"
  Index area = 0;        ///< good pixels that count
  std::uint64_t mask_hash = 0;
  Array image;
};

/// What a VirtualImager reads of a data set in a dense layout; borrowed from it. The total is left out where it does
/// not lie beside the elements. Throws Error(bad_input) for the other layouts.
[[nodiscard]] ImagerSources imager_sources(const Dataset& dataset);

/// Images of masks from whatever layout the data set has; all layouts give the same integers. From compressed bytes all
/// masks are computed in one walk over them.
[[nodiscard]] std::vector<DetectorImage> mask_images(const Dataset& dataset, std::span<const Mask> masks);

/// The images of the options: masks, and com-row, com-col as first moments over the total, f64, NaN where nothing was
/// counted. Coordinates are resident pixels. Throws Error(bad_input) for a detector that covers no good pixel.
[[nodiscard]] std::vector<DetectorImage> detector_images(const Dataset& dataset, const DetectorOptions& options,
                                                         const DetectorGeometry& geometry);

/// Whether a detector is com-row or com-col, in any case; spaces around it do not count.
[[nodiscard]] bool is_moment(const std::string& detector);
/// Whether it is com-row.
[[nodiscard]] bool is_row_moment(const std::string& detector);

/// com-row or com-col: the first moment over the total in resident pixels, f64; NaN where nothing was counted. Nothing
/// for other texts.
[[nodiscard]] std::optional<DetectorImage> moment_image(const Dataset& dataset, const std::string& word);

/// S over the number of valid positions: the mean pattern, (rows, cols) f64.
[[nodiscard]] Array mean_pattern(const Dataset& dataset);

}  // namespace sonde::stem
