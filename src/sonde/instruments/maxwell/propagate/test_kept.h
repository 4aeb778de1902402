// SPDX-License-Identifier: Apache-2.0
// For tests: the fields of every step, as they are or rounded.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "sonde/instruments/maxwell/propagate/kept_fields.h"
#include "sonde/instruments/maxwell/propagate/problem.h"

namespace sonde::maxwell::testing {

template <class T>
class AllFields : public KeptFields<T> {
 public:
  explicit AllFields(const Grid& grid, Index at_once = 1000) : grid_(grid), at_once_(at_once) {}

  /// Of the next time, the first before the first step.
  void add(const State& state) {
    auto& made = fields_.emplace_back();
    for (std::size_t c = 0; c < 6; ++c) made[c].assign(state.fields[c].begin(), state.fields[c].end());
    auto& poles = poles_.emplace_back();
    for (const auto& of_pole : state.polarisation)
      for (const auto& values : of_pole) poles.emplace_back(values.begin(), values.end());
  }
  /// Of rows row(c, k, j).
  template <class Rows>
  void add_rows(const Rows& row) {
    auto& made = fields_.emplace_back();
    for (const Component c : grid_.components())
      for (Index k = 0; k < grid_.extent(Axis::z); ++k)
        for (Index j = 0; j < grid_.extent(Axis::y); ++j) {
          const T* from = row(c, k, j);
          auto& to = made[static_cast<std::size_t>(c)];
          to.insert(to.end(), from, from + grid_.extent(Axis::x));
        }
  }

  /// Of poles, row(p, c, k, j), behind add_rows() of the same time.
  template <class Rows>
  void add_pole_rows(std::size_t count, const Rows& row) {
    auto& made = poles_.emplace_back();
    for (std::size_t p = 0; p < count; ++p)
      for (const Component c : electric_components) {
        auto& to = made.emplace_back();
        for (Index k = 0; grid_.has(c) && k < grid_.extent(Axis::z); ++k)
          for (Index j = 0; j < grid_.extent(Axis::y); ++j) {
            const T* from = row(p, c, k, j);
            to.insert(to.end(), from, from + grid_.extent(Axis::x));
          }
      }
  }

  [[nodiscard]] NodeBox box() const override { return {{}, grid_.extents()}; }
  [[nodiscard]] bool begin_step(Index) override { return true; }
  [[nodiscard]] Index steps_at_once() const override { return at_once_; }
  [[nodiscard]] typename KeptFields<T>::Row row(Index n, Component c, Index k, Index j) const override {
    const auto at = [&](std::size_t step) {
      return fields_[step][static_cast<std::size_t>(c)].data() + grid_.index(k, j, 0);
    };
    return {.before = at(static_cast<std::size_t>(n)), .after = at(static_cast<std::size_t>(n) + 1)};
  }

  [[nodiscard]] const T* pole_row(Index n, std::size_t p, Component c, Index k, Index j) const override {
    return poles_[static_cast<std::size_t>(n)][3 * p + place(c)].data() + grid_.index(k, j, 0);
  }

 private:
  const Grid& grid_;
  Index at_once_;
  std::vector<std::array<std::vector<T>, 6>> fields_;
  std::vector<std::vector<std::vector<T>>> poles_;  ///< [time][pole and component], where states were added
};

}  // namespace sonde::maxwell::testing
