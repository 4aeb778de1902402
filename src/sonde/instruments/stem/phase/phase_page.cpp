// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/phase/phase_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/panel/contents.h"
#include "sonde/instruments/stem/phase/phase_contents.h"
#include "sonde/instruments/stem/phase/phase_result.h"

namespace sonde::stem {
namespace {

using panel::Quantity;
using panel::StoredResult;

/// A map over the scan; nothing where the file has none of these extents.
std::optional<std::vector<double>> map_of(const StoredResult& stored, const std::string& name, const Shape& shape) {
  for (const Quantity& quantity : stored.quantities()) {
    if (quantity.name != name) continue;
    if (quantity.axes.size() != 2 || quantity.complex()) return std::nullopt;
    if (quantity.axes[0].size != shape[0] || quantity.axes[1].size != shape[1]) return std::nullopt;
    return std::move(panel::planes_of(stored.read(quantity, Shape{0, 0}, shape)).at(0));
  }
  return std::nullopt;
}

std::optional<Shape> shape_of(const StoredResult& stored) {
  for (const Quantity& quantity : stored.quantities())
    if (quantity.name == "com/x" && quantity.axes.size() == 2)
      return Shape{quantity.axes[0].size, quantity.axes[1].size};
  return std::nullopt;
}

std::optional<double> number_of(const StoredResult& stored, const std::string& name) {
  for (const panel::Numbers& numbers : stored.numbers())
    if (numbers.name == name && numbers.values.size() == 1 && std::isfinite(numbers.values[0]))
      return numbers.values[0];
  return std::nullopt;
}

std::optional<PhaseUnit> unit_of(const StoredResult& stored) {
  for (const Quantity& quantity : stored.quantities()) {
    if (quantity.name != "phase/icom") continue;
    for (const PhaseUnit unit : {PhaseUnit::rad, PhaseUnit::cycles, PhaseUnit::volts, PhaseUnit::px})
      if (PhaseScale{.unit = unit}.phase_unit() == quantity.unit) return unit;
  }
  return std::nullopt;
}

/// What a phase is made of again.
struct StoredCentres {
  VectorField centres{}, origin{};
  PhaseScale scale{};
  PhaseOptions options{};  // of the stored phase, with the rotation that it has
};

std::optional<PhaseOptions> stored_options(const StoredResult& stored) {
  const auto degrees = number_of(stored, "rotation/degrees"), transpose = number_of(stored, "rotation/transpose");
  const auto text = std::ranges::find(stored.texts(), std::string("settings"), &panel::Text::name);
  if (!degrees || !transpose || text == stored.texts().end() || !text->tree.is_object()) return std::nullopt;
  PhaseOptions options;
  Fields fields(options);
  try {
    fields.assign_all(text->tree, "settings");
    fields.assign_text("rotation", fmt::format("{:.6g}", *degrees), "rotation/degrees");
    fields.assign_text("transpose", *transpose != 0 ? "1" : "0", "rotation/transpose");
    options.convention = Convention::sonde;
    options.check();
  } catch (const Error&) {
    return std::nullopt;  // not what this program writes
  }
  options.fit = "file:the stored origin";  // a surface of these terms: a fit gives it again
  return options;
}

/// Nothing where a file of this schema lacks a part of it.
std::optional<StoredCentres> stored_centres(const StoredResult& stored) {
  const std::optional<Shape> shape = shape_of(stored);
  const std::optional<PhaseUnit> unit = unit_of(stored);
  if (!shape || !unit || shape->count() < 2) return std::nullopt;
  StoredCentres found{.centres = make_field((*shape)[0], (*shape)[1]), .origin = make_field((*shape)[0], (*shape)[1])};
  VectorField& centres = found.centres;
  for (const auto& [name, place] :
       {std::pair("com/x", &centres.x), std::pair("com/y", &centres.y), std::pair("com/sum", &centres.counts),
        std::pair("com/origin_x", &found.origin.x), std::pair("com/origin_y", &found.origin.y)}) {
    std::optional<std::vector<double>> values = map_of(stored, name, *shape);
    if (!values) return std::nullopt;
    *place = *std::move(values);
  }
  for (std::size_t i = 0; i < centres.x.size(); ++i) {
    centres.valid[i] = std::isfinite(centres.x[i]) && std::isfinite(centres.y[i]) ? 1 : 0;
    if (!std::isfinite(found.origin.x[i]) || !std::isfinite(found.origin.y[i])) return std::nullopt;
  }
  const auto pixel = number_of(stored, "scale/pixel"), row = number_of(stored, "scale/step_row"),
             col = number_of(stored, "scale/step_col"), sigma = number_of(stored, "scale/sigma");
  std::optional<PhaseOptions> options = stored_options(stored);
  if (!pixel || !row || !col || !options || !(*pixel > 0 && *row > 0 && *col > 0)) return std::nullopt;
  if (*unit == PhaseUnit::volts && !(sigma.value_or(0) > 0)) return std::nullopt;
  found.scale = {.pixel = *pixel, .step_row = *row, .step_col = *col, .sigma = sigma.value_or(0), .unit = *unit};
  found.options = *std::move(options);
  return found;
}

/// A setting of the verb, as the page offers it.
panel::ResultSetting offered(const Fields& fields, const std::string& key, Value value, double low = 0,
                             double high = 0) {
  const Field& field = *fields.find(key);
  return {.name = key,
          .help = field.info.help,
          .unit = field.info.unit,
          .value = std::move(value),
          .low = low,
          .high = high,
          .choices = field.choices};
}

std::vector<panel::ResultSetting> settings_of(const StoredCentres& stored) {
  PhaseOptions options = stored.options;
  const Fields fields(options);
  // Of the frequencies that the scan holds.
  const double nyquist = 0.5 / std::min(stored.scale.step_row, stored.scale.step_col);
  const auto kernel = static_cast<double>(std::max(stored.centres.rows, stored.centres.cols));
  std::vector<panel::ResultSetting> settings = {
      offered(fields, "rotation", Value(std::stod(options.rotation)), -180, 180),
      offered(fields, "transpose", Value(options.transpose == "1")),
      {.name = "half_a_turn", .help = "hills become valleys of the phase", .value = Value(false)},
      offered(fields, "method", fields.find("method")->value()),
      offered(fields, "regularise", Value(options.regularise), 0, std::max(options.regularise, nyquist * nyquist)),
      offered(fields, "q_highpass", Value(options.q_highpass.value_or(0)), 0, nyquist),
      offered(fields, "q_lowpass", Value(options.q_lowpass.value_or(0)), 0, nyquist),
      offered(fields, "kernel", Value(options.kernel), 1, std::max(kernel, static_cast<double>(options.kernel)))};
  settings[0].help = "from the axes of the detector to those of the scan, clockwise on a screen";
  settings[1].help = "rows and columns of the detector are exchanged, before the rotation";
  for (std::size_t i = 5; i < 7; ++i) settings[i].help += "; 0: none";
  return settings;
}

PhaseOptions options_of(const StoredCentres& stored, const Value& values) {
  PhaseOptions options = stored.options;
  Fields fields(options);
  const double turned = values.find("rotation")->as_real() + (values.find("half_a_turn")->as_bool() ? 180 : 0);
  fields.assign_text("rotation", fmt::format("{:.6g}", std::remainder(turned, 360)), "rotation");
  fields.assign_text("transpose", values.find("transpose")->as_bool() ? "1" : "0", "transpose");
  fields.assign("method", *values.find("method"), "method");
  fields.assign("regularise", *values.find("regularise"), "regularise");
  for (const char* key : {"q_highpass", "q_lowpass"}) {
    const Value& value = *values.find(key);
    fields.assign(key, value.as_real() > 0 ? value : Value(), key);
  }
  fields.assign("kernel", *values.find("kernel"), "kernel");
  options.check();
  return options;
}

/// The settings of `sonde stem phase` that make the same.
std::string words_of(PhaseOptions options) {
  PhaseOptions usual;
  const Fields fields(options), defaults(usual);
  std::string words;
  for (const char* key : {"rotation", "transpose", "method", "regularise", "q_highpass", "q_lowpass", "kernel"})
    if (fields.find(key)->text() != defaults.find(key)->text())
      words += fmt::format("{}{} {}", words.empty() ? "" : " ", fields.find(key)->flag(), fields.find(key)->text());
  return words;
}

Value facts_of(const PhaseResult& result, const PhaseOptions& options) {
  const ScanRotation& turn = result.rotation;
  constexpr double degrees = 180 / std::numbers::pi;
  panel::Facts facts;
  facts.add("curl", fmt::format("{:.1f} % of curl and divergence", 100 * turn.curl));
  facts.add("least curl", fmt::format("{:.2f} +/- {:.2f} degrees",
                                      (turn.transpose ? turn.transposed : turn.straight).rotation * degrees,
                                      turn.standard_error * degrees));
  facts.add("confidence", fmt::format("{:.2f}", turn.confidence));
  facts.add("skewness", fmt::format("{:+.2f} +/- {:.2f}", turn.skewness, turn.skewness_error));
  for (std::size_t i = 0; i < result.warnings.size(); ++i)
    facts.add(i == 0 ? "warning" : fmt::format("warning {}", i + 1), result.warnings[i]);
  facts.add("settings", words_of(options));
  return facts.take();
}

panel::AdjustedResult adjusted(const StoredCentres& stored, const Value& values) {
  const PhaseOptions options = options_of(stored, values);
  const PhaseResult result = make_phase(stored.centres, stored.scale, options, stored.origin);
  return {phase_contents(result, ""), facts_of(result, options)};
}

}  // namespace

std::vector<panel::ResultPanel> arrange_phase() {
  using Kind = panel::ResultPanel::Kind;
  return {{.title = "Phase", .quantities = {"phase/icom"}},
          {.kind = Kind::vectors, .title = "Field", .quantities = {"field/x", "field/y"}},
          {.title = "Curl", .quantities = {"field/curl"}, .range = "derivative"},
          {.title = "Divergence", .quantities = {"field/divergence"}, .range = "derivative"},
          {.kind = Kind::vectors, .title = "Centres of mass on the detector", .quantities = {"com/x", "com/y"}}};
}

panel::ResultAdjustment adjustment_of_phase(const StoredResult& result) {
  const std::optional<StoredCentres> stored = stored_centres(result);
  if (!stored) return {};
  panel::ResultAdjustment adjustment{.settings = settings_of(*stored)};
  Value values = Value::object();
  for (const panel::ResultSetting& setting : adjustment.settings) values[setting.name] = setting.value;
  adjustment.facts = adjusted(*stored, values).facts;
  adjustment.adjust = [centres = std::make_shared<const StoredCentres>(*stored)](const Value& changed) {
    return adjusted(*centres, changed);
  };
  return adjustment;
}

}  // namespace sonde::stem
