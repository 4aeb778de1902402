// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/pattern_preview.h"

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/load/adapt.h"

namespace sonde::stem {

PatternPreview::PatternPreview(const std::string& path, const LoadOptions& options, Index det_bin)
    : source_(adapt(open_source(path, options.read_options()), options)) {
  const Acquisition& acquisition = source_->acquisition();
  settings_.scan = ScanGrid::make(acquisition, options.region(), options.scan_bin, options.edge);
  settings_.detector = DetectorGrid::make(acquisition.rows, acquisition.cols, det_bin, options.edge);
  settings_.mask_bits = mask_of(acquisition, options);
  settings_.mode = options.bin_mode;
  settings_.on_error = options.on_error;
  resident_.out = acquisition.stored == DType::f32 || options.bin_mode == BinMode::mean ? DType::f32 : DType::u32;
  resident_.saturate = true;  // for a first look: a sum beyond 32 bits is an error of the load itself
  settings_.stage = "preview";
}

Array PatternPreview::pattern(Index scan_row, Index scan_col) {
  const ScanGrid& scan = settings_.scan;
  if (scan_row < 0 || scan_col < 0 || scan_row >= scan.out_rows || scan_col >= scan.out_cols)
    throw Error(ErrorKind::bad_input, fmt::format("scan position {},{} is outside the scan of {} x {}", scan_row,
                                                  scan_col, scan.out_rows, scan.out_cols));
  Array pattern(Device::cpu(), {settings_.detector.out_rows, settings_.detector.out_cols}, resident_.out);
  const std::lock_guard lock(mutex_);
  decode_frames(*source_, part_of(settings_, {scan_row, scan_row + 1, scan_col, scan_col + 1}), resident_, pattern);
  return pattern;
}

}  // namespace sonde::stem
