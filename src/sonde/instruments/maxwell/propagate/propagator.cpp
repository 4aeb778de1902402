// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/propagator.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/maxwell/grid/stencil.h"
#include "sonde/instruments/maxwell/propagate/denormals.h"
#include "sonde/instruments/maxwell/propagate/lattice.h"
#include "sonde/instruments/maxwell/propagate/rows.h"

namespace sonde::maxwell {
namespace {

std::size_t which(Component c) { return static_cast<std::size_t>(c); }

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
        offsets[slot] = image.sign == 0 ? 0 : image.index * lattice.stride(term.along);
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

  [[nodiscard]] bool empty() const { return low == 0 && high == extent; }
  [[nodiscard]] bool has(Index i) const { return i < low || i >= high; }
  [[nodiscard]] Index width() const { return low + extent - high; }
  /// Place of an index among those inside.
  [[nodiscard]] Index slot(Index i) const { return i < low ? i : i - high + low; }
};

template <class T>
std::vector<T> rounded(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

template <class T>
Layer<T> layer_of(const Grid& grid, const Lattice& lattice, Component c, const CurlTerm& term,
                  const PmlProfiles& profiles) {
  const PmlLine& line = profiles[dimension(term.along)].at(is_half(c, term.along));
  Layer<T> made{.low = grid.low(term.along),
                .high = grid.extent(term.along) - grid.high(term.along),
                .extent = grid.extent(term.along),
                .a = rounded<T>(line.a),
                .b = rounded<T>(line.b),
                .k_inverse = rounded<T>(line.k_inverse),
                .psi = {}};
  if (made.empty()) return made;
  const Triple& n = lattice.extents;
  const Shape shape = term.along == Axis::z   ? Shape{made.width(), n[1], lattice.pitch}
                      : term.along == Axis::y ? Shape{n[0], made.width(), lattice.pitch}
                                              : Shape{n[0], n[1], made.width()};
  made.psi = Array::zeros(Device::cpu(), shape, dtype_of<T>);
  return made;
}

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

}  // namespace

template <class T>
struct Propagator<T>::Impl {
  Problem problem;
  Lattice lattice;
  const RowKernels<T>& kernels;
  Index half_order;
  std::array<Array, 6> fields{};
  std::array<RowTable<T>, 3> ca, cb, cq;
  std::array<std::array<Taps<T>, 2>, 6> taps{};
  std::array<std::array<Layer<T>, 2>, 6> layers{};
  std::vector<std::array<std::optional<DebyeRows<T>>, 3>> poles{};
  struct Scratch {
    std::vector<T> derivative, old;
  };
  PerWorker<Scratch> scratch;

  explicit Impl(const Problem& p) : Impl(p, coefficients(p.medium, p.grid, p.dt, p.loss)) {}
  Impl(const Problem& p, const Coefficients& step)
      : problem(p),
        lattice(p.grid),
        kernels(row_kernels<T>(p.grid.order())),
        half_order(p.grid.order() / 2),
        ca{table(step.ca[0]), table(step.ca[1]), table(step.ca[2])},
        cb{table(step.cb[0]), table(step.cb[1]), table(step.cb[2])},
        cq{table(step.cq[0]), table(step.cq[1]), table(step.cq[2])},
        scratch([this] {
          const auto n = static_cast<std::size_t>(lattice.extents[2]);
          return Scratch{std::vector<T>(n), std::vector<T>(n)};
        }) {
    const Triple& n = lattice.extents;
    for (const Component c : p.grid.components()) {
      fields[which(c)] = Array::zeros(Device::cpu(), {n[0], n[1], lattice.pitch}, dtype_of<T>);
      for (std::size_t t = 0; t < 2; ++t) {
        const CurlTerm term = curl_terms(c)[t];
        if (!p.grid.has(term.of) || !p.grid.has(term.along)) continue;
        taps[which(c)][t] = taps_of<T>(p.grid, lattice, c, term);
        layers[which(c)][t] = layer_of<T>(p.grid, lattice, c, term, p.pml);
      }
    }
    for (const Coefficients::Pole& pole : step.poles) {
      auto& made = poles.emplace_back();
      for (const Component c : p.grid.components())
        if (is_electric(c))
          made[place(c)] = DebyeRows<T>{table(pole.aP[place(c)]), table(pole.bP[place(c)]), table(pole.cP[place(c)]),
                                        Array::zeros(Device::cpu(), {n[0], n[1], lattice.pitch}, dtype_of<T>)};
    }
  }

  [[nodiscard]] RowTable<T> table(const std::vector<double>& values) const { return {values, problem.grid.extents()}; }
  [[nodiscard]] T* data(Component c) { return static_cast<T*>(fields[which(c)].data()); }
  [[nodiscard]] T* row_of(Component c, Index k, Index j) { return data(c) + lattice.row(k, j); }
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

