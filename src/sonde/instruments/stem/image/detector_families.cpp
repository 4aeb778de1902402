// SPDX-License-Identifier: Apache-2.0
// Rows like those of detector_shapes.cpp, for names that stand for many shapes.
#include <algorithm>
#include <cmath>

#include "sonde/instruments/stem/image/detector_shapes.h"

namespace sonde::stem {
namespace {

std::optional<ShapeFault> check_family(std::span<const double> a) {
  constexpr std::size_t first = 4;  // the numbers of pieces; an angle may follow them
  double count = 1;
  for (std::size_t i = first; i < std::min<std::size_t>(a.size(), 6); ++i) {
    if (a[i] < 1 || a[i] != std::floor(a[i])) return ShapeFault{"a number of pieces is a whole number, at least 1", i};
    count *= a[i];
  }
  if (count > static_cast<double>(most_of_family)) return ShapeFault{"more than 1024 detectors", first};
  return {};
}

std::vector<DetectorShape> families() {
  const ShapeArgument row{"row", ArgumentRole::centre_row}, col{"col", ArgumentRole::centre_col},
      r_in{"r_in", ArgumentRole::inner_radius}, r_out{"r_out", ArgumentRole::outer_radius};
  return {
      {.name = "rings",
       .arguments = {row, col, r_in, r_out, {"n", ArgumentRole::pieces}},
       .help = "n detectors: adjacent annuli of equal width from r_in to r_out, the innermost first.",
       .example = "rings(12.5,14,0,9,3)",
       .samples = nullptr,
       .check = check_family},
      {.name = "segments",
       .arguments = {row,
                     col,
                     r_in,
                     r_out,
                     {"n_rings", ArgumentRole::pieces},
                     {"n_sectors", ArgumentRole::pieces},
                     {"phi0", ArgumentRole::start_angle}},
       .optional = 1,
       .help = "n_rings x n_sectors detectors: such annuli, each in equal sectors that are counted clockwise on the "
               "screen from the angle phi0.",
       .example = "segments(12.5,14,0,9,2,4,-45deg)",
       .samples = nullptr,
       .check = check_family}};
}

}  // namespace

const std::vector<DetectorShape>& detector_families() {
  static const std::vector<DetectorShape> all = families();
  return all;
}

const DetectorShape* find_detector_family(std::string_view name) {
  const auto found = std::ranges::find(detector_families(), name, &DetectorShape::name);
  return found != detector_families().end() ? &*found : nullptr;
}

}  // namespace sonde::stem
