// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <array>
#include <cstring>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/maxwell/grid/grid.h"

namespace sonde::maxwell {

/// Where rows are in memory: [z][y][x] with room for the images of walls before and behind each row.
struct Lattice {
  static constexpr Index room = 16;  ///< elements: a cache line of float32, and more than any stencil reads

  Triple extents{};
  Index pitch = 0;

  explicit Lattice(const Grid& grid)
      : extents(grid.extents()), pitch((extents[2] + 2 * room + room - 1) / room * room) {}
  [[nodiscard]] Index row(Index k, Index j) const { return (k * extents[1] + j) * pitch + room; }
  [[nodiscard]] Index stride(Axis axis) const {
    return axis == Axis::x ? 1 : axis == Axis::y ? pitch : extents[1] * pitch;
  }
  [[nodiscard]] Index rows() const { return extents[0] * extents[1]; }
  [[nodiscard]] Index elements() const { return rows() * pitch; }
};

/// Rows of factors, of which equal ones are kept once: a model of few materials has few different rows, and those stay
/// in the cache.
template <class T>
class RowTable {
 public:
  /// From float64 values [z][y][x] without room. Empty values give an empty table.
  RowTable(const std::vector<double>& values, const Triple& extents) {
    if (values.empty()) return;
    const auto width = static_cast<std::size_t>(extents[2]);
    std::unordered_map<std::string, const T*> known;
    std::vector<T> row(width);
    rows_.reserve(values.size() / width);
    for (std::size_t first = 0; first < values.size(); first += width) {
      for (std::size_t x = 0; x < width; ++x) row[x] = static_cast<T>(values[first + x]);
      std::string key(reinterpret_cast<const char*>(row.data()), width * sizeof(T));
      const auto [found, is_new] = known.try_emplace(std::move(key), nullptr);
      if (is_new) found->second = kept_.emplace_back(row).data();
      rows_.push_back(found->second);
    }
  }
  [[nodiscard]] const T* operator[](Index row) const { return rows_[static_cast<std::size_t>(row)]; }
  /// Where this row and those behind it are.
  [[nodiscard]] const T* const* rows(Index first) const { return rows_.data() + first; }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::size_t bytes() const {
    return kept_.size() * (kept_.empty() ? 0 : kept_.front().size() * sizeof(T)) + rows_.size() * sizeof(T*);
  }

 private:
  std::deque<std::vector<T>> kept_;
  std::vector<const T*> rows_;
};

}  // namespace sonde::maxwell