  void add_layers(Component c, std::size_t t, const Derivative<T>& d, const T* factor, T* to, Index k, Index j,
                  Scratch& buffer) {
    Layer<T>& layer = layers[which(c)][t];
    if (layer.extent == 0 || layer.empty()) return;
    const Axis along = curl_terms(c)[t].along;
    T* psi = static_cast<T*>(layer.psi.data());
    T* values = buffer.derivative.data();
    if (along == Axis::x) {
      psi += (k * lattice.extents[1] + j) * layer.width();
      const auto end = [&](Index first, Index last) {
        if (first == last) return;
        kernels.derive(d, values, first, last);
        add_layer(values + first, layer.a.data() + first, layer.b.data() + first, layer.k_inverse.data() + first,
                  factor + first, psi + layer.slot(first), to + first, last - first);
      };
      end(0, layer.low);
      end(layer.high, layer.extent);
      return;
    }
    const Index i = along == Axis::z ? k : j;
    if (!layer.has(i)) return;
    const auto at = static_cast<std::size_t>(i);
    psi +=
        (along == Axis::z ? layer.slot(i) * lattice.extents[1] + j : k * layer.width() + layer.slot(i)) * lattice.pitch;
    kernels.derive(d, values, 0, width());
    add_layer(values, layer.a[at], layer.b[at], layer.k_inverse[at], factor, psi, to, 0, width());
  }

  void magnetic_row(Component c, Index k, Index j, Scratch& buffer) {
    T* to = row_of(c, k, j);
    const T* factor = cq[place(c)][table_row(k, j)];
    std::array<Derivative<T>, 2> d;
    for (std::size_t t = 0; t < 2; ++t)
      if (has_term(c, t)) d[t] = derivative(c, t, k, j);
    if (has_term(c, 0) && has_term(c, 1))
      kernels.magnetic_of_two(d[0], d[1], factor, to, 0, width());
    else
      kernels.magnetic(has_term(c, 0) ? d[0] : d[1], factor, to, 0, width());
    for (std::size_t t = 0; t < 2; ++t)
      if (has_term(c, t)) add_layers(c, t, d[t], factor, to, k, j, buffer);
    fill_ends(c, to);
  }

  void electric_row(Component c, Index k, Index j, Scratch& buffer) {
    T* to = row_of(c, k, j);
    const std::size_t e = place(c);
    const Index at = table_row(k, j);
    if (!poles.empty()) std::copy_n(to, width(), buffer.old.data());
    const std::array d{derivative(c, 0, k, j), derivative(c, 1, k, j)};
    kernels.electric(d[0], d[1], ca[e][at], cb[e][at], to, 0, width());
    for (std::size_t t = 0; t < 2; ++t) add_layers(c, t, d[t], cb[e][at], to, k, j, buffer);
    if (!poles.empty()) relax_row(c, at, to, buffer.old.data());
    fill_ends(c, to);
  }

  void relax_row(Component c, Index at, T* to, const T* old) {
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

  void plane(bool electric, Index k, Scratch& buffer) {
    for (const Component c : problem.grid.components()) {
      if (is_electric(c) != electric) continue;
      for (Index j = 0; j < lattice.extents[1]; ++j)
        electric ? electric_row(c, k, j, buffer) : magnetic_row(c, k, j, buffer);
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
        const auto size =
            static_cast<T>(-static_cast<double>(factor[place(c)][row][x]) * tap.weight / problem.grid.cell_volume());
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
        if (!electric) break;
        DebyeRows<T>& rows = *pole[place(each.component)];
        static_cast<T*>(rows.polarisation.data())[each.row * lattice.pitch + Lattice::room + each.x] +=
            rows.bP[each.row][each.x] * added;
      }
      fill_ends(each.component, row);
    }
  }

  /// H of the planes [first, last), and behind it the E whose H is all there.
  void sweep(Index first, Index last, const Injections<T>& sources, std::span<const double> amplitudes,
             Scratch& buffer) {
    const FlushDenormals flush;
    const Index n = lattice.extents[0];
    // E of a plane needs H from half_order planes below to half_order - 1 above; beyond a wall they are images.
    const Index from = first == 0 ? 0 : first + half_order, to = last == n ? n : last - half_order + 1;
    Index next = from;
    const auto electric_up_to = [&](Index end) {
      for (; next < end; ++next) {
        plane(true, next, buffer);
        inject(sources[static_cast<std::size_t>(next)], true, amplitudes);
      }
    };
    for (Index k = first; k < last; ++k) {
      plane(false, k, buffer);
      inject(sources[static_cast<std::size_t>(k)], false, amplitudes);
      electric_up_to(std::min(to, k - half_order + 2));
    }
    electric_up_to(to);
  }

  /// Bounds of the parts that are swept by themselves: two per thread, so that a busy neighbour costs its own time
  /// only.
  [[nodiscard]] std::vector<Index> parts() const {
    const Index n = lattice.extents[0], least = 4 * half_order;
    const Index count = std::clamp<Index>(n / least, 1, thread_count() == 1 ? 1 : 2 * thread_count());
    std::vector<Index> bounds;
    for (Index i = 0; i <= count; ++i) bounds.push_back(n * i / count);
    return bounds;
  }

