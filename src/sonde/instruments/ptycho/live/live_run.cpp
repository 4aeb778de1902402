// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/live/live_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "sonde/engine/base/text.h"
#include "sonde/engine/options/changeable.h"
#include "sonde/instruments/ptycho/live/progress.h"
#include "sonde/instruments/ptycho/live/shown_images.h"
#include "sonde/instruments/ptycho/live/shown_moves.h"

namespace sonde::ptycho {
namespace {

constexpr Index most_pixels = 512;  // along a side of what is sent
constexpr Index most_points = 400;  // of a curve

panel::Frame frame_of(panel::FrameKind kind, Index channel, const Array& image) {
  panel::Frame frame = panel::make_frame<float>(
      kind, image.shape()[0], image.shape()[1],
      std::span(static_cast<const float*>(image.data()), static_cast<std::size_t>(image.count())));
  frame.channel = static_cast<std::uint16_t>(channel);
  return frame;
}

/// One picture of a panel "frames".
Value picture(const std::string& label, panel::FrameKind kind, Index channel, const char* colours,
              std::optional<double> pixel_nm, const char* unit = "") {
  Value value;
  value["label"] = label;
  value["kind"] = static_cast<Index>(kind);
  value["channel"] = channel;
  value["colours"] = colours;
  value["unit"] = unit;
  if (pixel_nm) {
    value["pixel"] = *pixel_nm;
    value["pixel_unit"] = "nm";
  }
  return value;
}

/// Errors over the iterations with the floor that counting noise sets; of a long run every n-th, and the last.
Value error_curves(const std::vector<IterationRecord>& history, const LiveFacts& facts) {
  const auto count = static_cast<Index>(history.size());
  const Index every = std::max<Index>(1, (count + most_points - 1) / most_points);
  const auto over = [&](auto&& value) {
    Value list = Value::list();
    for (Index i = (count - 1) % every; i < count; i += every)
      list.push_back(value(history[static_cast<std::size_t>(i)]));
    return list;
  };
  Value value;
  value["x"]["name"] = "iteration";
  value["x"]["first"] = 1;
  value["x"]["last"] = facts.iterations;
  value["log"]["y"] = true;
  value["places"] = over([](const IterationRecord& record) { return Value(record.number); });
  value["curves"] = Value::list();
  const auto curve = [&](const char* name, auto&& error) {
    Value& entry = value["curves"].push_back(Value::object());
    entry["name"] = name;
    entry["y"] = over(error);
  };
  curve("R_I", [](const IterationRecord& record) { return Value(record.fit.r_intensity); });
  curve("R_A", [](const IterationRecord& record) { return Value(record.fit.r_amplitude); });
  curve("R_free", [](const IterationRecord& record) { return record.r_free ? Value(*record.r_free) : Value(); });
  if (facts.floor > 0) {
    value["reference"]["value"] = facts.floor;
    value["reference"]["label"] = fmt::format("floor {:.3g}", facts.floor);
  }
  return value;
}

/// Numbers first: they tell of trouble before it is seen in the probe.
std::vector<Diagnosis> diagnoses_of(const Reconstruction& run, const State& state, const LiveFacts& facts) {
  std::vector<Diagnosis> all =
      diagnose_progress(run.history(), facts.floor, static_cast<Index>(state.positions.size()));
  const std::vector<Diagnosis> more = diagnose_quickly({.state = &state,
                                                        .sampling = facts.sampling,
                                                        .semiangle = facts.semiangle,
                                                        .acquisition = facts.acquisition,
                                                        .initial_positions = run.initial_positions()});
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Value diagnoses_panel(const std::vector<Diagnosis>& diagnoses) {
  const auto suspects = std::count_if(diagnoses.begin(), diagnoses.end(),
                                      [](const Diagnosis& each) { return each.verdict == Verdict::suspect; });
  Value value;
  value["diagnoses"] = to_value(diagnoses);
  value["hint"] = suspects == 0 ? "no suspect" : fmt::format("{} suspect", suspects);
  return value;
}

/// The bar: how far the run is, and its last numbers.
Value run_bar(const Reconstruction& run, const LiveFacts& facts) {
  const IterationRecord& last = run.history().back();
  Value value;
  value["state"] = name(run.outcome().kind);
  value["over"] = run.outcome().kind != Outcome::Kind::running;
  value["because"] = run.outcome().because;
  value["done"] = last.number;
  value["total"] = facts.iterations;
  value["unit"] = "iteration";
  if (last.engine < static_cast<Index>(facts.engines.size()))
    value["note"] = facts.engines[static_cast<std::size_t>(last.engine)];
  value["facts"] = Value::list();
  const auto fact = [&](const char* name, const std::string& text) {
    Value& entry = value["facts"].push_back(Value::object());
    entry["name"] = name;
    entry["value"] = text;
  };
  fact("R_I", fmt::format("{:.4f}", last.fit.r_intensity));
  if (facts.floor > 0) fact("of its floor", fmt::format("{:.2f} \u00d7", last.fit.r_intensity / facts.floor));
  if (last.r_free) fact("R_free", fmt::format("{:.4f}", *last.r_free));
  fact("power", fmt::format("\u00d7 {:.3f}", last.power_total));
  fact("each", format_seconds(last.seconds));
  return value;
}

std::vector<panel::Panel> panels_of(const LiveFacts& facts) {
  std::vector<panel::Panel> panels = {{.id = "object", .type = "frames", .title = "Object"},
                                      {.id = "probe", .type = "frames", .title = "Probe"},
                                      {.id = "errors", .type = "curves", .title = "Errors"},
                                      {.id = "diagnoses", .type = "diagnoses", .title = "Diagnoses", .place = "side"}};
  if (!facts.settings.empty())
    panels.push_back({.id = "settings", .type = "settings", .title = "Settings", .place = "side"});
  return panels;
}

}  // namespace

LiveState LiveRun::state_of(const Reconstruction& run, const State& state) const {
  const Box view = field_of_view(state.positions);
  const Index step = step_for(view, most_pixels);
  const ShownObject object = shown_object(state, view, step);
  LiveState live;
  live.frames = {frame_of(panel::FrameKind::image, 0, object.phase),
                 frame_of(panel::FrameKind::image, 1, object.amplitude)};
  for (Index m = 0; m < state.modes(); ++m) live.frames.push_back(frame_of(probe_frame, m, shown_mode(state, m)));

  std::optional<double> pixel_nm, probe_pixel_nm;
  if (facts_.sampling.calibrated()) {
    pixel_nm = static_cast<double>(step) * facts_.sampling.pixel_col() / 10;
    probe_pixel_nm = facts_.sampling.pixel_col() / 10;
  }
  live.panels["run"] = run_bar(run, facts_);
  Value& of_object = live.panels["object"];
  of_object["frames"] = Value::list();
  of_object["frames"].push_back(picture("Phase", panel::FrameKind::image, 0, "gray", pixel_nm, "rad"));
  of_object["frames"].push_back(picture("Amplitude", panel::FrameKind::image, 1, "gray", pixel_nm));
  of_object["moves"] = shown_moves(run.initial_positions(), state.positions, {view, step}, facts_.scan_step);
  Value& of_probe = live.panels["probe"];
  of_probe["hint"] = "amplitude";
  of_probe["frames"] = Value::list();
  for (Index m = 0; m < state.modes(); ++m)
    of_probe["frames"].push_back(
        picture(state.modes() > 1 ? fmt::format("Mode {}", m + 1) : "Probe", probe_frame, m, "magma", probe_pixel_nm));
  live.panels["errors"] = error_curves(run.history(), facts_);
  live.panels["diagnoses"] = diagnoses_panel(diagnoses_of(run, state, facts_));
  return live;
}

Value LiveRun::Settings::panels() const {
  Value panels;
  Value& value = panels["settings"];
  value["settings"] = changeable_settings(file.tables());
  value["changes"] = to_value(changes);
  value["hint"] = "from the next iteration on";
  return panels;
}

LivePage::Description LiveRun::description() const {
  LivePage::Description made{
      .title = facts_.title,
      .panels = panels_of(facts_),
      .ended = "The run has ended. This is what it showed last; its result is in " + facts_.title + ".",
      .restarts = true};
  if (!facts_.settings.empty())
    made.accept = [settings = settings_](const std::string& setting, const Value& value) {
      set_changeable(settings->file.tables(), setting, value);
      return settings->panels();
    };
  return made;
}

LiveRun::LiveRun(LiveFacts facts) : facts_(std::move(facts)), live_(description()) {
  if (!facts_.settings.empty()) settings_->file.parse(facts_.settings, "settings");
}

void LiveRun::update(Reconstruction& run) {
  live_.update(run.outcome().kind != Outcome::Kind::running, [&] { return state_of(run, run.state()); });
}

void LiveRun::tell_settings(const RunFile& run, const std::vector<Change>& changes) {
  live_.tell([&](const std::vector<ChangeRequest>& waiting) {
    const Value now = changeable_settings(run.tables());
    for (const Value& one : now.items())
      set_changeable(settings_->file.tables(), one.find("setting")->as_text(), *one.find("value"));
    // What was requested meanwhile is still to come.
    for (const ChangeRequest& request : waiting)
      if (!request.restart()) set_changeable(settings_->file.tables(), request.setting, request.value);
    settings_->changes = changes;
    return LiveState{.panels = settings_->panels()};
  });
}

}  // namespace sonde::ptycho
