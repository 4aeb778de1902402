// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/nion/nion_properties.h"

#include <fmt/format.h>

#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/options/value.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/stem/read/axes/axis_units.h"

namespace sonde::stem {
namespace {

std::optional<double> number(const Value& object, std::string_view key) {
  const Value* value = object.is_object() ? object.find(key) : nullptr;
  return value != nullptr && value->is_number() ? std::optional(value->as_real()) : std::nullopt;
}

/// The object that describes the array: the text itself, or its "data_source" (older versions have a list of one).
const Value* description(const Value& root) {
  if (!root.is_object()) return nullptr;
  if (root.find("dimensional_calibrations") != nullptr) return &root;
  for (const char* key : {"data_source", "data_sources"}) {
    const Value* inner = root.find(key);
    if (inner == nullptr) continue;
    if (inner->is_object()) return description(*inner);
    if (inner->is_list() && !inner->items().empty() && inner->items().front().is_object())
      return description(inner->items().front());
  }
  return nullptr;
}

/// The first "high_tension" (V) of the metadata, which is nested differently for every instrument.
std::optional<double> high_tension(const Value& value, int depth) {
  constexpr int most_depth = 16;
  if (!value.is_object() || depth > most_depth) return std::nullopt;
  if (const auto found = number(value, "high_tension")) return found;
  for (const auto& member : value.members())
    if (const auto found = high_tension(member.value, depth + 1)) return found;
  return std::nullopt;
}

std::vector<AxisScale> calibrations(const Value& described) {
  std::vector<AxisScale> axes;
  const Value* list = described.find("dimensional_calibrations");
  if (list == nullptr || !list->is_list()) return axes;
  for (const Value& each : list->items()) {
    const Value* unit = each.is_object() ? each.find("units") : nullptr;
    axes.push_back({number(each, "scale").value_or(0), unit != nullptr && unit->is_text() ? unit->as_text() : ""});
  }
  return axes;
}

}  // namespace

std::optional<StatedGrid> take_nion_properties(std::string_view json, const Shape& shape, const std::string& name,
                                               Acquisition& acquisition) {
  const Value root = parse_json(json, name);
  const Value* described = description(root);
  if (described == nullptr) return std::nullopt;
  const auto rank = static_cast<std::size_t>(shape.rank());
  if (const auto datum = number(*described, "datum_dimension_count"); datum && *datum != 2)
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: data of {:.0f} datum dimensions; expected patterns of two", acquisition.path, *datum))
        .hint("redimension the data in Nion Swift as a collection of images");
  const std::vector<AxisScale> axes = calibrations(*described);
  const Value* metadata = described->find("metadata");
  if (metadata == nullptr) metadata = root.find("metadata");
  if (metadata != nullptr)
    if (const auto volts = high_tension(*metadata, 0); volts && *volts > 0)
      acquisition.calibration.high_tension_v = Quantity{*volts, StatedBy::file};
  if (axes.size() != rank || rank < 2) return std::nullopt;
  take_detector_axes(axes[rank - 2], axes[rank - 1], acquisition);
  if (rank == 4) take_scan_axes(axes[0], axes[1], acquisition);
  const Value* sequence = described->find("is_sequence");
  const bool in_time = sequence != nullptr && sequence->is_bool() && sequence->as_bool();
  if (rank != 3 || in_time) return std::nullopt;
  const auto step = known_step(axes[0]);
  if (!step || step->kind != AxisKind::length) return std::nullopt;
  take_scan_axes(std::nullopt, axes[0], acquisition);
  return StatedGrid{1, shape[0], 0, "one collection axis with a unit of length"};
}

}  // namespace sonde::stem
