// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "sonde/engine/base/index.h"

namespace sonde::maxwell {

/// Array dimensions, slowest first: arrays are [z][y][x]. x runs along the line, z downwards; right-handed.
enum class Axis { z, y, x };
inline constexpr std::array<Axis, 3> all_axes{Axis::z, Axis::y, Axis::x};
[[nodiscard]] constexpr std::size_t dimension(Axis axis) { return static_cast<std::size_t>(axis); }

/// One number for each array dimension.
using Triple = std::array<Index, 3>;

enum class Component { Ex, Ey, Ez, Hx, Hy, Hz };
inline constexpr std::array<Component, 6> all_components{Component::Ex, Component::Ey, Component::Ez,
                                                         Component::Hx, Component::Hy, Component::Hz};
inline constexpr std::array<Component, 3> electric_components{Component::Ex, Component::Ey, Component::Ez};
inline constexpr std::array<Component, 3> magnetic_components{Component::Hx, Component::Hy, Component::Hz};

[[nodiscard]] constexpr bool is_electric(Component c) { return c < Component::Hx; }
/// The place of a component among those of its kind: 0 for x, 1 for y, 2 for z.
[[nodiscard]] constexpr std::size_t place(Component c) { return static_cast<std::size_t>(c) % 3; }
/// The axis that the component points along.
[[nodiscard]] constexpr Axis direction(Component c) { return static_cast<Axis>(2 - place(c)); }
/// Whether it sits half a cell beyond the plane of its index along that axis (Yee 1966): E along its own direction, H
/// along the two others.
[[nodiscard]] constexpr bool is_half(Component c, Axis axis) { return is_electric(c) == (direction(c) == axis); }

/// One derivative of a curl: sign * d(of)/d(along).
struct CurlTerm {
  Component of;
  Axis along;
  int sign;
};

/// Of E: curl H; of H: -curl E. A pair of components has the same sign both ways, so that one table serves a step and
/// its transpose.
[[nodiscard]] constexpr std::array<CurlTerm, 2> curl_terms(Component c) {
  using enum Component;
  switch (c) {
    case Ex:
      return {{{Hz, Axis::y, 1}, {Hy, Axis::z, -1}}};
    case Ey:
      return {{{Hx, Axis::z, 1}, {Hz, Axis::x, -1}}};
    case Ez:
      return {{{Hy, Axis::x, 1}, {Hx, Axis::y, -1}}};
    case Hx:
      return {{{Ey, Axis::z, 1}, {Ez, Axis::y, -1}}};
    case Hy:
      return {{{Ez, Axis::x, 1}, {Ex, Axis::z, -1}}};
    case Hz:
      return {{{Ex, Axis::y, 1}, {Ey, Axis::x, -1}}};
  }
  return {};
}

[[nodiscard]] constexpr std::string_view name(Component c) {
  constexpr std::array<std::string_view, 6> names{"Ex", "Ey", "Ez", "Hx", "Hy", "Hz"};
  return names[static_cast<std::size_t>(c)];
}
/// "Ex" to "Hz". Throws Error(bad_input) for other words.
[[nodiscard]] Component parse_component(std::string_view word);

}  // namespace sonde::maxwell
