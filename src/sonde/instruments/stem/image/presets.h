// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace sonde::stem {

/// A named annulus about the beam's centre, its radii in units of the bright-field radius rho.
struct DetectorPreset {
  std::string_view name;
  double r_in, r_out;
};

inline constexpr std::array<DetectorPreset, 4> detector_presets = {{
    {"bf", 0.0, 1.0},     // bright field
    {"abf", 0.5, 1.0},    // annular bright field
    {"adf", 1.0, 2.0},    // annular dark field
    {"haadf", 2.0, 4.0},  // high-angle annular dark field
}};

}  // namespace sonde::stem
