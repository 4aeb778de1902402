// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/maxwell/grid/stencil.h"
#include "sonde/instruments/maxwell/propagate/denormals.h"
#include "sonde/instruments/maxwell/propagate/halo.h"
#include "sonde/instruments/maxwell/propagate/lattice.h"
#include "sonde/instruments/maxwell/propagate/plane_hooks.h"
#include "sonde/instruments/maxwell/propagate/problem.h"
#include "sonde/instruments/maxwell/propagate/rows.h"
#include "sonde/instruments/maxwell/propagate/sense.h"
#include "sonde/instruments/maxwell/propagate/threads.h"

namespace sonde::maxwell::stepping {

inline std::size_t which(Component c) { return static_cast<std::size_t>(c); }

/// The taps of one curl term at each index along its axis; one set of them along x, where a row is shifted.
template <class T>
struct Taps {
  std::vector<std::array<Index, 8>> offsets{};  ///< elements from index 0 along the axis; along x from the node
  std::vector<std::array<T, 8>> weights{};
};

template <class T>
Taps<T> taps_of(const Grid& grid, const Lattice& lattice, Component c, const CurlTerm& term) {
  const auto weights = stencil_weights(grid.order());
  const bool shifted = term.along == Axis::x, half = is_half(term.of, term.along);
  Taps<T> made;
  for (Index i = 0; i < (shifted ? 1 : grid.extent(term.along)); ++i) {
    auto& offsets = made.offsets.emplace_back();
    auto& factors = made.weights.emplace_back();
    for (std::size_t m = 0; m < weights.size(); ++m) {
      const auto far = static_cast<Index>(m) + (is_half(c, term.along) ? 1 : 0);  // the tap above; below: its mirror
      const double weight = term.sign * weights[m] / grid.spacing(term.along);
      const auto add = [&](Index at, double sign, std::size_t slot) {
        const WallImage image = shifted ? WallImage{at, 1} : wall_image(at, grid.extent(term.along), half);
        // On a wall, where the weight is 0, the plane beside it is read: other ones may be another thread's.
        const Index inside = image.sign != 0 ? image.index : at == 0 ? 0 : grid.extent(term.along) - 1;
        offsets[slot] = inside * lattice.stride(term.along);
        factors[slot] = static_cast<T>(weight * sign * image.sign);
      };
      add(i + far, 1, 2 * m);
      add(i + far - 2 * static_cast<Index>(m) - 1, -1, 2 * m + 1);
    }
  }
  return made;
}

/// What the layers along an axis add to one curl term: psi in the planes of the layers only.
template <class T>
struct Layer {
  Index low = 0, high = 0, extent = 0;  ///< indices below `low` and from `high` on are inside
  std::vector<T> a, b, k_inverse;
  Array psi;
  Array
      carried;  ///< of a transposed step, in the places of psi: what the layer adds to its component before derivatives

