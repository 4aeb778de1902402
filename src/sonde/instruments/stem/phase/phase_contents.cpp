// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/phase/phase_contents.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <utility>
#include <vector>

#include "sonde/engine/base/version.h"
#include "sonde/engine/options/fields.h"
#include "sonde/engine/report/json.h"

namespace sonde::stem {
Contents phase_contents(const PhaseResult& result, const std::string& command) {
  const VectorField &centres = result.centres, &field = result.field;
  const Shape shape{field.rows, field.cols};
  const std::string calibration = to_json(result.scale.record, -1);
  Contents contents;
  const auto describe = [&](const std::string& name, Array values, const std::string& unit, const std::string& frame) {
    Contents::Variable& variable = contents.add(name, {"scan row", "scan column"}, std::move(values)).unit(unit);
    variable.attributes.emplace_back("frame", frame);
    variable.attributes.emplace_back("calibration", calibration);
    variable.attributes.emplace_back("sonde_version", std::string(build_info().version));
    variable.attributes.emplace_back("command", command);
  };
  const auto add = [&](const std::string& name, const std::vector<double>& values, const std::string& unit,
                       const std::string& frame = "scan") {
    std::vector<float> stored(values.begin(), values.end());
    describe(name, Array::from(stored, shape), unit, frame);
  };
  // Surfaces of a degree too low to need more digits than the centres have.
  std::vector<double> origin_x, origin_y;
  for (Index row = 0; row < field.rows; ++row)
    for (Index col = 0; col < field.cols; ++col) {
      const Origin::At origin = result.origin.at(row, col);
      origin_x.push_back(origin.x);
      origin_y.push_back(origin.y);
    }
  const auto of_field = [&](const std::function<double(double x, double y)>& value) {
    std::vector<double> made(field.x.size());
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = value(field.x[i], field.y[i]);
    return made;
  };
  const PhaseScale& scale = result.scale;
  const bool integrated = !result.phase.empty();
  contents.attribute("schema", std::string(integrated ? "sonde.stem.phase/1" : "sonde.stem.com/1"));
  add("com/x", centres.x, "px", "detector");
  add("com/y", centres.y, "px", "detector");
  if (!result.errors.x.empty()) {
    add("com/sigma_x", result.errors.x, "px", "detector");
    add("com/sigma_y", result.errors.y, "px", "detector");
  }
  describe("com/sum", Array::from(centres.counts, shape), "counts", "detector");
  describe("com/valid", Array::from(centres.valid, shape), "", "scan");
  add("com/origin_x", origin_x, "px", "detector");
  add("com/origin_y", origin_y, "px", "detector");
  add("field/x", field.x, scale.field_unit());
  add("field/y", field.y, scale.field_unit());
  add("field/magnitude", of_field([](double x, double y) { return std::hypot(x, y); }), scale.field_unit());
  add("field/angle", of_field([](double x, double y) { return std::atan2(y, x); }), "rad");
  add("field/curl", result.derivatives.curl, scale.derivative_unit());
  add("field/divergence", result.derivatives.divergence, scale.derivative_unit());
  if (integrated) {
    add("phase/icom", result.phase, scale.phase_unit());
    describe("phase/complete", Array::from(result.complete, shape), "", "scan");
  }
  const ScanRotation& rotation = result.rotation;
  constexpr double degrees = 180 / std::numbers::pi;
  contents.add("rotation/degrees", rotation.rotation * degrees).unit("degrees");
  contents.add("rotation/standard_error", rotation.standard_error * degrees).unit("degrees");
  contents.add("rotation/transpose", std::int32_t{rotation.transpose});
  contents.add("rotation/confidence", rotation.confidence);
  contents.add("rotation/curl", rotation.curl);
  contents.add("rotation/skewness", rotation.skewness);
  const std::string pixel_unit = scale.in_steps() ? scale.field_unit() : "1/A",
                    step_unit = scale.in_steps() ? "step" : "A";
  contents.add("scale/pixel", scale.pixel).unit(pixel_unit);
  contents.add("scale/step_row", scale.step_row).unit(step_unit);
  contents.add("scale/step_col", scale.step_col).unit(step_unit);
  contents.add("scale/det_bin", static_cast<std::int32_t>(scale.det_bin));
  contents.add("scale/scan_bin", static_cast<std::int32_t>(scale.scan_bin));
  if (scale.frame) stem::describe(*scale.frame, scale.det_bin, contents);
  if (scale.sigma > 0) contents.add("scale/sigma", scale.sigma).unit("rad V^-1 A^-1");
  if (result.errors.threshold) {
    contents.add("threshold/counts", *result.errors.threshold).unit("counts");
    contents.add("threshold/counts_kept", result.errors.counts_kept);
  }
  contents.add_text("calibration", calibration);
  PhaseOptions options = result.options;
  contents.add_text("settings", to_json(Fields(options).echo(), -1));
  return contents;
}

}  // namespace sonde::stem
