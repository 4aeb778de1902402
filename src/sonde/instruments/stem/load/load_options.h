// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/options/fields.h"
#include "sonde/instruments/stem/correct/bad_pixels.h"
#include "sonde/instruments/stem/pass/cleaning.h"
#include "sonde/instruments/stem/pass/grid.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// How the scan is held. `automatic` takes the first that fits the budget of: pixel (fast images), compressed (the
/// stored bytes in memory, decoded for every image), file (nothing held, every image reads the file).
enum class LayoutChoice { automatic, frame, pixel, compressed, file };
enum class ResultType { automatic, u8, u16, u32, f32 };
enum class ScanFlip { none, rows, cols, both };

/// Everything a user may say about opening and loading one scan. One struct for the command line, files and Python.
struct LoadOptions {
  // What the file does not say
  std::string scan_shape = "auto";
  ScanFlip scan_flip = ScanFlip::none;
  bool transpose_scan = false, transpose_detector = false;
  bool allow_incomplete = false, drop_extra = false;
  bool ignore_mask = false;
  std::string mask_file;
  std::optional<Index> sentinel;
  std::string dataset;
  std::string raw_shape, raw_dtype;
  bool raw_big_endian = false;
  Bytes raw_offset, raw_gap;
  std::string preset;
  // Calibration
  std::string calibration;  ///< a file whose calibration comes before that of the scan
  std::optional<double> voltage, camera_length, scan_step, rotation;
  // What is kept
  std::string det_bin = "1";
  BinMode bin_mode = BinMode::sum;
  Edge edge = Edge::keep;
  Index scan_bin = 1;
  std::string scan_region;
  ResultType dtype = ResultType::automatic;
  LayoutChoice layout = LayoutChoice::automatic;
  BadPixelAction hot_pixels = BadPixelAction::automatic;
  OnError on_error = OnError::fail;

  void describe(Fields& fields);
  /// All but some, for verbs on which those have no effect.
  void describe_without(std::initializer_list<std::string_view> keys, Fields& fields);

  /// The part the readers need. Throws Error(usage) on texts that cannot be read.
  [[nodiscard]] ReadOptions read_options() const;
  /// The region asked for, or nothing for the whole scan.
  [[nodiscard]] std::optional<ScanRegion> region() const;
  /// The bin asked for, or nothing for "auto".
  [[nodiscard]] std::optional<Index> detector_bin() const;
};

}  // namespace sonde::stem
