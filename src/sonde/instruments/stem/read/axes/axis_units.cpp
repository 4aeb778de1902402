// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/axes/axis_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "sonde/engine/base/text.h"

namespace sonde::stem {
namespace {

using namespace std::string_view_literals;

/// Without brackets, underscores and blanks: EMD writes "[n_m^-1]", pint "1 / nanometer", HyperSpy "$A^{-1}$".
std::string plain(std::string unit) {
  constexpr std::string_view decoration("[]{}$_ \0", 8);
  std::erase_if(unit, [&](char c) { return decoration.find(c) != std::string_view::npos; });
  return unit;
}

/// How many nm; nothing when the unit is no length. Case matters: "nm" and "Nm", "mm" and "Mm" differ.
std::optional<double> nanometres(std::string_view unit) {
  // The angstrom sign, A with ring, and both micro signs, as UTF-8; the last two as Latin-1.
  static constexpr std::array<std::pair<std::string_view, double>, 27> known = {{
      {"nm", 1},          {"nanometer", 1},      {"nanometers", 1},   {"nanometre", 1},  {"A", 0.1},
      {"\xc3\x85", 0.1},  {"\xe2\x84\xab", 0.1}, {"Angstrom", 0.1},   {"angstrom", 0.1}, {"Ang", 0.1},
      {"angstroms", 0.1}, {"pm", 1e-3},          {"picometer", 1e-3}, {"um", 1e3},       {"\xc2\xb5m", 1e3},
      {"\xce\xbcm", 1e3}, {"\xb5m", 1e3},        {"micron", 1e3},     {"microns", 1e3},  {"micrometer", 1e3},
      {"mm", 1e6},        {"cm", 1e7},           {"m", 1e9},          {"meter", 1e9},    {"millimeter", 1e6},
      {"\xc5", 0.1},      {"fm", 1e-6},
  }};
  for (const auto& [name, factor] : known)
    if (unit == name) return factor;
  return std::nullopt;
}

/// The length whose inverse the unit is: "A^-1", "1/nm", "nm-1", "nm**-1".
std::optional<std::string_view> length_of_inverse(std::string_view unit) {
  for (const std::string_view start : {"1/"sv, "1.0/"sv})
    if (unit.starts_with(start)) return unit.substr(start.size());
  for (const std::string_view end : {"^-1"sv, "**-1"sv, "^(-1)"sv, "\xe2\x81\xbb\xc2\xb9"sv, "-1"sv})
    if (unit.ends_with(end)) return unit.substr(0, unit.size() - end.size());
  return std::nullopt;
}

/// How many mrad; nothing when the unit is no angle.
std::optional<double> milliradians(std::string_view unit) {
  for (const auto& [name, factor] : {std::pair("mrad"sv, 1.0),
                                     {"milliradian"sv, 1.0},
                                     {"milliradians"sv, 1.0},
                                     {"rad"sv, 1e3},
                                     {"radian"sv, 1e3},
                                     {"radians"sv, 1e3},
                                     {"urad"sv, 1e-3},
                                     {"\xc2\xb5rad"sv, 1e-3},
                                     {"\xce\xbcrad"sv, 1e-3},
                                     {"deg"sv, 17.453292519943295},
                                     {"degree"sv, 17.453292519943295},
                                     {"degrees"sv, 17.453292519943295},
                                     {"\xc2\xb0"sv, 17.453292519943295}})
    if (unit == name) return factor;
  return std::nullopt;
}

/// A unit of a file in a message: short and printable.
std::string shown(const std::string& unit) {
  std::string text = unit.substr(0, 24);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

void note_unused(const char* which, const AxisScale& scale, const char* expected, Acquisition& acquisition) {
  if (is_no_unit(scale.unit)) return;
  std::string text =
      fmt::format("the step of the {}, {:.6g} \"{}\", is not used", which, scale.step, shown(scale.unit));
  const bool said = std::any_of(acquisition.notes.begin(), acquisition.notes.end(),
                                [&](const auto& note) { return note.value == text; });
  if (!said) acquisition.notes.push_back({std::move(text), fmt::format("expected a unit of {}", expected)});
}

std::optional<Quantity> scan_step(const char* which, const std::optional<AxisScale>& scale, Acquisition& acquisition) {
  if (!scale) return std::nullopt;
  const auto step = known_step(*scale);
  if (step && step->kind == AxisKind::length) return Quantity{step->value, StatedBy::file};
  note_unused(which, *scale, "length", acquisition);
  return std::nullopt;
}

}  // namespace

bool is_no_unit(const std::string& unit) {
  const std::string text = to_lower(plain(unit));
  return text.empty() || text == "px" || text == "pixel" || text == "pixels" || text == "<undefined>" ||
         text == "none" || text == "inch";
}

std::optional<AxisStep> known_step(const AxisScale& scale) {
  const double step = std::abs(scale.step);
  if (!std::isfinite(step) || !(step > 0)) return std::nullopt;
  const std::string unit = plain(scale.unit);
  const auto made = [](AxisKind kind, double value) -> std::optional<AxisStep> {
    if (!std::isfinite(value) || !(value > 0)) return std::nullopt;
    return AxisStep{kind, value};
  };
  if (const auto nm = nanometres(unit)) return made(AxisKind::length, step * *nm);
  if (const auto mrad = milliradians(unit)) return made(AxisKind::angle, step * *mrad);
  if (const auto length = length_of_inverse(unit))
    if (const auto nm = nanometres(*length)) return made(AxisKind::inverse_length, step * 0.1 / *nm);
  return std::nullopt;
}

void take_scan_axes(const std::optional<AxisScale>& row, const std::optional<AxisScale>& col,
                    Acquisition& acquisition) {
  acquisition.calibration.scan_step_row_nm = scan_step("scan rows", row, acquisition);
  acquisition.calibration.scan_step_col_nm = scan_step("scan columns", col, acquisition);
}

void take_detector_axes(const std::optional<AxisScale>& row, const std::optional<AxisScale>& col,
                        Acquisition& acquisition) {
  const std::optional<AxisScale>& scale = col ? col : row;
  if (!scale) return;
  const auto step = known_step(*scale);
  if (!step || step->kind == AxisKind::length) {
    note_unused("detector", *scale, "angle or inverse length", acquisition);
    return;
  }
  if (step->kind == AxisKind::angle)
    acquisition.calibration.detector_step_mrad = Quantity{step->value, StatedBy::file};
  else
    acquisition.calibration.detector_step_inv_a = Quantity{step->value, StatedBy::file};
  const auto other = row && col ? known_step(*row) : std::nullopt;
  constexpr double same_within = 1e-3;  // axes that were calibrated together differ by rounding only
  if (other && (other->kind != step->kind || std::abs(other->value - step->value) > same_within * step->value))
    acquisition.notes.push_back({fmt::format("detector rows have a step of {:.6g} {}, columns of {:.6g} {}", row->step,
                                             shown(row->unit), col->step, shown(col->unit)),
                                 "the columns' is used for both"});
}

}  // namespace sonde::stem
