// SPDX-License-Identifier: Apache-2.0
// The page of a phase: with its own settings the stored result comes back, with others that of the verb.
#include "sonde/instruments/stem/phase/phase_page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include "sonde/instruments/stem/phase/phase_contents.h"
#include "sonde/instruments/stem/phase/phase_result.h"
#include "sonde/instruments/stem/phase/test_waves.h"

namespace sonde::stem {
namespace {

const Waves& leaning_waves() {
  static const Waves waves = [] {
    WaveScan scan = hilly_scan(22, 27, 1);
    scan.rotation = 30 * std::numbers::pi / 180;
    return simulate_waves(std::move(scan));
  }();
  return waves;
}

PhaseResult made_with(const PhaseOptions& options) {
  const PhaseScale scale{.pixel = 0.05, .step_row = 0.6, .step_col = 0.7, .sigma = 7.3e-4, .unit = options.units};
  return make_phase(leaning_waves().centres, scale, options);
}

std::shared_ptr<const panel::StoredResult> stored_of(Contents contents) {
  return std::make_shared<const panel::StoredResult>(
      panel::StoredResult::of(std::make_shared<const Contents>(std::move(contents)), "phase.h5").value());
}

Value values_of(const panel::ResultAdjustment& adjustment) {
  Value values = Value::object();
  for (const panel::ResultSetting& setting : adjustment.settings) values[setting.name] = setting.value;
  return values;
}

/// The largest difference of a map from values, as a share of their largest.
double difference(const Contents& contents, const std::string& name, const std::vector<double>& values) {
  const Array& map = contents.find(name)->values;
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto stored = static_cast<double>(static_cast<const float*>(map.data())[i]);
    if (std::isnan(values[i]) && std::isnan(stored)) continue;
    most = std::max(most, std::isnan(stored - values[i]) ? 1e300 : std::abs(stored - values[i]));
    largest = std::max(largest, std::abs(values[i]));
  }
  return most / largest;
}

// Centres near 15 px are stored with 1e-6 px; deflections of some 0.1 px have 1e-5 of it then, and their sums less.
constexpr double of_storage = 1e-4;

TEST(PhasePage, MakesTheStoredResultAgainFromWhatIsStored) {
  for (const char* fit : {"none", "mean", "plane", "parabola"})
    for (const PhaseUnit unit : {PhaseUnit::rad, PhaseUnit::volts, PhaseUnit::px}) {
      SCOPED_TRACE(fit);
      const PhaseResult result = made_with({.fit = fit, .method = IntegralMethod::ricom, .kernel = 9, .units = unit});
      const panel::ResultAdjustment page = adjustment_of_phase(*stored_of(phase_contents(result, "")));
      ASSERT_FALSE(page.settings.empty());
      const panel::AdjustedResult again = page.adjust(values_of(page));
      EXPECT_LT(difference(again.contents, "phase/icom", result.phase), of_storage);
      EXPECT_LT(difference(again.contents, "field/x", result.field.x), of_storage);
      EXPECT_LT(difference(again.contents, "field/curl", result.derivatives.curl),
                10 * of_storage);  // small beside them
    }
}

TEST(PhasePage, MakesWhatTheVerbMakesWithOtherSettings) {
  const panel::ResultAdjustment page = adjustment_of_phase(*stored_of(phase_contents(made_with({}), "")));
  Value values = values_of(page);
  values["rotation"] = -75.5;
  values["transpose"] = true;
  values["method"] = "fourier";
  values["q_highpass"] = 0.05;
  const panel::AdjustedResult changed = page.adjust(values);
  const PhaseResult verb =
      made_with({.rotation = "-75.5", .transpose = "1", .method = IntegralMethod::fourier, .q_highpass = 0.05});
  EXPECT_LT(difference(changed.contents, "phase/icom", verb.phase), of_storage);
  EXPECT_LT(difference(changed.contents, "field/y", verb.field.y), of_storage);
}

TEST(PhasePage, HalfATurnExchangesHillsAndValleys) {
  const PhaseResult result = made_with({});
  const panel::ResultAdjustment page = adjustment_of_phase(*stored_of(phase_contents(result, "")));
  Value values = values_of(page);
  values["half_a_turn"] = true;
  std::vector<double> negative = result.phase;
  for (double& value : negative) value = -value;
  EXPECT_LT(difference(page.adjust(values).contents, "phase/icom", negative), of_storage);
}

TEST(PhasePage, OfAFieldTurnsIt) {
  const panel::ResultAdjustment page = adjustment_of_phase(
      *stored_of(phase_contents(made_with({.method = IntegralMethod::none, .units = PhaseUnit::px}), "")));
  ASSERT_EQ(page.settings.size(), 3u);
  Value values = values_of(page);
  values["rotation"] = 12.0;
  values["transpose"] = false;
  const PhaseResult verb =
      made_with({.rotation = "12", .transpose = "0", .method = IntegralMethod::none, .units = PhaseUnit::px});
  const panel::AdjustedResult changed = page.adjust(values);
  EXPECT_LT(difference(changed.contents, "field/x", verb.field.x), of_storage);
  EXPECT_EQ(changed.contents.find("phase/icom"), nullptr);
}

TEST(PhasePage, HasNoSettingsWhereAPartIsMissingOrDamaged) {
  const Contents whole = phase_contents(made_with({}), "");
  const auto settings_without = [&](const std::string& left_out, const std::string& settings = "") {
    Contents part;
    part.attribute("schema", std::string("sonde.stem.phase/1"));
    for (const Contents::Variable& each : whole.variables()) {
      if (each.name == left_out) continue;
      if (each.text)
        part.add_text(each.name, settings.empty() ? *each.text : settings);
      else
        part.add(each.name, each.dimensions, alias(each.values)).unit(each.unit());
    }
    return adjustment_of_phase(*stored_of(std::move(part))).settings.size();
  };
  EXPECT_GT(settings_without(""), 0u);
  for (const char* name : {"com/x", "com/y", "com/sum", "com/origin_y", "phase/icom", "scale/pixel", "scale/step_row",
                           "rotation/degrees", "rotation/transpose", "settings"})
    EXPECT_EQ(settings_without(name), 0u) << name;
  EXPECT_EQ(settings_without("", "{\"method\": \"guess\"}"), 0u);
  EXPECT_EQ(settings_without("", "{\"kernel\": -1}"), 0u);
  EXPECT_EQ(settings_without("", "[1, 2]"), 0u);
}

}  // namespace
}  // namespace sonde::stem
