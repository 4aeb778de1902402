// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include "sonde/instruments/maxwell/propagate/stepper.h"

namespace sonde::maxwell::stepping {

/// A sweep and its derivative along a change of the medium, a step of both at a time. Forward E and H, transposed w and
/// u: the change of a step has the same form in both, E (w) gets cb (difference (new - old) + sum (new + old)) and H
/// (u) magnetic (new - old) of the unchanged sweep. Poles: P gets aP P_old + bP (new + old) and E what of aP P_old
/// comes into it; transposed P gets aP q, q = P_old - w_old / dt, and w what comes of that and of bP (P_new + P_old).
template <class T>
struct LinearPair {
  Stepper<T> background, moved;
  std::array<Array, 6> before{};  ///< fields of the background before its step, in rows of the lattice
  /// Factors of a step's change; of H times the change itself, of E without cb. Empty where nothing changes.
  std::array<RowTable<T>, 3> difference, sum, magnetic;
  struct Pole {
    std::array<RowTable<T>, 3> aP, bP;
    std::array<Array, 3> before{};  ///< as that of fields
  };
  std::vector<Pole> poles{};  ///< empty: none changes

  LinearPair(const Problem& problem, const StepChange& by, Sense sense)
      : background(problem, sense),
        moved(problem, sense),
        difference(all_rows_of(by.difference)),
        sum(all_rows_of(by.sum)),
        magnetic(all_rows_of(by.magnetic)) {
    for (const StepChange::Pole& each : by.poles) poles.push_back({all_rows_of(each.aP), all_rows_of(each.bP)});
    const Triple& n = background.lattice.extents;
    const auto made = [&] { return Array::zeros(Device::cpu(), {n[0], n[1], background.lattice.pitch}, dtype_of<T>); };
    for (const Component c : problem.grid.components()) {
      if (changes(c)) before[which(c)] = made();
      for (Pole& pole : poles)
        if (is_electric(c)) pole.before[place(c)] = made();
    }
  }

  [[nodiscard]] std::array<RowTable<T>, 3> all_rows_of(const std::array<std::vector<double>, 3>& values) const {
    return {rows_of(values[0]), rows_of(values[1]), rows_of(values[2])};
  }
  [[nodiscard]] RowTable<T> rows_of(const std::vector<double>& values) const {
    const bool any = std::any_of(values.begin(), values.end(), [](double v) { return v != 0; });
    return background.table(any ? values : std::vector<double>{});
  }
  [[nodiscard]] bool changes(Component c) const {
    const std::size_t p = place(c);
    return is_electric(c) ? !difference[p].empty() || !sum[p].empty() || !poles.empty() : !magnetic[p].empty();
  }
  [[nodiscard]] T* row_in(Array& array, Index k, Index j) const {
    return static_cast<T*>(array.data()) + background.lattice.row(k, j);
  }
  [[nodiscard]] T* before_row(Component c, Index k, Index j) { return row_in(before[which(c)], k, j); }
  [[nodiscard]] T* pole_row(Stepper<T>& of, std::size_t p, Component c, Index k, Index j) const {
    return row_in(of.poles[p][place(c)]->polarisation, k, j);
  }

  template <class Body>
  void for_each_row(bool electric, const PlaneRows& at, const Body& body) {
    for (const Component c : background.problem.grid.components())
      for (Index j = at.first; is_electric(c) == electric && changes(c) && j < at.last; ++j)
        body(c, j, background.table_row(at.k, j));
  }

  void keep(bool electric, const PlaneRows& at) {
    for_each_row(electric, at, [&, k = at.k](Component c, Index j, Index) {
      std::copy_n(background.row_of(c, k, j), background.width(), before_row(c, k, j));
      for (std::size_t p = 0; electric && p < poles.size(); ++p)
        std::copy_n(pole_row(background, p, c, k, j), background.width(), row_in(poles[p].before[place(c)], k, j));
    });
  }

  void add_to_magnetic(const PlaneRows& rows) {
    for_each_row(false, rows, [&, k = rows.k](Component c, Index j, Index at) {
      const T *old = before_row(c, k, j), *now = background.row_of(c, k, j), *by = magnetic[place(c)][at];
      T* to = moved.row_of(c, k, j);
      for (Index x = 0; x < moved.width(); ++x) to[x] += by[x] * (now[x] - old[x]);
      moved.fill_ends(c, to);
    });
  }

