// SPDX-License-Identifier: Apache-2.0
// Private to the room: what the sweeps backwards have in common.
#pragma once

#include <algorithm>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/propagate/back_propagator.h"
#include "sonde/instruments/maxwell/propagate/stepper.h"

namespace sonde::maxwell::stepping {

/// Sums over a sweep, in rows of the lattice; empty where they are not wanted.
template <class T>
struct SumArrays {
  const Grid& grid;
  Lattice lattice;
  std::array<Array, 3> difference{}, sum{}, magnetic{}, difference_squares{}, sum_squares{};
  struct Pole {
    std::array<Array, 3> sum{}, held{};
  };
  std::vector<Pole> poles{};

  explicit SumArrays(const Grid& on) : grid(on), lattice(on) {}

  void make(const Wanted& wanted, std::size_t pole_count = 0) {
    const Triple& n = lattice.extents;
    const auto keep = [&](Array& array, bool wished) {
      if (!wished)
        array = {};
      else if (array.empty())
        array = Array::zeros(Device::cpu(), {n[0], n[1], lattice.pitch}, dtype_of<T>);
    };
    poles.resize(wanted.poles ? pole_count : 0);
    for (const Component c : grid.components()) {
      if (!is_electric(c)) {
        keep(magnetic[place(c)], wanted.magnetic);
        continue;
      }
      keep(difference[place(c)], wanted.difference);
      keep(sum[place(c)], wanted.sum);
      keep(difference_squares[place(c)], wanted.difference && wanted.squares);
      keep(sum_squares[place(c)], wanted.sum && wanted.squares);
      for (Pole& pole : poles)
        for (auto* arrays : {&pole.sum, &pole.held}) keep((*arrays)[place(c)], true);
    }
  }

  [[nodiscard]] T* row_in(Array& array, Index k, Index j) const {
    return array.empty() ? nullptr : static_cast<T*>(array.data()) + lattice.row(k, j);
  }

  /// Adds what w or u of rows and the kept fields of the step give; v of H is -u.
  void add(Stepper<T>& weights, bool electric, const PlaneRows& rows, const KeptFields<T>& kept) {
    const NodeBox box = kept.box();
    const Index k = rows.k, n = rows.step;
    if (k < box.first[0] || k >= box.last[0]) return;
    const Index first = box.first[2], first_row = std::max(rows.first, box.first[1]),
                last_row = std::min(rows.last, box.last[1]);
    const auto from_first = [&](Array& array, Index j) {
      T* row = row_in(array, k, j);
      return row == nullptr ? nullptr : row + first;
    };
    for (const Component c : grid.components())
      for (Index j = first_row; is_electric(c) == electric && j < last_row; ++j) {
        const typename KeptFields<T>::Row row = kept.row(n, c, k, j);
        add_row(row, weights.row_of(c, k, j) + first, electric ? T(1) : T(-1),
                from_first(electric ? difference[place(c)] : magnetic[place(c)], j),
                electric ? from_first(sum[place(c)], j) : nullptr, box.extent(2));
        if (electric)
          add_squares(row, from_first(difference_squares[place(c)], j), from_first(sum_squares[place(c)], j),
                      box.extent(2));
        for (std::size_t p = 0; electric && p < poles.size(); ++p)
          add_pole(row, kept.pole_row(n, p, c, k, j), weights, p, c, k, j, first, box.extent(2));
      }
  }

  [[nodiscard]] SweepSums taken() const {
    SweepSums made;
    const auto take = [&](const Array& array, std::vector<double>& values) {
      if (array.empty()) return;
      values.reserve(static_cast<std::size_t>(grid.count()));
      for (Index k = 0; k < grid.extent(Axis::z); ++k)
        for (Index j = 0; j < grid.extent(Axis::y); ++j) {
          const T* row = static_cast<const T*>(array.data()) + lattice.row(k, j);
          values.insert(values.end(), row, row + grid.extent(Axis::x));
        }
    };
    for (std::size_t c = 0; c < 3; ++c) {
      take(difference[c], made.difference[c]);
      take(sum[c], made.sum[c]);
      take(magnetic[c], made.magnetic[c]);
      take(difference_squares[c], made.difference_squares[c]);
      take(sum_squares[c], made.sum_squares[c]);
      made.poles.resize(poles.size());
      for (std::size_t p = 0; p < poles.size(); ++p) {
        take(poles[p].sum[c], made.poles[p].sum[c]);
        take(poles[p].held[c], made.poles[p].held[c]);
      }
    }
    return made;
  }

