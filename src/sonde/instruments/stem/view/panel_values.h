// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <string>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/panel/frame.h"
#include "sonde/instruments/stem/results/save_image.h"

namespace sonde::stem {

/// The numbers of a panel as they are shown, and what its pixels are.
struct PanelValues {
  panel::Frame frame;
  ImageScale scale;

  [[nodiscard]] Index rows() const { return static_cast<Index>(frame.rows); }
  [[nodiscard]] Index cols() const { return static_cast<Index>(frame.cols); }
  [[nodiscard]] std::vector<double> numbers() const;
  /// (rows, cols): u64 for counts, as images are written, else f32.
  [[nodiscard]] Array array() const;
};

}  // namespace sonde::stem
