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

#include "sonde/engine/panel/contents.h"
#include "sonde/instruments/stem/phase/phase_contents.h"
#include "sonde/instruments/stem/phase/phase_result.h"
#include "sonde/instruments/stem/phase/stored_centres.h"

namespace sonde::stem {
namespace {

using panel::StoredResult;

/// What a result is made of again, with the settings of the stored one and its rotation.
std::optional<StoredCentres> adjustable(const StoredResult& result) {
  std::optional<StoredCentres> stored = stored_centres(result);
  if (!stored) return std::nullopt;
  if (stored->options.method != IntegralMethod::none &&
      std::ranges::find(result.quantities(), std::string("phase/icom"), &panel::Quantity::name) ==
          result.quantities().end())
    return std::nullopt;
  PhaseOptions& options = stored->options;
  options.rotation = fmt::format("{:.6g}", stored->rotation);
  options.transpose = stored->transpose ? "1" : "0";
  options.convention = Convention::sonde;
  options.fit = "file:the stored origin";  // a surface of these terms: a fit gives it again
  return stored;
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
  const auto kernel = static_cast<double>(std::max(stored.centres.field.rows, stored.centres.field.cols));
  std::vector<panel::ResultSetting> settings = {
      offered(fields, "rotation", Value(std::stod(options.rotation)), -180, 180),
      offered(fields, "transpose", Value(options.transpose == "1")),
      {.name = "half_a_turn", .help = "hills become valleys of the phase", .value = Value(false)}};
  settings[0].help = "from the axes of the detector to those of the scan, clockwise on a screen";
  settings[1].help = "rows and columns of the detector are exchanged, before the rotation";
  if (options.method == IntegralMethod::none) return settings;
  for (const panel::ResultSetting& setting :
       {offered(fields, "method", fields.find("method")->value()),
        offered(fields, "regularise", Value(options.regularise), 0, std::max(options.regularise, nyquist * nyquist)),
        offered(fields, "q_highpass", Value(options.q_highpass.value_or(0)), 0, nyquist),
        offered(fields, "q_lowpass", Value(options.q_lowpass.value_or(0)), 0, nyquist),
        offered(fields, "kernel", Value(options.kernel), 1, std::max(kernel, static_cast<double>(options.kernel)))})
    settings.push_back(setting);
  for (std::size_t i = 5; i < 7; ++i) settings[i].help += "; 0: none";
  return settings;
}

PhaseOptions options_of(const StoredCentres& stored, const Value& values) {
  PhaseOptions options = stored.options;
  Fields fields(options);
  const double turned = values.find("rotation")->as_real() + (values.find("half_a_turn")->as_bool() ? 180 : 0);
  fields.assign_text("rotation", fmt::format("{:.6g}", std::remainder(turned, 360)), "rotation");
  fields.assign_text("transpose", values.find("transpose")->as_bool() ? "1" : "0", "transpose");
  if (options.method == IntegralMethod::none) {
    options.check();
    return options;
  }
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
    if (fields.find(key) != nullptr && fields.find(key)->text() != defaults.find(key)->text())
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
  const PhaseResult result = make_phase(stored.centres.field, stored.scale, options, stored.origin);
  return {phase_contents(result, ""), facts_of(result, options)};
}

}  // namespace

std::vector<panel::ResultPanel> arrange_phase(const StoredResult& result) {
  using Kind = panel::ResultPanel::Kind;
  std::vector<panel::ResultPanel> panels = {
      {.kind = Kind::vectors, .title = "Field", .quantities = {"field/x", "field/y"}},
      {.title = "Curl", .quantities = {"field/curl"}, .range = "derivative"},
      {.title = "Divergence", .quantities = {"field/divergence"}, .range = "derivative"},
      {.kind = Kind::vectors, .title = "Centres of mass on the detector", .quantities = {"com/x", "com/y"}}};
  if (!result.schema().starts_with("sonde.stem.com/"))
    panels.insert(panels.begin(), {.title = "Phase", .quantities = {"phase/icom"}});
  return panels;
}

panel::ResultAdjustment adjustment_of_phase(const StoredResult& result) {
  const std::optional<StoredCentres> stored = adjustable(result);
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
