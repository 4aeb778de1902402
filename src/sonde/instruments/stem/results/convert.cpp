// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/results/convert.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>
#include <string_view>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/npy.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/load/blocks.h"
#include "sonde/instruments/stem/results/output_path.h"
#include "sonde/instruments/stem/results/provenance.h"
#include "sonde/instruments/stem/write/write_arina.h"
#include "sonde/instruments/stem/write/write_emd.h"

namespace sonde::stem {
namespace {

constexpr std::size_t converted_block_bytes = std::size_t{256} << 20;

/// Calibration of the resident pixels: steps grow with the bins.
Calibration binned(const Dataset& dataset) {
  Calibration calibration = dataset.calibration();
  const auto scale = [](std::optional<Quantity>& quantity, Index bin) {
    if (quantity) quantity->value *= static_cast<double>(bin);
  };
  scale(calibration.scan_step_row_nm, dataset.scan_bin());
  scale(calibration.scan_step_col_nm, dataset.scan_bin());
  scale(calibration.detector_pixel_m, dataset.det_bin());
  scale(calibration.detector_step_mrad, dataset.det_bin());
  scale(calibration.detector_step_inv_a, dataset.det_bin());
  return calibration;
}

std::vector<std::string> to_npy(const Dataset& dataset, const std::string& path) {
  AtomicFile file(path);
  file.write(npy_header(dataset.dtype(), dataset.shape()));
  for_each_block(dataset, converted_block_bytes, NotFinite::kept, [&](const Array& frames, Index) {
    check_interrupt();
    file.write(std::span(static_cast<const std::byte*>(frames.data()), frames.allocated_bytes()));
  });
  check_interrupt();
  file.commit();
  return {path};
}

std::vector<std::string> to_emd(const Dataset& dataset, const std::string& path) {
  EmdWriter writer(path, dataset.shape(), dataset.dtype(), binned(dataset),
                   {{"sonde_provenance", to_json(provenance(dataset), -1)}});
  for_each_block(dataset, converted_block_bytes, NotFinite::kept, [&](const Array& frames, Index) {
    check_interrupt();
    writer.append(frames);
  });
  check_interrupt();
  writer.finish();
  return {path};
}

std::vector<std::string> to_arina(const Dataset& dataset, const std::string& path) {
  if (dataset.dtype() == DType::f32)
    throw Error(ErrorKind::bad_input, fmt::format("{}: the ARINA layout holds counts, not floating-point values", path))
        .hint("write .npy or .emd instead");
  ArinaDescription description;
  description.scan_rows = dataset.shape()[0];
  description.scan_cols = dataset.shape()[1];
  description.rows = dataset.shape()[2];
  description.cols = dataset.shape()[3];
  description.dtype = dataset.dtype();
  description.pixel_mask = dataset.mask_bits();
  description.calibration = binned(dataset);
  description.description = "converted from " + dataset.acquisition().format;
  description.attributes = {{"sonde_provenance", to_json(provenance(dataset), -1)}};
  ArinaWriter writer(path, std::move(description));
  for_each_block(dataset, converted_block_bytes, NotFinite::kept, [&](const Array& frames, Index) {
    check_interrupt();
    writer.append(frames);
  });
  check_interrupt();
  return writer.finish();
}

enum class Format { npy, emd, arina };

Format format_of(const std::string& path) {
  if (to_lower(path).ends_with("_master.h5")) return Format::arina;
  const std::string ending = output_ending(path);
  if (ending == ".npy") return Format::npy;
  if (ending == ".h5" || ending == ".emd") return Format::emd;
  throw Error(ErrorKind::usage, fmt::format("{}: no format for this ending", path))
      .hint("end the name in .npy, .emd, .h5 or _master.h5");
}

}  // namespace

LoadOptions options_to_convert(LoadOptions options) {
  if (options.hot_pixels == BadPixelAction::automatic) options.hot_pixels = BadPixelAction::none;
  if (options.layout == LayoutChoice::automatic && options.det_bin != "auto") options.layout = LayoutChoice::file;
  return options;
}

void require_conversion_name(const std::string& path) {
  if (format_of(path) == Format::arina) return require_arina_places(path);
  require_place(path);
}

std::vector<std::string> convert(const Dataset& dataset, const std::string& path) {
  const Format format = format_of(path);
  require_not_input(path, dataset.acquisition(), dataset.options());
  if (format == Format::npy) return to_npy(dataset, path);
  if (format == Format::emd) return to_emd(dataset, path);
  // All files of an acquisition begin with the name of its master.
  const std::string base = path.substr(0, path.size() - std::string_view("_master.h5").size());
  require_not_input(base + ".h5", dataset.acquisition(), dataset.options());
  for (const std::string& file : dataset.acquisition().files)
    if (const std::string name = std::filesystem::path(file).filename().string();
        name.starts_with(std::filesystem::path(base).filename().string() + "_data_"))
      require_not_input((std::filesystem::path(path).parent_path() / name).string(), dataset.acquisition(),
                        dataset.options());
  return to_arina(dataset, path);
}

}  // namespace sonde::stem
