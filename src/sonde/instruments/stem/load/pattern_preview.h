// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/stem/load/load_options.h"
#include "sonde/instruments/stem/load/load_pass.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// Patterns straight from the file while the scan is being loaded, in the same bins and region. Pixels of the file's
/// mask are zero; bad pixels that only the whole scan shows are not known yet. Thread-safe, one pattern at a time.
class PatternPreview {
 public:
  /// Opens and validates. Throws what opening throws.
  PatternPreview(const std::string& path, const LoadOptions& options, Index det_bin);

  /// (rows, cols), u32 for counts, else f32; decodes the frames of one resident position. Throws Error(bad_input) when
  /// it is outside, Error(bad_file) for a broken frame.
  [[nodiscard]] Array pattern(Index scan_row, Index scan_col);

 private:
  std::mutex mutex_;
  std::unique_ptr<Source> source_;
  PassSettings settings_;
  ResidentSettings resident_;
};

}  // namespace sonde::stem