  void add_to_electric(const PlaneRows& rows) {
    for_each_row(true, rows, [&, k = rows.k](Component c, Index j, Index at) {
      const T *old = before_row(c, k, j), *now = background.row_of(c, k, j);
      for (const auto& [table, sign] : {std::pair(&difference[place(c)], T(-1)), std::pair(&sum[place(c)], T(1))})
        if (!table->empty())
          add_current(c, k, j,
                      [by = (*table)[at], now, old, sign = sign](Index x) { return by[x] * (now[x] + sign * old[x]); });
      for (std::size_t p = 0; p < poles.size(); ++p)
        moved.sense == Sense::forward ? add_to_pole(p, c, k, j) : add_to_transposed_pole(p, c, k, j);
      moved.fill_ends(c, moved.row_of(c, k, j));
    });
  }

  /// What enters E in a step enters its poles in that step too; transposed they take it in the next.
  template <class Current>
  void add_current(Component c, Index k, Index j, const Current& current) {
    T* to = moved.row_of(c, k, j);
    const Index at = moved.table_row(k, j);
    const T* cb = moved.cb[place(c)][at];
    for (Index x = 0; x < moved.width(); ++x) to[x] += cb[x] * current(x);
    for (std::size_t p = 0; moved.sense == Sense::forward && p < moved.poles.size(); ++p) {
      T* polarisation = pole_row(moved, p, c, k, j);
      const T* bP = moved.poles[p][place(c)]->bP[at];
      for (Index x = 0; x < moved.width(); ++x) polarisation[x] += bP[x] * (cb[x] * current(x));
    }
  }

  void add_to_pole(std::size_t p, Component c, Index k, Index j) {
    Pole& pole = poles[p];
    const Index at = moved.table_row(k, j);
    T* to = pole_row(moved, p, c, k, j);
    if (!pole.aP[place(c)].empty()) {
      const T *held = row_in(pole.before[place(c)], k, j), *aP = pole.aP[place(c)][at];
      const T per_step = static_cast<T>(1 / moved.problem.dt);
      add_current(c, k, j, [=](Index x) { return -per_step * aP[x] * held[x]; });
      for (Index x = 0; x < moved.width(); ++x) to[x] += aP[x] * held[x];
    }
    if (!pole.bP[place(c)].empty()) {
      const T *old = before_row(c, k, j), *now = background.row_of(c, k, j), *bP = pole.bP[place(c)][at];
      for (Index x = 0; x < moved.width(); ++x) to[x] += bP[x] * (now[x] + old[x]);
    }
  }

  void add_to_transposed_pole(std::size_t p, Component c, Index k, Index j) {
    Pole& pole = poles[p];
    const Index at = moved.table_row(k, j);
    T* to = pole_row(moved, p, c, k, j);
    const T *held = row_in(pole.before[place(c)], k, j), *now = pole_row(background, p, c, k, j);
    if (!pole.bP[place(c)].empty())
      add_current(c, k, j, [=, bP = pole.bP[place(c)][at]](Index x) { return bP[x] * (now[x] + held[x]); });
    if (pole.aP[place(c)].empty()) return;
    const T *old = before_row(c, k, j), *aP = pole.aP[place(c)][at];
    const T* share = moved.poles[p][place(c)]->bP[at];
    const T per_step = static_cast<T>(1 / moved.problem.dt);
    const auto more = [=](Index x) { return aP[x] * (held[x] - per_step * old[x]); };
    add_current(c, k, j, [=](Index x) { return share[x] * more(x); });
    for (Index x = 0; x < moved.width(); ++x) to[x] += more(x);
  }

  void clear() {
    background.clear();
    moved.clear();
  }

  [[nodiscard]] PlaneHooks keep_hooks() {
    return {.before_magnetic = [this](const PlaneRows& at) { keep(false, at); },
            .before_electric = [this](const PlaneRows& at) { keep(true, at); }};
  }

  [[nodiscard]] std::size_t bytes() const {
    std::size_t total = background.bytes() + moved.bytes();
    for (const Array& field : before) total += field.allocated_bytes();
    for (const auto* tables : {&difference, &sum, &magnetic})
      for (const RowTable<T>& table : *tables) total += table.bytes();
    for (const Pole& pole : poles)
      for (std::size_t c = 0; c < 3; ++c)
        total += pole.aP[c].bytes() + pole.bP[c].bytes() + pole.before[c].allocated_bytes();
    return total;
  }
};

}  // namespace sonde::maxwell::stepping
