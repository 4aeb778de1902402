// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <memory>
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
  Depiction depiction{};
  std::shared_ptr<const Array> exact{};  ///< see Shown

  [[nodiscard]] Index rows() const { return static_cast<Index>(frame.rows); }
  [[nodiscard]] Index cols() const { return static_cast<Index>(frame.cols); }
  [[nodiscard]] std::vector<double> numbers() const;
  /// (rows, cols): u64 for counts, as images are written, else f32.
  [[nodiscard]] Array array() const;
  /// What a file of numbers keeps: the exact ones where others are shown.
  [[nodiscard]] Array kept() const { return exact ? exact->clone() : array(); }
};

}  // namespace sonde::stem
