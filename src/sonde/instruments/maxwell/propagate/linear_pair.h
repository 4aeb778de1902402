// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include "sonde/instruments/maxwell/propagate/stepper.h"

namespace sonde::maxwell::stepping {

/// A sweep and its derivative along a change of the medium, a step of both at a time. Forward E and H, transposed w and
/// u: the change of a step has the same form in both, E (w) gets cb (difference (new - old) + sum (new + old)) and H
/// (u) magnetic (new - old) of the unchanged sweep.
template <class T>
struct LinearPair {
  Stepper<T> background, moved;
  std::array<Array, 6> before{};  ///< fields of the background before its step, in rows of the lattice
  /// Factors of a step's change; of H times the change itself, of E without cb. Empty where nothing changes.
  std::array<RowTable<T>, 3> difference, sum, magnetic;

  LinearPair(const Problem& problem, const StepChange& by, Sense sense)
      : background(problem, sense),
        moved(problem, sense),
        difference{rows_of(by.difference[0]), rows_of(by.difference[1]), rows_of(by.difference[2])},
        sum{rows_of(by.sum[0]), rows_of(by.sum[1]), rows_of(by.sum[2])},
        magnetic{rows_of(by.magnetic[0]), rows_of(by.magnetic[1]), rows_of(by.magnetic[2])} {
    const Triple& n = background.lattice.extents;
    for (const Component c : problem.grid.components())
      if (changes(c))
        before[which(c)] = Array::zeros(Device::cpu(), {n[0], n[1], background.lattice.pitch}, dtype_of<T>);
  }

  [[nodiscard]] RowTable<T> rows_of(const std::vector<double>& values) const {
    const bool any = std::any_of(values.begin(), values.end(), [](double v) { return v != 0; });
    return background.table(any ? values : std::vector<double>{});
  }
  [[nodiscard]] bool changes(Component c) const {
    const std::size_t p = place(c);
    return is_electric(c) ? !difference[p].empty() || !sum[p].empty() : !magnetic[p].empty();
  }
  [[nodiscard]] T* before_row(Component c, Index k, Index j) {
    return static_cast<T*>(before[which(c)].data()) + background.lattice.row(k, j);
  }

  template <class Body>
  void for_each_row(bool electric, Index k, const Body& body) {
    for (const Component c : background.problem.grid.components())
      for (Index j = 0; is_electric(c) == electric && changes(c) && j < background.lattice.extents[1]; ++j)
        body(c, j, background.table_row(k, j));
  }

  void keep(bool electric, Index k) {
    for_each_row(electric, k, [&](Component c, Index j, Index) {
      std::copy_n(background.row_of(c, k, j), background.width(), before_row(c, k, j));
    });
  }

  void add_to_magnetic(Index k) {
    for_each_row(false, k, [&](Component c, Index j, Index at) {
      const T *old = before_row(c, k, j), *now = background.row_of(c, k, j), *by = magnetic[place(c)][at];
      T* to = moved.row_of(c, k, j);
      for (Index x = 0; x < moved.width(); ++x) to[x] += by[x] * (now[x] - old[x]);
      moved.fill_ends(c, to);
    });
  }

  void add_to_electric(Index k) {
    for_each_row(true, k, [&](Component c, Index j, Index at) {
      const T *old = before_row(c, k, j), *now = background.row_of(c, k, j), *cb = moved.cb[place(c)][at];
      T* to = moved.row_of(c, k, j);
      const auto add = [&](const RowTable<T>& table, T sign) {
        if (table.empty()) return;
        const T* by = table[at];
        for (Index x = 0; x < moved.width(); ++x) to[x] += cb[x] * by[x] * (now[x] + sign * old[x]);
        // What enters E in a step enters its poles in that step too; transposed they take it in the next.
        for (auto& pole : moved.poles) {
          if (moved.sense == Sense::transposed) break;
          DebyeRows<T>& rows = *pole[place(c)];
          T* p = static_cast<T*>(rows.polarisation.data()) + moved.lattice.row(k, j);
          const T* bP = rows.bP[at];
          for (Index x = 0; x < moved.width(); ++x) p[x] += bP[x] * (cb[x] * by[x] * (now[x] + sign * old[x]));
        }
      };
      add(difference[place(c)], T(-1));
      add(sum[place(c)], T(1));
      moved.fill_ends(c, to);
    });
  }

  void clear() {
    background.clear();
    moved.clear();
  }

  [[nodiscard]] PlaneHooks keep_hooks() {
    return {.before_magnetic = [this](Index k) { keep(false, k); },
            .before_electric = [this](Index k) { keep(true, k); }};
  }

  [[nodiscard]] std::size_t bytes() const {
    std::size_t total = background.bytes() + moved.bytes();
    for (const Array& field : before) total += field.allocated_bytes();
    for (const auto* tables : {&difference, &sum, &magnetic})
      for (const RowTable<T>& table : *tables) total += table.bytes();
    return total;
  }
};

}  // namespace sonde::maxwell::stepping
