// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/scan/order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

namespace sonde::ptycho {
namespace {

constexpr std::uint32_t side = 1u << 16;

/// The place of cell (x, y) on the curve of order 16: quadrant by quadrant from the largest, each turned so that the
/// curve goes on where it left (Wikipedia, "Hilbert curve", xy2d).
std::uint64_t hilbert_key(std::uint32_t x, std::uint32_t y) {
  std::uint64_t key = 0;
  for (std::uint32_t half = side / 2; half > 0; half /= 2) {
    const std::uint32_t right = (x & half) > 0 ? 1 : 0, up = (y & half) > 0 ? 1 : 0;
    key += std::uint64_t{half} * half * ((3 * right) ^ up);
    if (up == 0) {
      if (right == 1) {
        x = side - 1 - x;
        y = side - 1 - y;
      }
      std::swap(x, y);
    }
  }
  return key;
}

}  // namespace

std::vector<Index> hilbert_order(std::span<const Point> points) {
  std::vector<Index> order(points.size());
  std::iota(order.begin(), order.end(), Index{0});
  if (points.size() < 2) return order;
  Point least = points[0], most = points[0];
  for (const Point& point : points) {
    least = {std::min(least.row, point.row), std::min(least.col, point.col)};
    most = {std::max(most.row, point.row), std::max(most.col, point.col)};
  }
  const double extent = std::max(most.row - least.row, most.col - least.col);
  if (!(extent > 0)) return order;
  const auto cell = [&](double distance) {
    return std::min(static_cast<std::uint32_t>(distance / extent * side), side - 1);
  };
  std::vector<std::uint64_t> keys;
  keys.reserve(points.size());
  for (const Point& point : points)
    keys.push_back(hilbert_key(cell(point.col - least.col), cell(point.row - least.row)));
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
  });
  return order;
}

}  // namespace sonde::ptycho
