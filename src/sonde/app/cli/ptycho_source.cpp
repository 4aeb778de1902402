// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/cli/ptycho_source.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "sonde/app/cli/stem_text.h"
#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/load/dataset.h"

namespace sonde::cli {
namespace {

/// What the calibration of a scan says of a measurement. A bin of the detector widens its pixels.
void take_calibration(const stem::Calibration& calibration, ptycho::Source& source) {
  if (calibration.high_tension_v) source.energy_kev = calibration.high_tension_v->value / 1000;
  if (calibration.detector_step_mrad) source.mrad_per_px = calibration.detector_step_mrad->value;
  if (calibration.scan_step_row_nm) source.step_a = calibration.scan_step_row_nm->value * 10;
  source.probe_type = ptycho::ProbeType::electron;
}

ptycho::Source described(const std::string& file, const stem::Acquisition& acquisition, const Shape& shape) {
  ptycho::Source source;
  source.file = file;
  source.format = acquisition.format;
  source.shape = Shape{shape[0] * shape[1], shape[2], shape[3]};
  source.scan_shape = ptycho::Extent{shape[0], shape[1]};
  return source;
}

}  // namespace

ptycho::Source open_measurement(const ptycho::DataSettings& settings, Context& context) {
  if (settings.file.empty() || ptycho::is_own_format(settings)) return ptycho::open_source(settings);
  stem::LoadOptions options;
  if (!settings.scan_shape.empty()) options.scan_shape = settings.scan_shape;
  options.det_bin = std::to_string(settings.detector_bin);
  options.dataset = settings.patterns;
  options.mask_file = settings.mask;
  options.layout = stem::LayoutChoice::frame;
  if (context.dry_run()) {
    const stem::LoadPreview preview = stem::preview_load(settings.file, options, context.host_budget());
    const stem::LoadSizes& sizes = preview.sizes;
    ptycho::Source source = described(settings.file, preview.acquisition,
                                      Shape{sizes.scan_rows, sizes.scan_cols, sizes.rows / settings.detector_bin,
                                            sizes.cols / settings.detector_bin});
    take_calibration(preview.acquisition.calibration, source);
    return source;
  }
  const auto dataset = std::make_shared<stem::Dataset>(stem::load(settings.file, options, context.host_budget()));
  report_load(context, *dataset);
  ptycho::Source source = described(settings.file, dataset->acquisition(), dataset->shape());
  take_calibration(dataset->calibration(), source);
  source.dtype = dataset->dtype();
  source.good = dataset->good();
  source.read_patterns = [dataset] { return dataset->array().clone(); };
  return source;
}

}  // namespace sonde::cli
