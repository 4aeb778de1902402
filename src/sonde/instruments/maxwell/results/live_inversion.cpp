// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/live_inversion.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "sonde/instruments/maxwell/results/inversion_result.h"
#include "sonde/instruments/maxwell/results/thinned_map.h"

namespace sonde::maxwell {
namespace {

constexpr std::uint16_t eps_r_channel = 0, sigma_channel = 1;

panel::Frame frame_of(const GridSpec& grid, const std::vector<double>& values, double scale, std::uint16_t channel) {
  const std::vector<double> section = middle_section(grid, values);
  std::vector<float> shown;
  for (const double value : section) shown.push_back(static_cast<float>(scale * value));
  panel::Frame frame = panel::make_frame<float>(panel::FrameKind::image, grid.cells[0], grid.cells[2], shown);
  frame.channel = channel;
  return frame;
}

Value picture(const char* label, std::uint16_t channel, const char* unit, double pixel_m) {
  Value made;
  made["label"] = label;
  made["kind"] = static_cast<Index>(panel::FrameKind::image);
  made["channel"] = Index{channel};
  made["colours"] = "viridis";
  made["unit"] = unit;
  made["pixel"] = pixel_m;
  made["pixel_unit"] = "m";
  return made;
}

}  // namespace

std::vector<panel::Panel> LiveInversion::panels() {
  return {{.id = "model", .type = "frames", .title = "Model"},
          {.id = "misfit", .type = "curves", .title = "Objective over its start"},
          {.id = "stages", .type = "table", .title = "Stages"}};
}

LiveInversion::LiveInversion(const GridSpec& grid, const ParameterSettings& unknowns)
    : grid_(grid), eps_r_(unknowns.eps_r), sigma_(unknowns.sigma) {}

void LiveInversion::take(const Inversion& inversion) {
  Model model = inversion.model();
  const std::lock_guard lock(mutex_);
  model_ = std::move(model);
  history_ = inversion.history();
  ends_ = inversion.ends();
}

LiveState LiveInversion::state() const {
  const std::lock_guard lock(mutex_);
  LiveState made;
  if (eps_r_ && !model_.eps_r.empty()) made.frames.push_back(frame_of(grid_, model_.eps_r, 1, eps_r_channel));
  if (sigma_ && !model_.sigma.empty()) made.frames.push_back(frame_of(grid_, model_.sigma, 1e3, sigma_channel));
  made.panels["model"] = pictures();
  made.panels["misfit"] = curves();
  made.panels["stages"] = table();
  return made;
}

Value LiveInversion::pictures() const {
  const double pixel_m = grid_.spacing[dimension(Axis::x)];
  Value made;
  made["frames"] = Value::list();
  if (eps_r_) made["frames"].push_back(picture("eps_r", eps_r_channel, "", pixel_m));
  if (sigma_) made["frames"].push_back(picture("sigma", sigma_channel, "mS/m", pixel_m));
  return made;
}

Value LiveInversion::curves() const {
  Value made;
  made["x"]["name"] = "iteration";
  made["log"]["y"] = true;
  made["places"] = Value::list();
  made["curves"] = Value::list();
  const Index stages = history_.empty() ? 0 : history_.back().stage + 1;
  for (std::size_t i = 0; i < history_.size(); ++i) made["places"].push_back(i);
  for (Index stage = 0; stage < stages; ++stage) {
    Value& curve = made["curves"].push_back(Value::object());
    curve["name"] = fmt::format("stage {}", stage + 1);
    curve["y"] = Value::list();
    for (const InversionRow& row : history_)
      curve["y"].push_back(row.stage == stage && row.objective > 0 ? Value(row.objective) : Value());
  }
  return made;
}

Value LiveInversion::table() const {
  Value made;
  made["columns"] = std::vector<std::string>{"stage", "misfit over its start", "ended because"};
  made["rows"] = Value::list();
  for (const StageEnd& end : ends_) {
    Value& row = made["rows"].push_back(Value::list());
    row.push_back(end.stage + 1);
    row.push_back(fmt::format("{:.3g}", remaining_misfit(history_, end.stage)));
    row.push_back(std::string(text_of(end.reason)));
  }
  return made;
}

}  // namespace sonde::maxwell