  [[nodiscard]] bool empty() const { return low == 0 && high == extent; }
  [[nodiscard]] bool has(Index i) const { return i < low || i >= high; }
  [[nodiscard]] Index width() const { return low + extent - high; }
  [[nodiscard]] LayerFactors<T> factors(Index i) const { return {a.data() + i, b.data() + i, k_inverse.data() + i}; }
  /// Place of an index among those inside.
  [[nodiscard]] Index slot(Index i) const { return i < low ? i : i - high + low; }
};

template <class T>
std::vector<T> rounded(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

template <class T>
Layer<T> layer_of(const Grid& grid, const Lattice& lattice, Component c, const CurlTerm& term,
                  const PmlProfiles& profiles, bool carries) {
  const PmlLine& line = profiles[dimension(term.along)].at(is_half(c, term.along));
  Layer<T> made{.low = grid.low(term.along),
                .high = grid.extent(term.along) - grid.high(term.along),
                .extent = grid.extent(term.along),
                .a = rounded<T>(line.a),
                .b = rounded<T>(line.b),
                .k_inverse = rounded<T>(line.k_inverse),
                .psi = {},
                .carried = {}};
  if (made.empty()) return made;
  const Triple& n = lattice.extents;
  const Shape shape = term.along == Axis::z   ? Shape{made.width(), n[1], lattice.pitch}
                      : term.along == Axis::y ? Shape{n[0], made.width(), lattice.pitch}
                                              : Shape{n[0], n[1], made.width()};
  made.psi = Array::zeros(Device::cpu(), shape, dtype_of<T>);
  if (carries) made.carried = Array::zeros(Device::cpu(), shape, dtype_of<T>);
  return made;
}

/// The taps of a curl term into what a layer carries, where only the layer's planes are in memory.
template <class T>
Taps<T> carried_taps(const Grid& grid, const Taps<T>& of_field, const Layer<T>& layer, const Lattice& lattice,
                     Axis along) {
  Taps<T> made = of_field;
  if (along == Axis::x) return made;
  const Index stride = lattice.stride(along), in_layer = along == Axis::z ? stride : lattice.pitch;
  const auto order = static_cast<std::size_t>(grid.order());
  for (std::size_t i = 0; i < made.offsets.size(); ++i) {
    // A tap outside of the layer has no weight, and reads what one inside reads: other planes may be another thread's.
    Index within = 0;
    for (std::size_t q = 0; q < order; ++q)
      if (const Index at = made.offsets[i][q] / stride; layer.has(at)) within = layer.slot(at) * in_layer;
    for (std::size_t q = 0; q < order; ++q) {
      const Index at = made.offsets[i][q] / stride;
      if (!layer.has(at)) made.weights[i][q] = 0;
      made.offsets[i][q] = layer.has(at) ? layer.slot(at) * in_layer : within;
    }
  }
  return made;
}

/// The term of `of` that derives c: the other half of the pair.
inline std::size_t paired_term(Component of, Component c) { return curl_terms(of)[0].of == c ? 0 : 1; }

/// A tap of a source, with what a unit of amplitude adds there.
template <class T>
struct Injection {
  Component component;
  std::size_t source;
  Index row, x;
  T added;
};

/// Taps by the plane that they are on.
template <class T>
using Injections = std::vector<std::vector<Injection<T>>>;

template <class T>
struct DebyeRows {
  RowTable<T> aP, bP, cP;
  Array polarisation;
};

/// The fields of one shot in memory, and how a step moves them.
template <class T>
struct Stepper {
  Sense sense;
  Threads threads;
  Problem problem;
  Lattice lattice;
  const RowKernels<T>& kernels;
  Index half_order;
  std::array<Array, 6> fields{};
  std::array<RowTable<T>, 3> ca, cb, cq;
  std::array<std::array<Taps<T>, 2>, 6> taps{};
  std::array<std::array<Layer<T>, 2>, 6> layers{};
  std::array<std::array<Taps<T>, 2>, 6> into_layers{};  ///< of a transposed step
  std::vector<std::array<std::optional<DebyeRows<T>>, 3>> poles{};
  struct Scratch {
    std::vector<T> old;       ///< E of a plane before its step, where there are poles
    std::vector<T> laid_out;  ///< transposed: a row of what layers carry, zero between its ends
  };
  PerWorker<Scratch> scratch;
  HaloBuffers<T> halos{};

  explicit Stepper(const Problem& p, Sense s = Sense::forward, Threads by = Threads::all)
      : Stepper(p, coefficients(p.medium, p.grid, p.dt, p.loss), s, by) {}
  Stepper(const Problem& p, const Coefficients& step, Sense s, Threads by)
      : sense(s),
        threads(by),
        problem(p),
        lattice(p.grid),
        kernels(row_kernels<T>(p.grid.order())),
        half_order(p.grid.order() / 2),
        ca{table(step.ca[0]), table(step.ca[1]), table(step.ca[2])},
        cb{table(step.cb[0]), table(step.cb[1]), table(step.cb[2])},
        cq{table(step.cq[0]), table(step.cq[1]), table(step.cq[2])},
        scratch([this] {
          const Index plane = problem.medium.poles.empty() ? 0 : lattice.extents[1] * lattice.extents[2];
          const Index row = sense == Sense::transposed ? lattice.pitch : 0;
          return Scratch{std::vector<T>(static_cast<std::size_t>(plane)),
                         std::vector<T>(static_cast<std::size_t>(row))};
        }) {
    const Triple& n = lattice.extents;
    for (const Component c : p.grid.components()) {
      fields[which(c)] = Array::zeros(Device::cpu(), {n[0], n[1], lattice.pitch}, dtype_of<T>);
      for (std::size_t t = 0; t < 2; ++t) {
        const CurlTerm term = curl_terms(c)[t];
        if (!p.grid.has(term.of) || !p.grid.has(term.along)) continue;
        taps[which(c)][t] = taps_of<T>(p.grid, lattice, c, term);
        layers[which(c)][t] = layer_of<T>(p.grid, lattice, c, term, p.pml, sense == Sense::transposed);
      }
    }
    if (sense == Sense::transposed) prepare_transposed();
    for (const Coefficients::Pole& pole : step.poles) {
      auto& made = poles.emplace_back();
      for (const Component c : p.grid.components())
        if (is_electric(c))
          made[place(c)] =
              DebyeRows<T>{table(pole.aP[place(c)]), table(pole.bP[place(c)]), table(share_of(pole, step, c)),
                           Array::zeros(Device::cpu(), {n[0], n[1], lattice.pitch}, dtype_of<T>)};
    }
  }

  void prepare_transposed() {
    for (const Component c : problem.grid.components())
      for (std::size_t t = 0; t < 2; ++t)
        if (const CurlTerm term = curl_terms(c)[t]; has_term(c, t))
          if (const Layer<T>& layer = layers[which(term.of)][paired_term(term.of, c)]; !layer.empty())
            into_layers[which(c)][t] = carried_taps(problem.grid, taps[which(c)][t], layer, lattice, term.along);
  }

  /// What a pole adds to E of its old polarisation; transposed what of w it takes, (1 - aP) / dt = cP / cb.
  [[nodiscard]] std::vector<double> share_of(const Coefficients::Pole& pole, const Coefficients& step,
                                             Component c) const {
    std::vector<double> made = pole.cP[place(c)];
    for (std::size_t i = 0; sense == Sense::transposed && i < made.size(); ++i)
      made[i] = made[i] == 0 ? 0 : made[i] / step.cb[place(c)][i];
    return made;
  }

  [[nodiscard]] RowTable<T> table(const std::vector<double>& values) const { return {values, problem.grid.extents()}; }
  [[nodiscard]] T* data(Component c) { return static_cast<T*>(fields[which(c)].data()); }
  [[nodiscard]] T* row_of(Component c, Index k, Index j) { return data(c) + lattice.row(k, j); }
  [[nodiscard]] View<T, 3> field(Component c) {
    View<T, 3> made(row_of(c, 0, 0), lattice.extents[0], lattice.extents[1], lattice.extents[2]);
    made.stride[0] = lattice.stride(Axis::z);
    made.stride[1] = lattice.pitch;
    return made;
  }
  [[nodiscard]] Index width() const { return lattice.extents[2]; }
  /// The same in rows of the padded grid, as the tables count them.
  [[nodiscard]] Index table_row(Index k, Index j) const { return k * lattice.extents[1] + j; }

  [[nodiscard]] bool has_term(Component c, std::size_t t) const { return !taps[which(c)][t].offsets.empty(); }

  [[nodiscard]] Derivative<T> derivative(Component c, std::size_t t, Index k, Index j) {
    const CurlTerm term = curl_terms(c)[t];
    const Taps<T>& from = taps[which(c)][t];
    const T* base = row_of(term.of, term.along == Axis::z ? 0 : k, term.along == Axis::y ? 0 : j);
    const auto i = static_cast<std::size_t>(term.along == Axis::z ? k : term.along == Axis::y ? j : 0);
    Derivative<T> made;
    made.weights = from.weights[i];
    for (Index q = 0; q < 2 * half_order; ++q)
      made.taps[static_cast<std::size_t>(q)] = base + from.offsets[i][static_cast<std::size_t>(q)];
    return made;
  }

  /// Images of the walls at both ends of a row that has been updated: what stencils along x read there.
  void fill_ends(Component c, Index k) {
    for (Index j = 0; j < lattice.extents[1]; ++j) fill_ends(c, row_of(c, k, j));
  }
  void fill_ends(Component c, T* row) const {
    const Index n = width();
    if (is_half(c, Axis::x)) {
      for (Index m = 1; m <= half_order; ++m) {
        row[-m] = row[m - 1];
        row[n + m - 1] = row[n - m];
      }
      return;
    }
    row[n] = 0;
    for (Index m = 1; m <= half_order; ++m) {
      row[-m] = -row[m];
      row[n + m] = -row[n - m];
    }
  }

  void add_layers(Component c, std::size_t t, const RowTable<T>& factors, Index k, Scratch& buffer) {
    if (sense == Sense::transposed) return add_carried(c, t, factors, k, buffer);
    Layer<T>& layer = layers[which(c)][t];
    if (layer.extent == 0 || layer.empty()) return;
    const Axis along = curl_terms(c)[t].along;
    const Index rows = lattice.extents[1];
    T* psi = static_cast<T*>(layer.psi.data());
    if (along == Axis::x) return add_layers_at_ends(c, t, layer, factors, k);
    if (along == Axis::z && layer.has(k))
      kernels.layer(derivative(c, t, k, 0), layer.factors(k), factors.rows(table_row(k, 0)), 0,
                    psi + layer.slot(k) * rows * lattice.pitch, lattice.pitch, row_of(c, k, 0),
                    {rows, lattice.pitch, width()});
    for (Index j = 0; along == Axis::y && j < rows; ++j)
      if (layer.has(j))
        kernels.layer(derivative(c, t, k, j), layer.factors(j), factors.rows(table_row(k, j)), 0,
                      psi + (k * layer.width() + layer.slot(j)) * lattice.pitch, lattice.pitch, row_of(c, k, j),
                      {1, lattice.pitch, width()});
  }

  void add_layers_at_ends(Component c, std::size_t t, Layer<T>& layer, const RowTable<T>& factors, Index k) {
    const auto end = [&](Index first, Index last) {
      if (first == last) return;
      Derivative<T> d = derivative(c, t, k, 0);
      for (const T*& tap : d.taps)
        if (tap != nullptr) tap += first;
      kernels.layer_along_x(d, layer.factors(first), factors.rows(table_row(k, 0)), first,
                            static_cast<T*>(layer.psi.data()) + table_row(k, 0) * layer.width() + layer.slot(first),
                            layer.width(), row_of(c, k, 0) + first, {lattice.extents[1], lattice.pitch, last - first});
    };
    end(0, layer.low);
    end(layer.high, layer.extent);
  }

  /// Transposed: the derivative of what the layers of the other component carry.
  void add_carried(Component c, std::size_t t, const RowTable<T>& factors, Index k, Scratch& buffer) {
    const Taps<T>& from = into_layers[which(c)][t];
    if (from.offsets.empty()) return;
    const CurlTerm term = curl_terms(c)[t];
    const Layer<T>& layer = layers[which(term.of)][paired_term(term.of, c)];
    const T* carried = static_cast<const T*>(layer.carried.data());
    const Index rows = lattice.extents[1];
    if (term.along == Axis::x) {
      for (Index j = 0; j < rows; ++j)
        add_carried_at_ends(c, t, layer, factors[table_row(k, j)], k, j, buffer.laid_out);
      return;
    }
    const auto derived = [&](const T* base, Index i) {
      Derivative<T> d;
      d.weights = from.weights[static_cast<std::size_t>(i)];
      for (std::size_t q = 0; q < static_cast<std::size_t>(2 * half_order); ++q)
        d.taps[q] = base + from.offsets[static_cast<std::size_t>(i)][q];
      return d;
    };
    const auto any = [&](Index i) {
      const auto& weights = from.weights[static_cast<std::size_t>(i)];
      return std::any_of(weights.begin(), weights.end(), [](T weight) { return weight != 0; });
    };
    if (term.along == Axis::z && any(k))
      kernels.magnetic(derived(carried, k), factors.rows(table_row(k, 0)), row_of(c, k, 0),
                       {rows, lattice.pitch, width()});
    for (Index j = 0; term.along == Axis::y && j < rows; ++j)
      if (any(j))
        kernels.magnetic(derived(carried + k * layer.width() * lattice.pitch, j), factors.rows(table_row(k, j)),
                         row_of(c, k, j), {1, lattice.pitch, width()});
  }

  /// Along x only the ends of a row are in memory: the row is laid out, its images too, where the stencils reach.
  void add_carried_at_ends(Component c, std::size_t t, const Layer<T>& layer, const T* factor, Index k, Index j,
                           std::vector<T>& laid_out) {
    const CurlTerm term = curl_terms(c)[t];
    const Taps<T>& from = taps[which(c)][t];
    T* row = laid_out.data() + Lattice::room;
    const T* ends = static_cast<const T*>(layer.carried.data()) + table_row(k, j) * layer.width();
    std::copy_n(ends, layer.low, row);
    std::copy_n(ends + layer.low, layer.extent - layer.high, row + layer.high);
    if (!is_half(term.of, Axis::x)) row[0] = 0;  // a wall: its psi may come from the end of a run that goes on
    fill_ends(term.of, row);
    const auto end = [&](Index first, Index last) {
      if (first >= last) return;
      Derivative<T> d;
      d.weights = from.weights[0];
      for (std::size_t q = 0; q < static_cast<std::size_t>(2 * half_order); ++q)
        d.taps[q] = row + first + from.offsets[0][q];
      const T* there = factor + first;
      kernels.magnetic(d, &there, row_of(c, k, j) + first, {1, lattice.pitch, last - first});
    };
    const Index low = std::min(layer.extent, layer.low > 0 ? layer.low + half_order : 0);
    end(0, low);
    end(std::max(low, layer.high < layer.extent ? layer.high - half_order : layer.extent), layer.extent);
  }

  /// Transposed: moves psi of the layers of a component whose plane is complete, and what they carry of it.
  void carry(bool electric, Index k) {
    for (const Component c : problem.grid.components())
      for (std::size_t t = 0; is_electric(c) == electric && t < 2; ++t)
        if (has_term(c, t) && !layers[which(c)][t].empty()) carry_plane(c, t, layers[which(c)][t], k);
  }

  void carry_plane(Component c, std::size_t t, Layer<T>& layer, Index k) {
    const Axis along = curl_terms(c)[t].along;
    const Index rows = lattice.extents[1];
    const TransposeKernels<T>& with = transpose_kernels<T>();
    T *psi = static_cast<T*>(layer.psi.data()), *carried = static_cast<T*>(layer.carried.data());
    if (along == Axis::x) {
      const auto end = [&](Index first, Index last) {
        const Index at = table_row(k, 0) * layer.width() + layer.slot(first);
        if (first < last)
          with.carry_along_x(row_of(c, k, 0) + first, layer.factors(first), psi + at, carried + at, layer.width(),
                             {rows, lattice.pitch, last - first});
      };
      end(0, layer.low);
      end(layer.high, layer.extent);
      return;
    }
    const auto rows_from = [&](Index j, Index count, Index i, Index row) {
      with.carry(row_of(c, k, j), layer.factors(i), psi + row * lattice.pitch, carried + row * lattice.pitch,
                 lattice.pitch, {count, lattice.pitch, width()});
    };
    if (along == Axis::z && layer.has(k)) rows_from(0, rows, k, layer.slot(k) * rows);
    for (Index j = 0; along == Axis::y && j < rows; ++j)
      if (layer.has(j)) rows_from(j, 1, j, k * layer.width() + layer.slot(j));
  }

  /// Rows of a plane whose taps lie alike: all, but those near walls along y, whose images are elsewhere.
  template <class Body>
  void for_each_block(Component c, const Body& body) const {
    const Index n = lattice.extents[1];
    const bool across =
        (has_term(c, 0) && curl_terms(c)[0].along == Axis::y) || (has_term(c, 1) && curl_terms(c)[1].along == Axis::y);
    const Index near = across ? half_order : 0;
    for (Index j = 0; j < near; ++j) body(j, 1);
    if (n > 2 * near) body(near, n - 2 * near);
    for (Index j = n - near; j < n; ++j) body(j, 1);
  }

  void magnetic_plane(Component c, Index k, Scratch& buffer) {
    const std::size_t h = place(c);
    for_each_block(c, [&](Index j, Index rows) {
      const RowBlock block{rows, lattice.pitch, width()};
      const T* const* factor = cq[h].rows(table_row(k, j));
      if (has_term(c, 0) && has_term(c, 1))
        kernels.magnetic_of_two(derivative(c, 0, k, j), derivative(c, 1, k, j), factor, row_of(c, k, j), block);
      else
        kernels.magnetic(derivative(c, has_term(c, 0) ? 0 : 1, k, j), factor, row_of(c, k, j), block);
    });
    for (std::size_t t = 0; t < 2; ++t) add_layers(c, t, cq[h], k, buffer);
    fill_ends(c, k);
  }

  void electric_plane(Component c, Index k, Scratch& buffer) {
    const std::size_t e = place(c);
    if (!poles.empty())
      for (Index j = 0; j < lattice.extents[1]; ++j)
        std::copy_n(row_of(c, k, j), width(), buffer.old.data() + j * width());
    for_each_block(c, [&](Index j, Index rows) {
      const Index at = table_row(k, j);
      kernels.electric(derivative(c, 0, k, j), derivative(c, 1, k, j), ca[e].rows(at), cb[e].rows(at), row_of(c, k, j),
                       {rows, lattice.pitch, width()});
    });
    for (std::size_t t = 0; t < 2; ++t) add_layers(c, t, cb[e], k, buffer);
    for (Index j = 0; !poles.empty() && j < lattice.extents[1]; ++j)
      relax_row(c, table_row(k, j), row_of(c, k, j), buffer.old.data() + j * width());
    fill_ends(c, k);
  }

  void relax_row(Component c, Index at, T* to, const T* old) {
    if (sense == Sense::transposed) return relax_transposed_row(c, at, to, old);
    const Index n = width();
    const auto polarisation = [&](DebyeRows<T>& pole) {
      return static_cast<T*>(pole.polarisation.data()) + at * lattice.pitch + Lattice::room;
    };
    for (auto& each : poles) {
      const T* p = polarisation(*each[place(c)]);
      const T* cP = each[place(c)]->cP[at];
      for (Index x = 0; x < n; ++x) to[x] += cP[x] * p[x];
    }
    for (auto& each : poles) {
      DebyeRows<T>& pole = *each[place(c)];
      T* p = polarisation(pole);
      const T *aP = pole.aP[at], *bP = pole.bP[at];
      for (Index x = 0; x < n; ++x) p[x] = aP[x] * p[x] + bP[x] * (to[x] + old[x]);
    }
  }

  /// w gets what the poles of this step and of the next one pass on; they take their share of the old w between.
  void relax_transposed_row(Component c, Index at, T* to, const T* old) {
    const T* factor = cb[place(c)][at];
    for (auto& each : poles) {
      DebyeRows<T>& pole = *each[place(c)];
      T* p = static_cast<T*>(pole.polarisation.data()) + at * lattice.pitch + Lattice::room;
      const T *aP = pole.aP[at], *bP = pole.bP[at], *share = pole.cP[at];
      for (Index x = 0; x < width(); ++x) {
        const T next = aP[x] * p[x] + share[x] * old[x];
        to[x] += factor[x] * bP[x] * (p[x] + next);
        p[x] = next;
      }
    }
  }

  void plane(bool electric, Index k, Scratch& buffer) {
    for (const Component c : problem.grid.components()) {
      if (is_electric(c) != electric) continue;
      electric ? electric_plane(c, k, buffer) : magnetic_plane(c, k, buffer);
    }
  }

  [[nodiscard]] Injections<T> injections(const std::vector<Point>& sources) const {
    Injections<T> made(static_cast<std::size_t>(lattice.extents[0]));
    const Triple& n = lattice.extents;
    for (std::size_t s = 0; s < sources.size(); ++s)
      for (const PointTap& tap : sources[s].taps) {
        const Component c = sources[s].component;
        const Index row = tap.node / n[2], x = tap.node % n[2];
        const auto& factor = is_electric(c) ? cb : cq;
        // The step of a conductor leaves zero, so that a hard source sets the field.
        const double by_current =
            -static_cast<double>(factor[place(c)][row][x]) * tap.weight / problem.grid.cell_volume();
        const double by_residual =
            (is_electric(c) ? 1.0 : -1.0) * static_cast<double>(factor[place(c)][row][x]) * tap.weight;
        const auto size = static_cast<T>(sense == Sense::transposed ? by_residual
                                         : sources[s].hard          ? tap.weight
                                                                    : by_current);
        made[static_cast<std::size_t>(row / n[1])].push_back({c, s, row, x, size});
      }
    return made;
  }

  void inject(const std::vector<Injection<T>>& sources, bool electric, std::span<const double> amplitudes) {
    for (const Injection<T>& each : sources) {
      if (is_electric(each.component) != electric) continue;
      const T added = each.added * static_cast<T>(amplitudes[each.source]);
      T* row = data(each.component) + each.row * lattice.pitch + Lattice::room;
      row[each.x] += added;
      for (auto& pole : poles) {
        if (!electric || sense == Sense::transposed) break;
        DebyeRows<T>& rows = *pole[place(each.component)];
        static_cast<T*>(rows.polarisation.data())[each.row * lattice.pitch + Lattice::room + each.x] +=
            rows.bP[each.row][each.x] * added;
      }
      fill_ends(each.component, row);
    }
  }

  void electric_step(Index k, const Injections<T>& sources, std::span<const double> amplitudes, const PlaneHooks& hooks,
                     Scratch& buffer) {
    if (hooks.before_electric) hooks.before_electric(k);
    plane(true, k, buffer);
    inject(sources[static_cast<std::size_t>(k)], true, amplitudes);
    if (hooks.after_electric) hooks.after_electric(k);
    if (sense == Sense::transposed) carry(true, k);
  }

  void magnetic_step(Index k, const Injections<T>& sources, std::span<const double> amplitudes, const PlaneHooks& hooks,
                     Scratch& buffer) {
    if (hooks.before_magnetic) hooks.before_magnetic(k);
    plane(false, k, buffer);
    inject(sources[static_cast<std::size_t>(k)], false, amplitudes);
    if (hooks.after_magnetic) hooks.after_magnetic(k);
    if (sense == Sense::transposed) carry(false, k);
  }

  /// H of the planes [first, last), and behind it the E whose H is all there.
  void sweep(Index first, Index last, const Injections<T>& sources, std::span<const double> amplitudes,
             const PlaneHooks& hooks, Scratch& buffer) {
    const FlushDenormals flush;
    const Index n = lattice.extents[0];
    // E of a plane needs H from half_order planes below to half_order - 1 above; beyond a wall they are images.
    const Index from = first == 0 ? 0 : first + half_order, to = last == n ? n : last - half_order + 1;
    Index next = from;
    const auto electric_up_to = [&](Index end) {
      for (; next < end; ++next) electric_step(next, sources, amplitudes, hooks, buffer);
    };
    for (Index k = first; k < last; ++k) {
      magnetic_step(k, sources, amplitudes, hooks, buffer);
      electric_up_to(std::min(to, k - half_order + 2));
    }
    electric_up_to(to);
  }

  /// Bounds of the parts that are swept by themselves: two per thread, so that a busy neighbour costs its own time
  /// only.
  [[nodiscard]] std::vector<Index> parts() const {
    const Index n = lattice.extents[0], least = 4 * half_order;
    const bool one = threads == Threads::one || thread_count() == 1;
    const Index count = one ? 1 : std::clamp<Index>(n / least, 1, 2 * thread_count());
    std::vector<Index> bounds;
    for (Index i = 0; i <= count; ++i) bounds.push_back(n * i / count);
    return bounds;
  }

  void step(const std::vector<Index>& bounds, const Injections<T>& sources, std::span<const double> amplitudes,
            const PlaneHooks& hooks = {}) {
    step_planes(bounds, sources, amplitudes, hooks);
    if (problem.part) exchange_halos(*this, halos);
  }

  void step_planes(const std::vector<Index>& bounds, const Injections<T>& sources, std::span<const double> amplitudes,
                   const PlaneHooks& hooks) {
    const auto count = static_cast<Index>(bounds.size()) - 1;
    if (count == 1) {
      Worker alone;
      return sweep(bounds[0], bounds[1], sources, amplitudes, hooks, scratch[alone]);
    }
    parallel_for(count, 1, [&](Index first, Index last, Worker& worker) {
      for (Index i = first; i < last; ++i)
        sweep(bounds[static_cast<std::size_t>(i)], bounds[static_cast<std::size_t>(i) + 1], sources, amplitudes, hooks,
              scratch[worker]);
    });
    // The planes of E about each bound, which need H of both parts.
    const Index between = 2 * half_order - 1;
    parallel_for(count - 1, 1, [&](Index first, Index last, Worker& worker) {
      const FlushDenormals flush;
      for (Index i = first; i < last; ++i)
        for (Index at = 0; at < between; ++at) {
          const Index k = bounds[static_cast<std::size_t>(i) + 1] - half_order + 1 + at;
          electric_step(k, sources, amplitudes, hooks, scratch[worker]);
        }
    });
  }

  /// The fields of one kind in all planes: half of what step() does in one go.
  void half_step(bool electric, const Injections<T>& sources, std::span<const double> amplitudes,
                 const PlaneHooks& hooks) {
    const Index n = lattice.extents[0];
    const auto planes = [&](Index first, Index last, Worker& worker) {
      const FlushDenormals flush;
      for (Index k = first; k < last; ++k)
        electric ? electric_step(k, sources, amplitudes, hooks, scratch[worker])
                 : magnetic_step(k, sources, amplitudes, hooks, scratch[worker]);
    };
    if (threads == Threads::one) {
      Worker alone;
      return planes(0, n, alone);
    }
    parallel_for(n, (n + 2 * thread_count() - 1) / (2 * thread_count()), planes);
  }

  void read(const std::vector<Point>& receivers, std::span<double> samples) {
    for (std::size_t r = 0; r < receivers.size(); ++r) {
      double sum = 0;
      for (const PointTap& tap : receivers[r].taps) {
        const Index row = tap.node / width();
        sum += tap.weight * static_cast<double>(
                                data(receivers[r].component)[row * lattice.pitch + Lattice::room + tap.node % width()]);
      }
      samples[r] = sum;
    }
  }

  /// Calls body(values of a State, row in memory, first element of that row in the State) for each row of the fields,
  /// of psi and of poles.
  template <class AnyState, class Body>
  void for_each_state_row(AnyState& state, const Body& body) {
    const Triple& n = lattice.extents;
    for (const Component c : problem.grid.components())
      for (Index k = 0; k < n[0]; ++k)
        for (Index j = 0; j < n[1]; ++j) {
          const Index first = table_row(k, j) * n[2];
          body(state.fields[which(c)], row_of(c, k, j), first, n[2], 1);
          for (std::size_t t = 0; t < 2; ++t) psi_rows(state.psi[which(c)][t], c, t, k, j, first, body);
          for (std::size_t p = 0; is_electric(c) && p < poles.size(); ++p)
            body(state.polarisation[p][place(c)],
                 static_cast<T*>(poles[p][place(c)]->polarisation.data()) + lattice.row(k, j), first, n[2], 1);
        }
  }

  /// psi is kept with the sign of its curl term.
  template <class Values, class Body>
  void psi_rows(Values& values, Component c, std::size_t t, Index k, Index j, Index first, const Body& body) {
    Layer<T>& layer = layers[which(c)][t];
    if (layer.extent == 0 || layer.empty()) return;
    const CurlTerm term = curl_terms(c)[t];
    T* psi = static_cast<T*>(layer.psi.data());
    if (term.along == Axis::x) {
      psi += table_row(k, j) * layer.width();
      body(values, psi, first, layer.low, term.sign);
      body(values, psi + layer.low, first + layer.high, layer.extent - layer.high, term.sign);
      return;
    }
    const Index i = term.along == Axis::z ? k : j;
    if (!layer.has(i)) return;
    psi += (term.along == Axis::z ? layer.slot(i) * lattice.extents[1] + j : k * layer.width() + layer.slot(i)) *
           lattice.pitch;
    body(values, psi, first, width(), term.sign);
  }

  /// Calls body(elements, count) for all that a step changes.
  template <class Body>
  void for_each_changing(const Body& body) {
    const auto visit = [&](Array& array) {
      if (!array.empty()) body(static_cast<T*>(array.data()), static_cast<std::size_t>(array.count()));
    };
    for (Array& field : fields) visit(field);
    for (auto& component : layers)
      for (Layer<T>& layer : component) {
        visit(layer.psi);
        visit(layer.carried);
      }
    for (auto& pole : poles)
      for (auto& rows : pole)
        if (rows) visit(rows->polarisation);
  }

  void clear() {
    for_each_changing([](T* elements, std::size_t count) { std::fill_n(elements, count, T(0)); });
  }
  static void zero(Array& array) {
    if (!array.empty()) std::fill_n(static_cast<T*>(array.data()), array.count(), T(0));
  }

  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Array& field : fields) sum += field.allocated_bytes();
    for (const auto* tables : {&ca, &cb, &cq})
      for (const RowTable<T>& table : *tables) sum += table.bytes();
    for (const auto& component : layers)
      for (const Layer<T>& layer : component) sum += layer.psi.allocated_bytes() + layer.carried.allocated_bytes();
    for (const auto& pole : poles)
      for (const auto& rows : pole)
        if (rows) sum += rows->polarisation.allocated_bytes() + rows->aP.bytes() + rows->bP.bytes() + rows->cP.bytes();
    return sum;
  }

  /// Values on walls and in conductors are taken as zero.
  void set_state(const State& state) {
    for_each_state_row(state, [](const std::vector<double>& values, T* row, Index first, Index count, int sign) {
      for (Index x = 0; x < count; ++x) row[x] = static_cast<T>(sign * values[static_cast<std::size_t>(first + x)]);
    });
    clear_walls();
  }

  /// What the memory holds, as a State.
  [[nodiscard]] State state() {
    State made = make_state(problem);
    for_each_state_row(made, [](std::vector<double>& values, const T* row, Index first, Index count, int sign) {
      for (Index x = 0; x < count; ++x)
        values[static_cast<std::size_t>(first + x)] = sign * static_cast<double>(row[x]);
    });
    return made;
  }

  void clear_walls() {
    for (const Component c : problem.grid.components())
      for (Index k = 0; k < lattice.extents[0]; ++k)
        for (Index j = 0; j < lattice.extents[1]; ++j) {
          T* to = row_of(c, k, j);
          for (Index x = 0; is_electric(c) && x < width(); ++x)
            if (cb[place(c)][table_row(k, j)][x] == 0) to[x] = 0;
          fill_ends(c, to);
        }
  }
};

}  // namespace sonde::maxwell::stepping
