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

/// Along x psi has two arrays of rows of whole vectors, one for each end: nodes behind the layer are gone through too,
/// where its factors are those of no layer. What is carried is zero there, and in the margin that stencils reach into.
struct LayerEnd {
  Index first = 0, last = 0;    ///< nodes
  Index margin = 0, pitch = 0;  ///< elements of a row, before `first` and in all
  Index place = 0;              ///< of `first` in row 0
  [[nodiscard]] Index width() const { return last - first; }
};

inline std::array<LayerEnd, 2> layer_ends(Index low, Index high, Index extent, Index reach, Index rows) {
  constexpr Index vector = 8, room = 8;  // elements; stencils reach 4 far
  const auto whole = [&](Index nodes) {
    return nodes == 0 ? 0 : std::min(extent, (nodes + reach + vector - 1) / vector * vector);
  };
  const Index margin = reach > 0 ? room : 0, at_low = whole(low), at_high = whole(extent - high),
              low_pitch = at_low + 2 * margin, high_pitch = at_high + 2 * margin;
  return {LayerEnd{0, at_low, margin, low_pitch, margin},
          LayerEnd{extent - at_high, extent, margin, high_pitch, rows * low_pitch + margin}};
}

/// Elements of psi of a curl term; `reach` of stencils where the layers carry what they derive, else 0.
inline Index psi_elements(const Grid& grid, const Lattice& lattice, const CurlTerm& term, Index reach) {
  const Index low = grid.low(term.along), high = grid.high(term.along), extent = grid.extent(term.along);
  if (term.along != Axis::x) return lattice.elements() / extent * (low + high);
  const auto [below, above] = layer_ends(low, extent - high, extent, reach, lattice.rows());
  return lattice.rows() * (below.pitch + above.pitch);
}

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
  const Shape shape{psi_elements(grid, lattice, term, carries ? grid.order() / 2 : 0)};
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

/// Values of the fields at the taps of points in each step of a pass: of H behind its step, of E behind its step too,
/// but before it in a transposed one.
template <class T>
struct Probes {
  struct Tap {
    Component component;
    Index row, x;
    std::size_t slot;
  };
  const std::vector<Point>& points;
  std::vector<std::vector<Tap>> planes;
  std::size_t taps = 0;
  std::vector<T> values{};  ///< [step][tap]

  Probes(const std::vector<Point>& of, const Lattice& lattice)
      : points(of), planes(static_cast<std::size_t>(lattice.extents[0])) {
    const Triple& n = lattice.extents;
    for (const Point& point : points)
      for (const PointTap& tap : point.taps) {
        const Index row = tap.node / n[2];
        planes[static_cast<std::size_t>(row / n[1])].push_back({point.component, row, tap.node % n[2], taps++});
      }
  }
  void begin(Index steps) { values.assign(static_cast<std::size_t>(steps) * taps, T(0)); }
  [[nodiscard]] T& value(Index t, std::size_t slot) { return values[static_cast<std::size_t>(t) * taps + slot]; }

  /// Sums over the taps of each point.
  void take(Index t, std::span<double> samples) {
    std::size_t slot = 0;
    for (std::size_t p = 0; p < points.size(); ++p) {
      samples[p] = 0;
      for (const PointTap& tap : points[p].taps) samples[p] += tap.weight * static_cast<double>(value(t, slot++));
    }
  }
};

/// Planes of z that a thread takes through the steps of a pass by itself. H and E of a step need each other's planes
/// about their own, so that between two tiles that narrow from step to step one is left that widens.
struct Tile {
  enum class Edge { wall, narrows, widens };
  Index low = 0, high = 0;
  Edge below = Edge::wall, above = Edge::wall;
};

/// Steps that go through memory together. Steps of a sweep backwards have falling numbers.
template <class T>
struct Pass {
  Index first_step = 0, steps = 1;
  int direction = 1;
  const Injections<T>& sources;
  std::span<const double> amplitudes{};  ///< [step][source]
  const PlaneHooks& hooks;
  Probes<T>* probes = nullptr;