  template <class Body>
  void for_each_array(const Body& body) {
    for (auto* arrays : {&difference, &sum, &magnetic, &difference_squares, &sum_squares})
      for (Array& array : *arrays) body(array);
    for (Pole& pole : poles)
      for (auto* arrays : {&pole.sum, &pole.held})
        for (Array& array : *arrays) body(array);
  }

  void clear() {
    for_each_array([](Array& array) {
      if (!array.empty()) std::fill_n(static_cast<T*>(array.data()), array.count(), T(0));
    });
  }

  [[nodiscard]] std::size_t bytes() {
    std::size_t total = 0;
    for_each_array([&](const Array& array) { total += array.allocated_bytes(); });
    return total;
  }

 private:
  /// Adds sign w (new - old) and sign w (new + old), where there is a place for them.
  static void add_row(const typename KeptFields<T>::Row& kept, const T* w, T sign, T* differences, T* sums,
                      Index width) {
    const TransposeKernels<T>& with = transpose_kernels<T>();
    if (kept.before != nullptr) return with.add_changes(w, sign, kept.before, kept.after, differences, sums, width);
    if (differences != nullptr) with.add_products(w, sign, kept.difference, differences, width);
    if (sums != nullptr) with.add_products(w, sign, kept.sum, sums, width);
  }
  /// q = lambda_P - w / dt, before the pole takes its share of w.
  void add_pole(const typename KeptFields<T>::Row& kept, const T* held, Stepper<T>& weights, std::size_t p, Component c,
                Index k, Index j, Index first, Index width) {
    const auto& pole = *weights.poles[p][place(c)];
    const T* lambda = static_cast<const T*>(pole.polarisation.data()) + lattice.row(k, j) + first;
    const T* w = weights.row_of(c, k, j) + first;
    const T per_step = static_cast<T>(1 / weights.problem.dt);
    T *sums = row_in(poles[p].sum[place(c)], k, j) + first, *helds = row_in(poles[p].held[place(c)], k, j) + first;
    for (Index x = 0; x < width; ++x) {
      const T q = lambda[x] - w[x] * per_step;
      sums[x] += q * (kept.sum != nullptr ? kept.sum[x] : kept.after[x] + kept.before[x]);
      if (held != nullptr) helds[x] += q * held[x];
    }
  }
  static void add_squares(const typename KeptFields<T>::Row& kept, T* differences, T* sums, Index width) {
    const auto add = [&](const T* change, T sign, T* to) {
      if (to == nullptr) return;
      // A change that is kept is its own sum with nothing.
      const bool both = kept.before != nullptr;
      transpose_kernels<T>().add_squares(both ? kept.after : change, both ? kept.before : change, both ? sign : T(0),
                                         to, width);
    };
    add(kept.difference, T(-1), differences);
    add(kept.sum, T(1), sums);
  }
};

/// The gradient of the amplitudes of step t of a pass, of E before it moves and of H after it: of J it is -w, of M -v =
/// u.
template <class T>
void read_sources(Probes<T>& probes, Index t, const Grid& grid, std::span<double> samples) {
  probes.take(t, samples);
  for (std::size_t s = 0; s < samples.size(); ++s)
    samples[s] *= (is_electric(probes.points[s].component) ? -1 : 1) / grid.cell_volume();
}

/// The residual that enters in the step of n: of E that of the step before it, because w is complete before it moves.
struct Residuals {
  const std::vector<Point>& receivers;
  std::span<const double> samples;  ///< [step][receiver]; empty: none
  std::vector<double> now{};

  /// Of `count` steps, n first and then falling.
  std::span<const double> of_steps(Index n, Index count) {
    now.clear();
    for (Index t = 0; t < count; ++t)
      for (std::size_t r = 0; r < receivers.size(); ++r)
        now.push_back(sample(is_electric(receivers[r].component) ? n - t - 1 : n - t, r));
    return now;
  }
  /// That of the last E, which enters before anything moves.
  std::span<const double> of_end(Index steps) {
    now.clear();
    for (std::size_t r = 0; r < receivers.size(); ++r) now.push_back(sample(steps - 1, r));
    return now;
  }

 private:
  [[nodiscard]] double sample(Index n, std::size_t r) const {
    return n < 0 || samples.empty() ? 0 : samples[static_cast<std::size_t>(n) * receivers.size() + r];
  }
};

/// Throws Error(not_supported) for hard sources.
inline void require_currents(const Acquisition& shot) {
  if (std::any_of(shot.sources.begin(), shot.sources.end(), [](const Point& point) { return point.hard; }))
    throw Error(ErrorKind::not_supported, "a source that sets the field has no gradient of its current");
}

}  // namespace sonde::maxwell::stepping