  void step(const std::vector<Index>& bounds, const Injections<T>& sources, std::span<const double> amplitudes) {
    const auto count = static_cast<Index>(bounds.size()) - 1;
    parallel_for(count, 1, [&](Index first, Index last, Worker& worker) {
      for (Index i = first; i < last; ++i)
        sweep(bounds[static_cast<std::size_t>(i)], bounds[static_cast<std::size_t>(i) + 1], sources, amplitudes,
              scratch[worker]);
    });
    // The planes of E about each bound, which need H of both parts.
    const Index between = 2 * half_order - 1;
    if (count == 1) return;
    parallel_for(count - 1, 1, [&](Index first, Index last, Worker& worker) {
      const FlushDenormals flush;
      for (Index i = first; i < last; ++i)
        for (Index at = 0; at < between; ++at) {
          const Index k = bounds[static_cast<std::size_t>(i) + 1] - half_order + 1 + at;
          plane(true, k, scratch[worker]);
          inject(sources[static_cast<std::size_t>(k)], true, amplitudes);
        }
    });
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

template <class T>
Propagator<T>::Propagator(const Problem& problem) : impl_(std::make_unique<Impl>(problem)) {}
template <class T>
Propagator<T>::~Propagator() = default;
template <class T>
Propagator<T>::Propagator(Propagator&&) noexcept = default;
template <class T>
Propagator<T>& Propagator<T>::operator=(Propagator&&) noexcept = default;

template <class T>
void Propagator<T>::clear() {
  const auto zero = [](Array& array) {
    if (!array.empty()) std::fill_n(static_cast<T*>(array.data()), array.count(), T(0));
  };
  for (Array& field : impl_->fields) zero(field);
  for (auto& component : impl_->layers)
    for (Layer<T>& layer : component) zero(layer.psi);
  for (auto& pole : impl_->poles)
    for (auto& rows : pole)
      if (rows) zero(rows->polarisation);
}

template <class T>
void Propagator<T>::set_state(const State& state) {
  impl_->for_each_state_row(state, [](const std::vector<double>& values, T* row, Index first, Index count, int sign) {
    for (Index x = 0; x < count; ++x) row[x] = static_cast<T>(sign * values[static_cast<std::size_t>(first + x)]);
  });
  impl_->clear_walls();
}

template <class T>
State Propagator<T>::state() const {
  State made = make_state(impl_->problem);
  impl_->for_each_state_row(made, [](std::vector<double>& values, const T* row, Index first, Index count, int sign) {
    for (Index x = 0; x < count; ++x) values[static_cast<std::size_t>(first + x)] = sign * static_cast<double>(row[x]);
  });
  return made;
}

template <class T>
void Propagator<T>::run(const Acquisition& shot, Index steps, std::span<const double> amplitudes,
                        std::span<double> record, const Observer& observer) {
  const std::size_t sources = shot.sources.size(), receivers = shot.receivers.size();
  assert(amplitudes.size() == static_cast<std::size_t>(steps) * sources);
  assert(record.size() == static_cast<std::size_t>(steps) * receivers);
  const Injections<T> injections = impl_->injections(shot.sources);
  const std::vector<Index> bounds = impl_->parts();
  for (Index n = 0; n < steps; ++n) {
    check_interrupt();
    impl_->step(bounds, injections, amplitudes.subspan(static_cast<std::size_t>(n) * sources, sources));
    impl_->read(shot.receivers, record.subspan(static_cast<std::size_t>(n) * receivers, receivers));
    if (observer) observer(n, *this);
  }
}

template <class T>
std::span<T> Propagator<T>::row(Component c, Index k, Index j) {
  return {impl_->row_of(c, k, j), static_cast<std::size_t>(impl_->width())};
}
template <class T>
std::span<const T> Propagator<T>::row(Component c, Index k, Index j) const {
  return {impl_->row_of(c, k, j), static_cast<std::size_t>(impl_->width())};
}

template <class T>
void Propagator<T>::fields_changed() {
  impl_->clear_walls();
}

template <class T>
std::size_t Propagator<T>::bytes() const {
  std::size_t sum = 0;
  for (const Array& field : impl_->fields) sum += field.allocated_bytes();
  for (const auto* tables : {&impl_->ca, &impl_->cb, &impl_->cq})
    for (const RowTable<T>& table : *tables) sum += table.bytes();
  for (const auto& component : impl_->layers)
    for (const Layer<T>& layer : component) sum += layer.psi.allocated_bytes();
  for (const auto& pole : impl_->poles)
    for (const auto& rows : pole)
      if (rows) sum += rows->polarisation.allocated_bytes() + rows->aP.bytes() + rows->bP.bytes() + rows->cP.bytes();
  return sum;
}

template <class T>
const Grid& Propagator<T>::grid() const {
  return impl_->problem.grid;
}

template class Propagator<float>;
template class Propagator<double>;

}  // namespace sonde::maxwell
