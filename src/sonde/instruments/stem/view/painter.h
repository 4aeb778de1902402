// SPDX-License-Identifier: Apache-2.0
// Private to the room: numbers of one loaded scan as frames. Counts stay whole numbers in the smallest type that holds
// them; deflections and weighted sums are f32.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/device/stream.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/panel/frame.h"
#include "sonde/instruments/stem/image/expression.h"
#include "sonde/instruments/stem/image/imager.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/results/moment_images.h"
#include "sonde/instruments/stem/view/first_look.h"
#include "sonde/instruments/stem/view/frame_cache.h"

namespace sonde::stem {

enum class Reduction { sum, mean, max };
[[nodiscard]] std::string_view name(Reduction reduction);

/// Any real array on the host as a frame. Its last two dimensions, or the scan of a flat one, are rows and cols.
[[nodiscard]] panel::Frame frame_of(panel::FrameKind kind, Index rows, Index cols, const Array& values);

/// The pattern of one position.
[[nodiscard]] panel::Frame pattern_frame(const Dataset& dataset, Index scan_row, Index scan_col);

/// A detector as it stands: a mask, or a first moment.
struct DetectorOf {
  std::string text;
  std::optional<Mask> mask;   ///< absent: a first moment
  DeflectionOrigin origin{};  ///< of a first moment
};
/// Throws what parsing and evaluating throw, and Error(bad_input) when no good pixel is left. Files are not read.
[[nodiscard]] DetectorOf detector_of(const Dataset& dataset, const std::string& text, const DetectorGeometry& geometry);

/// The image of a detector, computed from nothing else. Of a first moment the deflection, in deflection_unit().
[[nodiscard]] Shown image_of(const Dataset& dataset, const DetectorOf& detector);

/// The same as it is seen while the scan is being loaded.
[[nodiscard]] panel::Frame moment_preview(const FirstLook& look, Moment moment, const DetectorGeometry& geometry,
                                          const DeflectionUnit& unit);

/// One client's images of one item, each computed from what that client saw before where that is shorter (see
/// VirtualImager). It keeps images, not the data set: memory that is released is free at once.
class ClientImager {
 public:
  /// Reserves what its history takes.
  ClientImager(const std::shared_ptr<const Dataset>& dataset, Budget& budget);
  [[nodiscard]] bool is_of(const std::shared_ptr<const Dataset>& dataset) const { return dataset_.lock() == dataset; }
  [[nodiscard]] Shown image(const Dataset& dataset, const DetectorOf& detector);

 private:
  std::weak_ptr<const Dataset> dataset_;
  Reservation reservation_;
  std::optional<VirtualImager> imager_;  // dense layouts
  std::optional<Array> total_;           // where the data set does not lie on the host
  Stream stream_;
};

/// One client's pattern summed over a region of the scan; a region that moves costs the positions that it gains and
/// loses.
class ClientPattern {
 public:
  /// The sum, mean or maximum over `positions` (ascending; empty: the whole scan). Positions without a frame count as
  /// nothing, in the mean neither as a position. Throws Error(bad_input) when none has a frame.
  [[nodiscard]] panel::Frame pattern(const std::shared_ptr<const Dataset>& dataset, std::span<const Index> positions,
                                     Reduction reduction);

 private:
  std::weak_ptr<const Dataset> dataset_;
  std::vector<Index> positions_;
  std::optional<Array> sum_;  // u64, on the device of the data set
};

}  // namespace sonde::stem
