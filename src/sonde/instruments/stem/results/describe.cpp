// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/describe.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/setting.h"
#include "sonde/instruments/stem/results/provenance.h"

namespace sonde::stem {

Value acquisition_value(const Acquisition& a) {
  Value value;
  value["path"] = a.path;
  value["format"] = a.format;
  value["files"] = a.files;
  value["frames"] = a.frames;
  value["scan_rows"] = a.scan.rows;
  value["scan_cols"] = a.scan.cols;
  value["scan_because"] = a.scan_because;
  value["rows"] = a.rows;
  value["cols"] = a.cols;
  value["stored_dtype"] = name(a.stored);
  value["bad_pixels_in_mask"] = std::count_if(a.pixel_mask.begin(), a.pixel_mask.end(), mask_bit::is_bad);
  value["sentinel"] = a.sentinel ? Value(*a.sentinel) : Value();
  value["saturation"] = a.saturation ? Value(*a.saturation) : Value();
  value["calibration"] = calibration_value(a.calibration);
  value["notes"] = Value::list();
  for (const auto& note : a.notes) value["notes"].push_back(note.value + " (" + note.because + ")");
  return value;
}

Value preview_value(const LoadPreview& preview) {
  Value value;
  value["acquisition"] = acquisition_value(preview.acquisition);
  for (const auto& [bin, bytes] : float32_table(preview.sizes))
    value["float32_bytes_by_det_bin"][std::to_string(bin)] = bytes;
  Value& estimate = value["estimate"];
  estimate["det_bin"] = preview.estimate.det_bin;
  estimate["layout"] = layout_name(preview.estimate.layout);
  estimate["resident_bytes"] = preview.estimate.resident_bytes;
  estimate["predicted_peak_bytes"] = preview.estimate.predicted_peak_bytes;
  return value;
}

Value metadata_value(const Acquisition& acquisition) {
  Value all = Value::object();
  for (const auto& [path, value] : acquisition.original_metadata) all[path] = value;
  return all;
}

Value validate(const std::string& path, const LoadOptions& options, bool decode, const Budget& budget, Device device,
               Problems& problems) {
  Value entry;
  entry["path"] = path;
  const std::size_t before = problems.errors().size();
  try {
    if (!decode) {
      entry["frames"] = preview_load(path, options, budget).acquisition.frames;
    } else {
      LoadOptions every = options;
      every.layout = LayoutChoice::file;
      every.on_error = OnError::zero;
      every.hot_pixels = BadPixelAction::none;
      const Dataset dataset = load(path, every, budget, device);
      entry["frames"] = dataset.acquisition().frames;
      for (const FailedFrame& frame : dataset.failed_frames())
        problems.add(Error(ErrorKind::bad_file, fmt::format("{}: frame {}: {}", path, frame.frame, frame.reason))
                         .hint("load with " + setting("on_error", "zero") + " to leave such frames out"));
    }
    entry["status"] = problems.errors().size() == before ? "ok" : "failed";
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::terminated) throw;
    if (error.problems().empty()) problems.add(error);
    for (const Error& problem : error.problems()) problems.add(problem);
    entry["status"] = "failed";
    entry["error"] = error.message();
  }
  return entry;
}

}  // namespace sonde::stem
