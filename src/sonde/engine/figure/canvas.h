// SPDX-License-Identifier: Apache-2.0
// Private to the room: drawing with smooth edges into an RGB image.
#pragma once

#include <string_view>

#include "sonde/engine/array/array.h"
#include "sonde/engine/figure/colour.h"

namespace sonde {

struct Point {
  double row = 0, col = 0;
};

class Canvas {
 public:
  /// Draws into `image`, u8 (rows, cols, 3); the array must outlive the canvas.
  explicit Canvas(Array& image) : pixels_(image.view<std::uint8_t, 3>()) {}

  [[nodiscard]] Index rows() const { return pixels_.extent[0]; }
  [[nodiscard]] Index cols() const { return pixels_.extent[1]; }

  /// Mixes `colour` into one pixel; outside the image nothing happens.
  void blend(Index row, Index col, Colour colour, double opacity);
  /// The half-open rectangle of pixels.
  void fill(Index row, Index col, Index height, Index width, Colour colour, double opacity = 1);
  void line(Point from, Point to, double width, Colour colour);
  void circle(Point centre, double radius, double width, Colour colour);
  void paste(const Array& image, Index row, Index col);
  /// `baseline` is the left end of the base line; `height` that of a capital, in pixels.
  void text(std::string_view words, Point baseline, double height, Colour colour);

 private:
  View<std::uint8_t, 3> pixels_;
};

/// White with height x width pixels.
[[nodiscard]] Array blank_image(Index rows, Index cols);

/// Width of a text in pixels.
[[nodiscard]] double text_width(std::string_view words, double height);

}  // namespace sonde
