// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/ptycho_source.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "sonde/app/cli/stem_text.h"
#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::cli {
namespace {

/// What the calibration of a scan says of a measurement. A bin of the detector widens its pixels.
void take_calibration(const stem::Calibration& calibration, Index bin, ptycho::Source& source) {
  const auto width = static_cast<double>(bin);
  source.probe_type = ptycho::ProbeType::electron;
  if (calibration.high_tension_v) source.energy_kev = calibration.high_tension_v->value / 1000;
  if (calibration.detector_step_mrad) source.mrad_per_px = width * calibration.detector_step_mrad->value;
  if (calibration.detector_step_inv_a) source.inv_a_per_px = width * calibration.detector_step_inv_a->value;
  const auto& row = calibration.scan_step_row_nm;
  const auto& col = calibration.scan_step_col_nm;
  if (row) source.step_a = row->value * 10;
  if (row && col && std::abs(row->value - col->value) > 1e-3 * std::abs(row->value))
    source.warnings.push_back(
        fmt::format("{}: scan steps of {} nm along rows and {} nm along columns: the first is used", source.file,
                    row->value, col->value));
}

ptycho::Source described(const std::string& file, const stem::Acquisition& acquisition, const Shape& shape) {
  ptycho::Source source;
  source.file = file;
  source.format = acquisition.format;
  source.shape = Shape{shape[0] * shape[1], shape[2], shape[3]};
  source.scan_shape = ptycho::Extent{shape[0], shape[1]};
  return source;
}

/// What the run file names counts as well, but pixels that the scan's own file or its counts call bad stay bad.
void take_named(const ptycho::DataSettings& settings, ptycho::Source& source) {
  const std::vector<std::uint8_t> good = source.good;
  take_named_arrays(settings, source);
  for (std::size_t i = 0; i < good.size(); ++i) source.good[i] = source.good[i] != 0 && good[i] != 0 ? 1 : 0;
  require_fitting(source);
}

stem::LoadOptions load_options(const ptycho::DataSettings& settings) {
  stem::LoadOptions options;
  if (!settings.scan_shape.empty()) options.scan_shape = settings.scan_shape;
  options.det_bin = std::to_string(settings.detector_bin);
  options.dataset = settings.patterns;
  options.layout = stem::LayoutChoice::frame;
  return options;
}

}  // namespace

ptycho::Source describe_measurement(const ptycho::DataSettings& settings, Context& context) {
  if (settings.file.empty() || ptycho::is_own_format(settings)) return ptycho::open_source(settings);
  const stem::LoadPreview preview = stem::preview_load(settings.file, load_options(settings), context.host_budget());
  ptycho::Source source =
      described(settings.file, preview.acquisition,
                Shape{preview.sizes.scan_rows, preview.sizes.scan_cols, preview.estimate.rows, preview.estimate.cols});
  source.dtype = preview.estimate.dtype;
  take_calibration(preview.acquisition.calibration, settings.detector_bin, source);
  take_named(settings, source);
  return source;
}

ptycho::Source open_measurement(const ptycho::DataSettings& settings, Context& context) {
  if (context.dry_run() || settings.file.empty() || ptycho::is_own_format(settings))
    return describe_measurement(settings, context);
  const auto dataset =
      std::make_shared<stem::Dataset>(stem::load(settings.file, load_options(settings), context.host_budget()));
  report_load(context, *dataset);
  ptycho::Source source = described(settings.file, dataset->acquisition(), dataset->shape());
  take_calibration(dataset->calibration(), dataset->det_bin(), source);
  source.dtype = dataset->dtype();
  source.good = dataset->good();
  take_named(settings, source);
  source.read_patterns = [dataset] { return dataset->array().clone(); };
  if (dataset->array().contiguous())
    source.read_frames = [dataset, shape = source.shape](Index first, Index count) {
      const Array& all = dataset->array();
      Array frames(Device::cpu(), Shape{count, shape[1], shape[2]}, all.dtype());
      const std::size_t frame_bytes = frames.allocated_bytes() / static_cast<std::size_t>(count);
      std::memcpy(frames.data(),
                  static_cast<const std::byte*>(all.data()) + static_cast<std::size_t>(first) * frame_bytes,
                  frames.allocated_bytes());
      return frames;
    };
  return source;
}

void say_source(const ptycho::Source& source, const Context& context) {
  context.say(fmt::format("data      {}: {} patterns of {} x {} pixels, {}", source.file, source.shape[0],
                          source.shape[1], source.shape[2], source.format));
}

}  // namespace sonde::cli
