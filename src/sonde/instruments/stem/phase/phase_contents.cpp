// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/phase/phase_contents.h"

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "sonde/engine/base/version.h"
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
  const auto of_field = [&](const std::function<double(double x, double y)>& value) {
    std::vector<double> made(field.x.size());
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = value(field.x[i], field.y[i]);
    return made;
  };
  const PhaseScale& scale = result.scale;
  contents.attribute("schema", std::string("sonde.stem.phase/1"));
  add("com/x", centres.x, "px", "detector");
  add("com/y", centres.y, "px", "detector");
  describe("com/sum", Array::from(centres.counts, shape), "counts", "detector");
  describe("com/valid", Array::from(centres.valid, shape), "", "scan");
  add("field/x", field.x, scale.field_unit());
  add("field/y", field.y, scale.field_unit());
  add("field/magnitude", of_field([](double x, double y) { return std::hypot(x, y); }), scale.field_unit());
  add("field/angle", of_field([](double x, double y) { return std::atan2(y, x); }), "rad");
  add("field/curl", result.derivatives.curl, scale.derivative_unit());
  add("field/divergence", result.derivatives.divergence, scale.derivative_unit());
  add("phase/icom", result.phase, scale.phase_unit());
  describe("phase/complete", Array::from(result.complete, shape), "", "scan");
  return contents;
}

}  // namespace sonde::stem