  [[nodiscard]] Index step_of(Index t) const { return first_step + direction * t; }
  [[nodiscard]] std::span<const double> amplitudes_of(Index t) const {
    const std::size_t each = amplitudes.size() / static_cast<std::size_t>(steps);
    return amplitudes.subspan(static_cast<std::size_t>(t) * each, each);
  }
};

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
  Problem problem;  ///< without its medium
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
    std::vector<T> old;  ///< E of rows before their step, where there are poles
  };
  /// A thread's part of a last-level cache of 16 MiB. Strips for the second level were slower: short rows of many
  /// planes.
  Index strip_bytes = 4 << 20;
  PerWorker<Scratch> scratch;
  HaloBuffers<T> halos{};

  explicit Stepper(const Problem& p, Sense s = Sense::forward, Threads by = Threads::all)
      : Stepper(p, coefficients(p.medium, p.grid, p.dt, p.loss), s, by) {}
  Stepper(const Problem& p, const Coefficients& step, Sense s, Threads by)
      : sense(s),
        threads(by),
        problem(without_medium(p)),
        lattice(p.grid),
        kernels(row_kernels<T>(p.grid.order())),
        half_order(p.grid.order() / 2),
        ca{table(step.ca[0]), table(step.ca[1]), table(step.ca[2])},
        cb{table(step.cb[0]), table(step.cb[1]), table(step.cb[2])},
        cq{table(step.cq[0]), table(step.cq[1]), table(step.cq[2])},
        scratch([this] {
          const Index plane = problem.medium.poles.empty() ? 0 : lattice.extents[1] * lattice.extents[2];
          return Scratch{std::vector<T>(static_cast<std::size_t>(plane))};
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
    made.pitch = lattice.pitch;
    made.weights = from.weights[i];
    for (Index q = 0; q < 2 * half_order; ++q)
      made.taps[static_cast<std::size_t>(q)] = base + from.offsets[i][static_cast<std::size_t>(q)];
    return made;
  }

  /// Images of the walls at both ends of a row that has been updated: what stencils along x read there.
  void fill_ends(Component c, T* row) const {
    fill_low_end(c, row);
    fill_high_end(c, row + width());
  }
  void fill_low_end(Component c, T* row) const {
    const bool half = is_half(c, Axis::x);
    for (Index m = 1; m <= half_order; ++m) row[-m] = half ? row[m - 1] : -row[m];
  }
  void fill_high_end(Component c, T* behind) const {
    const bool half = is_half(c, Axis::x);
    if (!half) behind[0] = 0;
    for (Index m = 1; m <= half_order; ++m) (half ? behind[m - 1] : behind[m]) = half ? behind[-m] : -behind[-m];
  }

  [[nodiscard]] std::array<LayerEnd, 2> ends_of(const Layer<T>& layer) const {
    const Index reach = sense == Sense::transposed ? half_order : 0;
    return layer_ends(layer.low, layer.high, layer.extent, reach, lattice.rows());
  }
  /// Without nodes of the layer at the other end.
  [[nodiscard]] std::array<LayerEnd, 2> ends_inside(const Layer<T>& layer) const {
    std::array<LayerEnd, 2> made = ends_of(layer);
    made[0].last = std::min(made[0].last, layer.high);
    const Index more = std::max<Index>(0, layer.low - made[1].first);
    made[1].first += more;
    made[1].place += more;
    return made;
  }

  void add_layers(Component c, std::size_t t, const RowTable<T>& factors, const PlaneRows& at) {
    if (sense == Sense::transposed) return add_carried(c, t, factors, at);
    Layer<T>& layer = layers[which(c)][t];
    if (layer.extent == 0 || layer.empty()) return;
    const Axis along = curl_terms(c)[t].along;
    T* psi = static_cast<T*>(layer.psi.data());
    if (along == Axis::x) return add_layers_at_ends(c, t, layer, factors, at);
    const auto add = [&](Index j, Index rows, Index i, Index psi_row) {
      kernels.layer(derivative(c, t, at.k, j), layer.factors(i), along == Axis::y ? 1 : 0,
                    factors.rows(table_row(at.k, j)), psi + psi_row * lattice.pitch, lattice.pitch, row_of(c, at.k, j),
                    {rows, lattice.pitch, width()});
    };
    if (along == Axis::z && layer.has(at.k))
      add(at.first, at.last - at.first, at.k, layer.slot(at.k) * lattice.extents[1] + at.first);
    if (along == Axis::y)
      for_each_block(c, at, [&](Index first, Index count) {
        for_each_side(layer, first, first + count,
                      [&](Index j, Index end) { add(j, end - j, j, at.k * layer.width() + layer.slot(j)); });
      });
  }

  /// Those of the indices [first, last) that are in a layer, below and above.
  template <class Body>
  static void for_each_side(const Layer<T>& layer, Index first, Index last, const Body& body) {
    if (const Index end = std::min(last, layer.low); first < end) body(first, end);
    if (const Index begin = std::max(first, layer.high); begin < last) body(begin, last);
  }

  void add_layers_at_ends(Component c, std::size_t t, Layer<T>& layer, const RowTable<T>& factors,
                          const PlaneRows& at) {
    const Index row = table_row(at.k, at.first);
    for (const LayerEnd& end : ends_inside(layer)) {
      if (end.width() <= 0) continue;
      Derivative<T> d = derivative(c, t, at.k, at.first);
      for (const T*& tap : d.taps)
        if (tap != nullptr) tap += end.first;
      kernels.layer_along_x(d, layer.factors(end.first), factors.rows(row), end.first,
                            static_cast<T*>(layer.psi.data()) + row * end.pitch + end.place, end.pitch,
                            row_of(c, at.k, at.first) + end.first, {at.last - at.first, lattice.pitch, end.width()});
    }
  }

  /// Transposed: the derivative of what the layers of the other component carry.
  void add_carried(Component c, std::size_t t, const RowTable<T>& factors, const PlaneRows& at) {
    const Taps<T>& from = into_layers[which(c)][t];
    if (from.offsets.empty()) return;
    const CurlTerm term = curl_terms(c)[t];
    const Layer<T>& layer = layers[which(term.of)][paired_term(term.of, c)];
    const T* carried = static_cast<const T*>(layer.carried.data());
    const auto add = [&](const T* base, Index i, Index j, Index rows, LayerEnd part, Index pitch) {
      const auto& offsets = from.offsets[static_cast<std::size_t>(i)];
      Derivative<T> d{.weights = from.weights[static_cast<std::size_t>(i)], .pitch = pitch};
      if (std::all_of(d.weights.begin(), d.weights.end(), [](T weight) { return weight == 0; })) return;
      for (std::size_t q = 0; q < static_cast<std::size_t>(2 * half_order); ++q) d.taps[q] = base + offsets[q];
      kernels.magnetic(d, factors.rows(table_row(at.k, j)), part.first, row_of(c, at.k, j) + part.first,
                       {rows, lattice.pitch, part.width()});
    };
    const LayerEnd whole{0, width()};
    if (term.along == Axis::x) {
      for (const LayerEnd& end : ends_of(layer))
        if (end.width() > 0)
          add(carried + table_row(at.k, at.first) * end.pitch + end.place, 0, at.first, at.last - at.first, end,
              end.pitch);
    } else if (term.along == Axis::z) {
      add(carried + at.first * lattice.pitch, at.k, at.first, at.last - at.first, whole, lattice.pitch);
    } else {
      for (Index j = at.first; j < at.last; ++j)
        add(carried + at.k * layer.width() * lattice.pitch, j, j, 1, whole, lattice.pitch);
    }
  }

  /// Transposed: moves psi of the layers of a component whose rows are complete, and what they carry of it.
  void carry(bool electric, const PlaneRows& at) {
    for (const Component c : problem.grid.components())
      for (std::size_t t = 0; is_electric(c) == electric && t < 2; ++t)
        if (has_term(c, t) && !layers[which(c)][t].empty()) carry_rows(c, t, layers[which(c)][t], at);
  }

  void carry_rows(Component c, std::size_t t, Layer<T>& layer, const PlaneRows& at) {
    const Axis along = curl_terms(c)[t].along;
    const TransposeKernels<T>& with = transpose_kernels<T>();
    T *psi = static_cast<T*>(layer.psi.data()), *carried = static_cast<T*>(layer.carried.data());
    if (along == Axis::x) return carry_at_ends(c, layer, at);
    const auto rows_from = [&](Index j, Index end, Index i, Index row) {
      with.carry(row_of(c, at.k, j), layer.factors(i), along == Axis::y ? 1 : 0, psi + row * lattice.pitch,
                 carried + row * lattice.pitch, lattice.pitch, {end - j, lattice.pitch, width()});
    };
    if (along == Axis::z && layer.has(at.k))
      rows_from(at.first, at.last, at.k, layer.slot(at.k) * lattice.extents[1] + at.first);
    if (along == Axis::y)
      for_each_side(layer, at.first, at.last,
                    [&](Index j, Index end) { rows_from(j, end, j, at.k * layer.width() + layer.slot(j)); });
  }

  void carry_at_ends(Component c, Layer<T>& layer, const PlaneRows& at) {
    const Index rows = at.last - at.first, row = table_row(at.k, at.first);
    T *psi = static_cast<T*>(layer.psi.data()), *carried = static_cast<T*>(layer.carried.data());
    for (const LayerEnd& end : ends_inside(layer))
      if (end.width() > 0)
        transpose_kernels<T>().carry_along_x(row_of(c, at.k, at.first) + end.first, layer.factors(end.first),
                                             psi + row * end.pitch + end.place, carried + row * end.pitch + end.place,
                                             end.pitch, {rows, lattice.pitch, end.width()});
    for (Index j = row; j < row + rows; ++j) fill_carried_ends(c, layer, j);
  }
  /// Images of the walls of what is carried in a row.
  void fill_carried_ends(Component c, Layer<T>& layer, Index row) const {
    for (const LayerEnd& end : ends_of(layer)) {
      if (end.width() == 0) continue;
      T* from = static_cast<T*>(layer.carried.data()) + row * end.pitch + end.place;
      if (end.first == 0 && !is_half(c, Axis::x)) from[0] = 0;  // psi may come from the end of a run that goes on
      if (end.first == 0) fill_low_end(c, from);
      if (end.last == layer.extent) fill_high_end(c, from + end.width());
    }
  }

  /// Rows of a plane whose taps lie alike: all, but those near walls along y, whose images are elsewhere.
  template <class Body>
  void for_each_block(Component c, const PlaneRows& at, const Body& body) const {
    const bool across =
        (has_term(c, 0) && curl_terms(c)[0].along == Axis::y) || (has_term(c, 1) && curl_terms(c)[1].along == Axis::y);
    const Index near = across ? half_order : 0, n = lattice.extents[1];
    const Index low = std::clamp(near, at.first, at.last), high = std::clamp(n - near, low, at.last);
    for (Index j = at.first; j < low; ++j) body(j, 1);
    if (low < high) body(low, high - low);
    for (Index j = high; j < at.last; ++j) body(j, 1);
  }

  void magnetic_rows(Component c, const PlaneRows& at) {
    const std::size_t h = place(c);
    for_each_block(c, at, [&](Index j, Index rows) {
      const RowBlock block{rows, lattice.pitch, width()};
      const T* const* factor = cq[h].rows(table_row(at.k, j));
      if (has_term(c, 0) && has_term(c, 1))
        kernels.magnetic_of_two(derivative(c, 0, at.k, j), derivative(c, 1, at.k, j), factor, row_of(c, at.k, j),
                                block);
      else
        kernels.magnetic(derivative(c, has_term(c, 0) ? 0 : 1, at.k, j), factor, 0, row_of(c, at.k, j), block);
    });
    for (std::size_t t = 0; t < 2; ++t) add_layers(c, t, cq[h], at);
  }

  void electric_rows(Component c, const PlaneRows& at, Scratch& buffer) {
    const std::size_t e = place(c);
    const auto old = [&](Index j) { return buffer.old.data() + (j - at.first) * width(); };
    if (!poles.empty())
      for (Index j = at.first; j < at.last; ++j) std::copy_n(row_of(c, at.k, j), width(), old(j));
    for_each_block(c, at, [&](Index j, Index rows) {
      const Index row = table_row(at.k, j);
      kernels.electric(derivative(c, 0, at.k, j), derivative(c, 1, at.k, j), ca[e].rows(row), cb[e].rows(row),
                       row_of(c, at.k, j), {rows, lattice.pitch, width()});
    });
    for (std::size_t t = 0; t < 2; ++t) add_layers(c, t, cb[e], at);
    for (Index j = at.first; !poles.empty() && j < at.last; ++j)
      relax_row(c, table_row(at.k, j), row_of(c, at.k, j), old(j));
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

  /// H or E of rows of a plane, without what sources add.
  void move_rows(bool electric, const PlaneRows& at, Scratch& buffer) {
    for (const Component c : problem.grid.components()) {
      if (is_electric(c) != electric) continue;
      electric ? electric_rows(c, at, buffer) : magnetic_rows(c, at);
      for (Index j = at.first; j < at.last; ++j) fill_ends(c, row_of(c, at.k, j));
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

  void inject(const std::vector<Injection<T>>& sources, bool electric, const PlaneRows& at,
              std::span<const double> amplitudes) {
    const Index first = table_row(at.k, at.first), last = table_row(at.k, at.last);
    for (const Injection<T>& each : sources) {
      if (is_electric(each.component) != electric || each.row < first || each.row >= last) continue;
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

  /// All that a step does to rows of a plane.
  void step_rows(bool electric, const PlaneRows& at, Index t, const Pass<T>& pass, Scratch& buffer) {
    const PlaneHooks& hooks = pass.hooks;
    const auto call = [&](const PlaneHooks::Hook& hook) {
      if (hook) hook(at);
    };
    call(electric ? hooks.before_electric : hooks.before_magnetic);
    if (electric && pass.probes != nullptr && sense == Sense::transposed) probe(*pass.probes, electric, at, t);
    move_rows(electric, at, buffer);
    inject(pass.sources[static_cast<std::size_t>(at.k)], electric, at, pass.amplitudes_of(t));
    call(electric ? hooks.after_electric : hooks.after_magnetic);
    if (pass.probes != nullptr && (!electric || sense == Sense::forward)) probe(*pass.probes, electric, at, t);
    if (sense == Sense::transposed) carry(electric, at);
  }

  void probe(Probes<T>& probes, bool electric, const PlaneRows& at, Index t) {
    const Index first = table_row(at.k, at.first), last = table_row(at.k, at.last);
    for (const auto& tap : probes.planes[static_cast<std::size_t>(at.k)])
      if (is_electric(tap.component) == electric && tap.row >= first && tap.row < last)
        probes.value(t, tap.slot) = data(tap.component)[tap.row * lattice.pitch + Lattice::room + tap.x];
  }
  /// How many steps, at most `most` and by itself at most 4, go through memory together: as many as still let every
  /// thread have a part of its own, and make strips wide beside what they move down by.
  [[nodiscard]] Index steps_at_once(Index most, Index asked = 0) const {
    const Index wanted = threads == Threads::one ? 1 : thread_count(), rows = lattice.extents[1];
    const auto pays = [&](Index steps) {
      const Index strip = rows_of_strip(steps);
      return static_cast<Index>(parts(steps).size()) - 1 >= std::min(wanted, static_cast<Index>(parts(1).size()) - 1) &&
             (2 * strip > rows || strip >= 8 * steps * step_lag());
    };
    if (problem.part) return 1;
    if (asked > 0) return std::max<Index>(1, std::min(most, asked));
    Index made = std::clamp<Index>(most, 1, 4);  // 8 were no faster (order 2, EPYC)
    while (made > 1 && !pays(made)) --made;
    return made;
  }
  [[nodiscard]] Probes<T> probes(const std::vector<Point>& points) const { return {points, lattice}; }

  /// How far E of a step is behind H of it, and H of the next step behind that, in planes and in rows.
  [[nodiscard]] Index electric_lag() const { return half_order - 1; }
  [[nodiscard]] Index step_lag() const { return 2 * half_order - 1; }

  [[nodiscard]] PlaneRows whole_plane(Index k) const { return {0, k, 0, lattice.extents[1]}; }
  [[nodiscard]] std::pair<Index, Index> planes(const Tile& tile, bool electric, Index t) const {
    using enum Tile::Edge;
    const Index lag = t * step_lag(), before = lag + (electric ? electric_lag() : 0),
                behind = lag + (electric ? half_order : 0);
    return {tile.below == wall      ? 0
            : tile.below == narrows ? tile.low + behind
                                    : tile.low - before,
            tile.above == wall      ? lattice.extents[0]
            : tile.above == narrows ? tile.high - before
                                    : tile.high + behind};
  }

  /// All steps of a pass in a tile: strips of y one after the other, in each of which the steps follow one another up
  /// through the planes. What a strip does in later steps is moved down by what the stencils reach, so that it
  /// needs no row of the next one.
  void sweep(const Tile& tile, const Pass<T>& pass, Scratch& buffer) {
    const FlushDenormals flush;
    const Index rows = lattice.extents[1], strip = rows_of_strip(pass.steps);
    const auto moved = [&](Index j, Index by) { return j == 0 || j == rows ? j : std::max<Index>(0, j - by); };
    const Index last_lag = (pass.steps - 1) * step_lag();
    const Index fronts = tile.high + 2 * (last_lag + half_order);
    for (Index j = 0; j < rows; j += strip) {
      const Index end = rows - j < 2 * strip ? rows : j + strip;
      for (Index front = tile.low; front < fronts; ++front)
        for (Index t = 0; t < pass.steps; ++t)
          for (const bool electric : {false, true}) {
            const Index lag = t * step_lag() + (electric ? electric_lag() : 0), k = front - lag;
            const auto [first, last] = planes(tile, electric, t);
            if (k < first || k >= last) continue;
            const PlaneRows at{pass.step_of(t), k, moved(j, lag), moved(end, lag)};
            if (at.first < at.last) step_rows(electric, at, t, pass, buffer);
          }
      if (end == rows) return;
    }
  }

  /// Rows of a strip: what the planes in hand hold of all fields shall stay in the cache.
  [[nodiscard]] Index rows_of_strip(Index steps) const {
    const Index in_hand = steps * step_lag() + 2 * half_order;
    const auto bytes = static_cast<Index>(sizeof(T)) * lattice.pitch * in_hand * std::ssize(problem.grid.components());
    return std::max<Index>(strip_bytes / bytes, 2 * half_order);
  }

  /// Bounds of the parts that are swept by themselves: two per thread, so that a busy neighbour costs its own time
  /// only.
  [[nodiscard]] std::vector<Index> parts(Index steps) const {
    const Index n = lattice.extents[0], least = 2 * steps * step_lag() + 2;
    const bool one = threads == Threads::one || thread_count() == 1;
    const Index count = one ? 1 : std::clamp<Index>(n / least, 1, 2 * thread_count());
    std::vector<Index> bounds;
    for (Index i = 0; i <= count; ++i) bounds.push_back(n * i / count);
    return bounds;
  }

  /// The fields of one kind in all planes: half of a pass of one step.
  void make_half(bool electric, const Pass<T>& pass) {
    const Index n = lattice.extents[0];
    const auto planes_of = [&](Index first, Index last, Worker& worker) {
      const FlushDenormals flush;
      for (Index k = first; k < last; ++k)
        step_rows(electric, {pass.first_step, k, 0, lattice.extents[1]}, 0, pass, scratch[worker]);
    };
    if (threads == Threads::one) {
      Worker alone;
      return planes_of(0, n, alone);
    }
    parallel_for(n, (n + 2 * thread_count() - 1) / (2 * thread_count()), planes_of);
  }

  /// Makes the steps of a pass, of a part of a grid one.
  void make(const Pass<T>& pass) {
    if (pass.probes != nullptr) pass.probes->begin(pass.steps);
    sweep_all(pass);
    if (problem.part) exchange_halos(*this, halos);
  }

  void sweep_all(const Pass<T>& pass) {
    const std::vector<Index> bounds = parts(pass.steps);
    const auto count = static_cast<Index>(bounds.size()) - 1;
    using enum Tile::Edge;
    const auto part = [&](Index i) {
      return Tile{bounds[static_cast<std::size_t>(i)], bounds[static_cast<std::size_t>(i) + 1], i == 0 ? wall : narrows,
                  i + 1 == count ? wall : narrows};
    };
    if (count == 1) {
      Worker alone;
      return sweep(part(0), pass, scratch[alone]);
    }
    parallel_for(count, 1, [&](Index first, Index last, Worker& worker) {
      for (Index i = first; i < last; ++i) sweep(part(i), pass, scratch[worker]);
    });
    parallel_for(count - 1, 1, [&](Index first, Index last, Worker& worker) {
      for (Index i = first; i < last; ++i) {
        const Index bound = bounds[static_cast<std::size_t>(i) + 1];
        sweep({bound, bound, widens, widens}, pass, scratch[worker]);
      }
    });
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
      const auto [below, above] = ends_of(layer);
      const Index row = table_row(k, j);
      body(values, psi + row * below.pitch + below.place, first, layer.low, term.sign);
      body(values, psi + row * above.pitch + above.place + layer.high - above.first, first + layer.high,
           layer.extent - layer.high, term.sign);
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
