// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/figure/chart.h"
#include "sonde/engine/io/contents.h"
#include "sonde/engine/memory/budget.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/stem/count/count_electrons.h"
#include "sonde/instruments/stem/count/count_options.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::stem {

/// The share of electrons that were lost because another one fell within a pixel of them, of a map of counted electrons
/// (row, col) u64 over so many frames. Of electrons that fall independently, rate per pixel and frame, those stay that
/// are the largest of their 3 x 3 pixels: counted = (1 - exp(-9 rate)) / 9 (Matern, Spatial Variation (1960): hard-core
/// process of the second kind). Rates vary over the detector: each is of the 3 x 3 pixels around. 1 where no rate
/// explains the map.
[[nodiscard]] double merged_share(const Array& pattern, Index frames);

/// The electrons of a scan, and how far to trust them.
struct CountResult {
  std::shared_ptr<const EventList> list;
  Array pattern;  ///< (row, col) u64: electrons in each pixel
  CountThresholds thresholds;
  Index frames = 0, sampled = 0;
  Index good_pixels = 0;
  std::uint64_t xrays = 0;
  double merged = 0;  ///< merged_share()
  double false_in_a_frame =
      0;  ///< pixels of a frame that noise by itself puts above the background; NaN where not known
  std::vector<std::string> warnings;

  [[nodiscard]] double electrons_in_a_frame() const;
  [[nodiscard]] double occupancy() const;  ///< electrons for each good pixel and frame
  [[nodiscard]] Value to_value() const;
  [[nodiscard]] std::vector<std::string> lines() const;
  /// event_contents(), events/pattern (row, column) u64 and events/electrons (scan row, scan column) u32.
  [[nodiscard]] Contents contents(const std::string& command) const;
  /// The sum of the electrons over the scan, and their number by position, u8 (rows, cols, 3).
  [[nodiscard]] Array picture() const;
  /// The values of the sampled frames with the fitted noise and the thresholds.
  [[nodiscard]] Chart chart() const;
};

/// What the lists of a scan take if one pixel in a hundred has an electron.
[[nodiscard]] std::size_t usual_list_bytes(Index positions, Index pixels);

/// Finds the thresholds in some frames of a loaded scan and counts the electrons of every frame. Throws what
/// find_thresholds() and visit_frames() throw, Error(bad_input) where values are not finite, and Error(budget).
[[nodiscard]] CountResult make_count(const Dataset& dataset, FrameCorrection correction, const CountOptions& options,
                                     Budget budget);

}  // namespace sonde::stem
