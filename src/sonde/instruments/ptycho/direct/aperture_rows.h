// SPDX-License-Identifier: Apache-2.0
// Private to the room: which frequencies of a row of the scan's transform an aperture lets through.
#pragma once

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/ptycho/direct/lens.h"

namespace sonde::ptycho {

/// Columns [first, last) of one row of frequencies.
struct Span {
  Index first = 0, last = 0;
  [[nodiscard]] bool empty() const { return first >= last; }
};

/// from + v step for all columns v.
struct FrequencyLine {
  Point from, step;
  [[nodiscard]] Point operator[](Index v) const {
    const auto t = static_cast<double>(v);
    return {from.row + t * step.row, from.col + t * step.col};
  }
};

/// Which columns -most <= v <= most of a line lie where `inside` holds, a disk of `radius` about zero: an interval. Its
/// ends are decided by `inside` itself, not by the rounding of a root.
template <class Inside>
[[nodiscard]] Span columns_inside(const FrequencyLine& line, double radius, Index most, Inside&& inside) {
  const double h2 = line.step.row * line.step.row + line.step.col * line.step.col;
  const double along = line.from.row * line.step.row + line.from.col * line.step.col;
  const double rest = line.from.row * line.from.row + line.from.col * line.from.col - radius * radius;
  const double discriminant = along * along - h2 * rest;
  if (discriminant < 0) return {};
  const double root = std::sqrt(discriminant), limit = static_cast<double>(most) + 1;
  Span span{static_cast<Index>(std::clamp(std::floor((-along - root) / h2), -limit, limit)),
            static_cast<Index>(std::clamp(std::ceil((-along + root) / h2), -limit, limit)) + 1};
  span.first = std::max(span.first, -most);
  span.last = std::min(span.last, most + 1);
  while (!span.empty() && !inside(line[span.first])) ++span.first;
  while (!span.empty() && !inside(line[span.last - 1])) --span.last;
  return span.empty() ? Span{} : span;
}

/// Where the aperture is not zero.
[[nodiscard]] inline Span columns_lit(const Lens& lens, const FrequencyLine& line, Index most) {
  return columns_inside(line, lens.reach(), most, [&](Point k) { return lens.amplitude(k) > 0; });
}

}  // namespace sonde::ptycho
