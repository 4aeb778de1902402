// SPDX-License-Identifier: Apache-2.0
// A map of phases in colours that people with any colour vision tell apart (P. Tol, Colour Schemes, 2021: bright).
#include <fmt/format.h>

#include <array>
#include <cstdint>

#include "sonde/engine/figure/colour.h"
#include "sonde/instruments/stem/orient/orient_result.h"

namespace sonde::stem {
namespace {

struct NamedColour {
  Colour colour{};
  const char* name = "";
};
constexpr std::array<NamedColour, most_phases> phase_colours{{{{0x44, 0x77, 0xAA}, "blue"},
                                                              {{0xEE, 0x66, 0x77}, "red"},
                                                              {{0x22, 0x88, 0x33}, "green"},
                                                              {{0xCC, 0xBB, 0x44}, "yellow"},
                                                              {{0x66, 0xCC, 0xEE}, "cyan"},
                                                              {{0xAA, 0x33, 0x77}, "purple"},
                                                              {{0xBB, 0xBB, 0xBB}, "grey"},
                                                              {{0x00, 0x00, 0x00}, "black"}}};
constexpr Colour not_decided{255, 255, 255};

}  // namespace

Array phase_picture(const OrientResult& result, Index zoom) {
  const PhaseMap& phases = *result.phases;
  Array picture(Device::cpu(), Shape{result.scan_rows * zoom, result.scan_cols * zoom, 3}, DType::u8);
  const auto view = picture.view<std::uint8_t, 3>();
  for (Index row = 0; row < picture.shape()[0]; ++row)
    for (Index col = 0; col < picture.shape()[1]; ++col) {
      const auto at = static_cast<std::size_t>(row / zoom * result.scan_cols + col / zoom);
      Colour colour = not_finite;
      if (phases.phase[at] >= 0)
        colour = phases.decided(at) ? phase_colours[static_cast<std::size_t>(phases.phase[at])].colour : not_decided;
      view(row, col, 0) = colour.red;
      view(row, col, 1) = colour.green;
      view(row, col, 2) = colour.blue;
    }
  return picture;
}

std::string phase_legend(const PhaseMap& phases) {
  std::string text = "phase: ";
  for (std::size_t k = 0; k < phases.names.size(); ++k)
    text += fmt::format("{} {}, ", phases.names[k], phase_colours[k].name);
  return text + "not decided white";
}

}  // namespace sonde::stem
