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
#include "sonde/instruments/stem/results/moment_images.h"

namespace sonde::stem {

enum class Normalise { none, area };

/// Which images are made of a scan.
struct DetectorOptions {
  std::vector<std::string> detector = {"bf"};  ///< expressions, or words of moment_of()
  std::string centre = "auto";                 ///< "auto" or "ROW,COL" in resident (binned) pixels
  std::optional<double> radius;  ///< of the bright-field disk, resident pixels; else found with the centre
  CentreMethod centre_method = CentreMethod::edge;
  bool inclusive = false, antialias = false;
  Normalise normalise = Normalise::none;
  /// An automatic centre is that of the calibration, where a calibration file states one. Not an option of users.
  bool stated_centre = true;
  /// (detector), no setting: of a family, some of which may cover no good pixel and then count nothing.
  std::vector<std::uint8_t> in_family{};
  void describe(Fields& fields);
};

/// What the detectors need of the beam beyond what the options give.
enum class CentreNeed {
  none,
  origin,  ///< com-magnitude and com-angle are measured from a centre, if there is one
  disk,    ///< lengths in radii, or "auto"
};
[[nodiscard]] CentreNeed centre_need(const DetectorOptions& options);

/// The detector as expressions see it: size, good pixels, and the centre and radius given or found in the mean pattern.
/// An automatic centre is that of a calibration file, where the scan was loaded with one; `centre` is then empty unless
/// the disk had to be found. A `centre` that holds one is taken as it is: that of a series. Else it receives what was
/// found when anything had to be. Throws what find_centre throws, unless only com-magnitude and com-angle asked for it:
/// they have another origin then.
[[nodiscard]] DetectorGeometry detector_geometry(const Dataset& dataset, const DetectorOptions& options,
                                                 std::optional<Centre>& centre);

/// One virtual image: (scan rows, scan cols), u64 for boolean masks on counts, else f64.
struct DetectorImage {
  std::string detector;  ///< the expression
  std::string path;  ///< how it was computed: an ImagePath, "together", "bit planes", "electrons", "decoded frames" or
                     ///< "moments"
  Index area = 0;    ///< good pixels that count
  std::uint64_t mask_hash = 0;
  Array image;
};

/// Whether the totals of the positions are the sums of the resident elements. A type that clips makes the elements
/// smaller, but not the totals: an image that takes a part of one from the other would be of neither.
[[nodiscard]] bool totals_match(const Dataset& dataset);

/// What a VirtualImager reads of a data set in a dense layout; borrowed from it. The total is left out where it does
/// not lie beside the elements, and where they were clipped. Throws Error(bad_input) for the other layouts.
[[nodiscard]] ImagerSources imager_sources(const Dataset& dataset);

/// Images of masks from whatever layout the data set has; all layouts give the same integers. From compressed bytes all
/// masks are computed in one walk over them.
[[nodiscard]] std::vector<DetectorImage> mask_images(const Dataset& dataset, std::span<const Mask> masks);

/// The masks among the detectors, in their order. Throws Error(bad_input) for one that covers no good pixel, but for
/// those in a family.
[[nodiscard]] std::vector<Mask> detector_masks(const DetectorOptions& options, const DetectorGeometry& geometry);

/// What the options ask for beside sums over masks: names, and division by areas. One image for each mask.
void complete(std::span<DetectorImage> images, const DetectorOptions& options);

/// The images of the options: masks, and first moments as in moment_image(). Coordinates are resident pixels. Throws
/// Error(bad_input) for a detector that covers no good pixel.
[[nodiscard]] std::vector<DetectorImage> detector_images(const Dataset& dataset, const DetectorOptions& options,
                                                         const DetectorGeometry& geometry);

/// com-row or com-col: the first moment over the total in resident pixels. com-magnitude: its distance in pixels from
/// deflection_origin(), com-angle: its direction from there in rad. f64, NaN where nothing was counted. Nothing for
/// other texts.
[[nodiscard]] std::optional<DetectorImage> moment_image(const Dataset& dataset, const std::string& word,
                                                        const DetectorGeometry& geometry);

/// S over the number of valid positions: the mean pattern, (rows, cols) f64.
[[nodiscard]] Array mean_pattern(const Dataset& dataset);

}  // namespace sonde::stem
