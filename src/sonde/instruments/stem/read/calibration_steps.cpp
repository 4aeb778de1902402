// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/calibration_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde::stem {
namespace {

constexpr std::array step_names = {
    std::pair("origin", CalibrationStep::origin), std::pair("ellipse", CalibrationStep::ellipse),
    std::pair("pixel", CalibrationStep::pixel), std::pair("transpose", CalibrationStep::transpose),
    std::pair("rotation", CalibrationStep::rotation)};

}  // namespace

std::vector<CalibrationStep> parse_steps(std::string_view text, std::string_view where) {
  std::vector<CalibrationStep> steps;
  if (trim(text).empty()) return steps;
  for (const std::string& part : split(std::string(text), ',')) {
    const std::string_view name = trim(part);
    const auto* known = std::ranges::find_if(step_names, [&](const auto& step) { return name == step.first; });
    if (known == step_names.end())
      throw Error(ErrorKind::usage,
                  fmt::format("{}: \"{}\"; expected some of origin, ellipse, pixel, transpose, rotation", where, name));
    steps.push_back(known->second);
  }
  return steps;
}

void check_steps(std::string_view text, std::string_view where) { (void)parse_steps(text, where); }

Calibration without(Calibration calibration, const std::vector<CalibrationStep>& steps) {
  for (const CalibrationStep step : steps) {
    switch (step) {
      case CalibrationStep::origin:
        calibration.origin.reset();
        calibration.centre.reset();
        break;
      case CalibrationStep::ellipse:
        calibration.ellipse.reset();
        break;
      case CalibrationStep::pixel:
        calibration.detector_step_inv_a.reset();
        calibration.detector_step_mrad.reset();
        break;
      case CalibrationStep::transpose:
        calibration.transpose.reset();
        break;
      case CalibrationStep::rotation:
        calibration.rotation_rad.reset();
        break;
    }
  }
  return calibration;
}

}  // namespace sonde::stem
