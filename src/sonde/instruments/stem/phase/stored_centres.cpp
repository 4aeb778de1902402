// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/phase/stored_centres.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/load/calibration_file.h"
#include "sonde/instruments/stem/results/provenance.h"

namespace sonde::stem {
namespace {

using panel::StoredResult;

const panel::Quantity* quantity_of(const StoredResult& stored, const std::string& name) {
  const auto found = std::ranges::find(stored.quantities(), name, &panel::Quantity::name);
  return found == stored.quantities().end() ? nullptr : &*found;
}

/// A map over the scan; nothing where the file has none of these extents.
std::optional<std::vector<double>> map_of(const StoredResult& stored, const std::string& name, const Shape& shape) {
  const panel::Quantity* quantity = quantity_of(stored, name);
  if (quantity == nullptr || quantity->axes.size() != 2 || quantity->complex()) return std::nullopt;
  if (quantity->axes[0].size != shape[0] || quantity->axes[1].size != shape[1]) return std::nullopt;
  return std::move(panel::planes_of(stored.read(*quantity, Shape{0, 0}, shape)).at(0));
}

std::optional<Shape> shape_of(const StoredResult& stored) {
  const panel::Quantity* quantity = quantity_of(stored, "com/x");
  if (quantity == nullptr || quantity->axes.size() != 2) return std::nullopt;
  return Shape{quantity->axes[0].size, quantity->axes[1].size};
}

const Value* tree_of(const StoredResult& stored, const std::string& name) {
  const auto text = std::ranges::find(stored.texts(), name, &panel::Text::name);
  return text == stored.texts().end() || !text->tree.is_object() ? nullptr : &text->tree;
}

/// The settings that a file was made with: those of a phase, or of a field by itself.
std::optional<PhaseOptions> stored_options(const StoredResult& stored) {
  const Value* settings = tree_of(stored, "settings");
  if (settings == nullptr) return std::nullopt;
  PhaseOptions options;
  if (stored.schema().starts_with("sonde.stem.com/")) options.method = IntegralMethod::none;
  try {
    Fields(options).assign_all(*settings, "settings");
    options.check();
  } catch (const Error&) {
    return std::nullopt;  // not what this program writes
  }
  return options;
}

std::optional<PhaseScale> stored_scale(const StoredResult& stored, PhaseUnit unit) {
  const auto pixel = stored.number("scale/pixel"), row = stored.number("scale/step_row"),
             col = stored.number("scale/step_col"), sigma = stored.number("scale/sigma");
  if (!pixel || !row || !col || !(*pixel > 0 && *row > 0 && *col > 0)) return std::nullopt;
  if (unit == PhaseUnit::volts && !(sigma.value_or(0) > 0)) return std::nullopt;
  PhaseScale scale{.pixel = *pixel, .step_row = *row, .step_col = *col, .sigma = sigma.value_or(0), .unit = unit};
  for (const auto& [name, bin] :
       {std::pair("scale/det_bin", &scale.det_bin), std::pair("scale/scan_bin", &scale.scan_bin)}) {
    const double value = stored.number(name).value_or(1);
    if (!(value >= 1 && value <= 1e6)) return std::nullopt;
    *bin = static_cast<Index>(value);
  }
  if (const Value* record = tree_of(stored, "calibration")) scale.record = *record;
  if (stored.number("frame/det_bin")) scale.frame = stored_frame(stored);
  return scale;
}

bool finite(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

}  // namespace

bool holds_centres(const StoredResult& stored) {
  return stored.schema().starts_with("sonde.stem.com/") || stored.schema().starts_with("sonde.stem.phase/");
}

std::optional<StoredCentres> stored_centres(const StoredResult& stored) {
  const std::optional<Shape> shape = shape_of(stored);
  if (!holds_centres(stored) || !shape || shape->count() < 2) return std::nullopt;
  const auto degrees = stored.number("rotation/degrees"), transpose = stored.number("rotation/transpose");
  std::optional<PhaseOptions> options = stored_options(stored);
  if (!degrees || !transpose || !options) return std::nullopt;
  const std::optional<PhaseScale> scale = stored_scale(stored, options->units);
  if (!scale) return std::nullopt;
  StoredCentres found;
  found.centres.field = make_field((*shape)[0], (*shape)[1]);
  found.origin = found.centres.field;
  found.scale = *scale;
  found.options = *std::move(options);
  found.rotation = *degrees;
  found.transpose = *transpose != 0;
  found.calibration = calibration_from(scale->record);
  VectorField& centres = found.centres.field;
  for (const auto& [name, place] :
       {std::pair("com/x", &centres.x), std::pair("com/y", &centres.y), std::pair("com/sum", &centres.counts),
        std::pair("com/origin_x", &found.origin.x), std::pair("com/origin_y", &found.origin.y)}) {
    std::optional<std::vector<double>> values = map_of(stored, name, *shape);
    if (!values) return std::nullopt;
    *place = *std::move(values);
  }
  if (!finite(found.origin.x) || !finite(found.origin.y)) return std::nullopt;
  for (std::size_t i = 0; i < centres.x.size(); ++i) {
    centres.valid[i] = std::isfinite(centres.x[i]) && std::isfinite(centres.y[i]) ? 1 : 0;
    if (centres.valid[i] != 0) continue;
    centres.x[i] = centres.y[i] = std::numeric_limits<double>::quiet_NaN();
  }
  CentreErrors& errors = found.centres.errors;
  std::optional<std::vector<double>> x = map_of(stored, "com/sigma_x", *shape),
                                     y = map_of(stored, "com/sigma_y", *shape);
  if (x && y) {
    errors.x = *std::move(x);
    errors.y = *std::move(y);
  }
  errors.threshold = stored.number("threshold/counts");
  errors.counts_kept = stored.number("threshold/counts_kept").value_or(1);
  errors.found_threshold = errors.threshold && found.options.threshold == "auto";
  return found;
}

bool is_centre_file(const std::string& path, const Budget& budget) {
  try {
    const std::optional<StoredResult> stored = StoredResult::open(path, budget);
    return stored && holds_centres(*stored);
  } catch (const Error&) {
    return false;  // what it is instead, the reader of scans says
  }
}

StoredCentres read_centres(const std::string& path, const Budget& budget) {
  const std::optional<StoredResult> stored = StoredResult::open(path, budget);
  std::optional<StoredCentres> centres = stored ? stored_centres(*stored) : std::nullopt;
  if (!centres)
    throw Error(ErrorKind::bad_file, path + ": damaged: the centres of mass lack a part, or a part is not possible")
        .hint("make the file anew from the scan: sonde stem com SCAN -o FILE.h5");
  return *std::move(centres);
}

}  // namespace sonde::stem
