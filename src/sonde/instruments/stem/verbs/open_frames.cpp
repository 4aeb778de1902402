// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/verbs/open_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/load/blocks.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/load/missing_values.h"
#include "sonde/instruments/stem/verbs/load_text.h"

namespace sonde::stem {
namespace {

/// What the calibration of a scan says. A bin of the detector widens its pixels.
void take_calibration(const Calibration& calibration, Index bin, Frames& frames) {
  const auto width = static_cast<double>(bin);
  if (calibration.high_tension_v) frames.energy_kev = calibration.high_tension_v->value / 1000;
  if (calibration.detector_step_mrad) frames.mrad_per_px = width * calibration.detector_step_mrad->value;
  if (calibration.detector_step_inv_a) frames.inv_a_per_px = width * calibration.detector_step_inv_a->value;
  const auto& row = calibration.scan_step_row_nm;
  const auto& col = calibration.scan_step_col_nm;
  if (row) frames.step_a = row->value * 10;
  if (row && col && std::abs(row->value - col->value) > 1e-3 * std::abs(row->value))
    frames.warnings.push_back(
        fmt::format("{}: scan steps of {} nm along rows and {} nm along columns: the first is used", frames.file,
                    row->value, col->value));
}

/// The type that holds every count, or sum of a bin: known before any is read.
ResultType type_of_all(DType stored, Index bin) {
  if (is_float(stored)) return ResultType::f32;
  const std::uint64_t most = max_value(stored) * static_cast<std::uint64_t>(bin * bin);
  if (most <= max_value(DType::u8)) return ResultType::u8;
  return most <= max_value(DType::u16) ? ResultType::u16 : ResultType::u32;
}

DType element_type(ResultType type) {
  switch (type) {
    case ResultType::u8:
      return DType::u8;
    case ResultType::u16:
      return DType::u16;
    case ResultType::u32:
      return DType::u32;
    default:
      return DType::f32;
  }
}

LoadOptions load_options(const FramesRequest& request) {
  LoadOptions options;
  if (!request.scan_shape.empty()) options.scan_shape = request.scan_shape;
  options.det_bin = std::to_string(request.detector_bin);
  options.dataset = request.dataset;
  options.layout = LayoutChoice::file;
  options.hot_pixels = BadPixelAction::zero;  // left out of the measurement, however few frames there are
  return options;
}

/// The frames of a scan that stays on file. Everything is decoded twice: once to find the pixels that are bad over all
/// frames, and once for the reconstruction. That costs less than an iteration, and the scan is in memory once.
class FileFrames {
 public:
  FileFrames(std::string path, LoadOptions options, std::size_t memory_bytes, Run& run)
      : path_(std::move(path)), options_(std::move(options)), memory_bytes_(memory_bytes), run_(run) {}

  /// `named`, or everything where it is empty, without the pixels that mask and counts of the scan call bad.
  [[nodiscard]] std::vector<std::uint8_t> good(const std::vector<std::uint8_t>& named) {
    std::vector<std::uint8_t> good = scan().good();
    for (std::size_t i = 0; i < named.size(); ++i) good[i] = good[i] != 0 && named[i] != 0 ? 1 : 0;
    require_values(scan(), good);
    return good;
  }

  [[nodiscard]] Array frames(Index first, Index count) {
    const Index line = scan().shape()[1];
    Array lines = read_rows(scan(), first / line, (first + count + line - 1) / line);
    if (lines.shape()[0] == count) return lines;
    Array part(Device::cpu(), Shape{count, lines.shape()[1], lines.shape()[2]}, lines.dtype());
    const std::size_t frame_bytes = part.allocated_bytes() / static_cast<std::size_t>(count);
    std::memcpy(part.data(),
                static_cast<const std::byte*>(lines.data()) + static_cast<std::size_t>(first % line) * frame_bytes,
                part.allocated_bytes());
    return part;
  }

 private:
  const Dataset& scan() {
    if (scan_) return *scan_;
    scan_.emplace(load(path_, options_, Budget(memory_bytes_, "set aside by the plan")));
    say_result(run_, *scan_);
    report_load(run_, *scan_);
    if (scan_->exactness().clipped > 0)
      throw Error(ErrorKind::bad_input, fmt::format("{}: {} sums of bins exceed {}", path_, scan_->exactness().clipped,
                                                    max_value(scan_->dtype())))
          .hint("give a smaller " + setting("det_bin"));
    return *scan_;
  }

  std::string path_;
  LoadOptions options_;
  std::size_t memory_bytes_;
  Run& run_;
  std::optional<Dataset> scan_;
};

}  // namespace

Frames open_frames(const FramesRequest& request, Run& run) {
  LoadOptions options = load_options(request);
  const LoadPreview preview =
      preview_load(request.file, options, Budget(std::numeric_limits<std::size_t>::max(), "nothing is loaded"));
  const LoadSizes& sizes = preview.sizes;
  const Acquisition& acquisition = preview.acquisition;
  options.dtype = type_of_all(acquisition.stored, request.detector_bin);

  Frames frames;
  frames.file = request.file;
  frames.format = acquisition.format;
  frames.scan_rows = sizes.scan_rows;
  frames.scan_cols = sizes.scan_cols;
  frames.shape = Shape{sizes.scan_rows * sizes.scan_cols, preview.estimate.rows, preview.estimate.cols};
  frames.dtype = element_type(options.dtype);
  frames.together = sizes.scan_cols;
  take_calibration(acquisition.calibration, request.detector_bin, frames);

  // Chunks of several frames need not be decoded again for each of them.
  const std::size_t cache = std::min(sizes.useful_cache_bytes, run.host_budget().available_bytes() / 4);
  frames.reading_bytes =
      cache + estimate_load(sizes, request.detector_bin, options.edge, options.scan_bin, options.layout, options.dtype)
                  .predicted_peak_bytes;
  const auto file = std::make_shared<FileFrames>(request.file, options, frames.reading_bytes, run);
  frames.find_good = [file](const std::vector<std::uint8_t>& named) { return file->good(named); };
  frames.read = [file](Index first, Index count) { return file->frames(first, count); };
  return frames;
}

}  // namespace sonde::stem
