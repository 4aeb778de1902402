// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sonde {

struct Colour {
  std::uint8_t red = 0, green = 0, blue = 0;
  friend bool operator==(const Colour&, const Colour&) = default;
};

/// viridis, cividis, inferno, magma: perceptually even (Smith & van der Walt; Nunez, Anderton & Renslow 2018, cividis).
/// rdbu: diverging, red for low and blue for high (ColorBrewer). phase: a circle of even lightness, for angles.
enum class ColourMap { gray, viridis, cividis, inferno, magma, rdbu, phase };

/// Names as flags take them: "gray", "viridis", ..., "RdBu", "phase". Made for Fields::choice.
[[nodiscard]] const std::vector<std::pair<std::string, ColourMap>>& colour_map_names();

/// Of values that are not finite: a flat grey-red that no map contains.
inline constexpr Colour not_finite{178, 90, 90};

/// 256 colours from the lowest to the highest value.
[[nodiscard]] const std::array<Colour, 256>& colour_table(ColourMap map);

}  // namespace sonde
