// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/device_stepper.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "sonde/engine/device/device.h"
#include "sonde/instruments/maxwell/grid/stencil.h"
#include "sonde/instruments/maxwell/propagate/start_gradient.h"

namespace sonde::maxwell::stepping {
namespace {

constexpr Index row_elements = 32;  ///< rows begin at a multiple: 128 bytes of float32

std::size_t index_of(Component c) { return static_cast<std::size_t>(c); }

device::Places places_of(const Grid& grid) {
  const Triple& n = grid.extents();
  const Index pitch = (n[2] + row_elements - 1) / row_elements * row_elements;
  return {{n[0], n[1], n[2]}, pitch, n[0] * n[1] * pitch};
}

template <class T>
device::Stencil<T> stencil_of(const Grid& grid) {
  const auto weights = stencil_weights(grid.order());
  device::Stencil<T> made{.order = grid.order()};
  for (const Axis axis : all_axes)
    for (std::size_t m = 0; grid.has(axis) && m < weights.size(); ++m)
      made.weights[dimension(axis)][m] = static_cast<T>(weights[m] / grid.spacing(axis));
  return made;
}

template <class T>
std::vector<T> in_type(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

/// What a pole adds to E of its old polarisation; transposed what of w it takes, (1 - aP) / dt = cP / cb.
std::vector<double> share(const Coefficients::Pole& pole, const Coefficients& step, std::size_t c, Sense sense) {
  std::vector<double> made = pole.cP[c];
  for (std::size_t i = 0; sense == Sense::transposed && i < made.size(); ++i)
    made[i] = made[i] == 0 ? 0 : made[i] / step.cb[c][i];
  return made;
}

/// The other half of the pair: the term of `of` that derives c.
std::size_t term_back(Component of, Component c) { return curl_terms(of)[0].of == c ? 0 : 1; }

template <class T>
void append_boxes(const device::Places& places, int component, const device::LayerTerm<T> (&terms)[2], Index reach,
                  device::LayerStep<T>& step) {
  device::LayerBox left{component, {}, {places.extents[0], places.extents[1], places.extents[2]}};
  for (int axis = 0; axis < 3; ++axis)
    for (const device::LayerTerm<T>& term : terms) {
      if (term.along != axis) continue;
      const Index n = places.extents[axis];
      const Index low = std::min(n, term.low > 0 ? term.low + reach : 0);
      const Index high = std::max(low, term.high < n ? term.high - reach : n);
      const auto add = [&](Index first, Index last) {
        if (first == last) return;
        device::LayerBox& box = step.box[step.boxes++] = left;
        box.first[axis] = first;
        box.extent[axis] = last - first;
      };
      add(0, low);
      add(high, n);
      left.first[axis] = low;
      left.extent[axis] = high - low;
    }
}

/// Thread blocks of each box: a narrow one has fewer lanes along x, so that few threads have nothing to do.
template <class T>
void share_blocks(device::LayerStep<T>& step) {
  for (int b = 0; b < step.boxes; ++b) {
    device::LayerBox& box = step.box[b];
    while (box.lanes > 4 && box.lanes >= 2 * box.extent[2]) box.lanes /= 2;
    const Index rows = device::threads_of_block / box.lanes;
    box.first_block = step.blocks;
    box.across = (box.extent[2] + box.lanes - 1) / box.lanes;
    step.blocks += box.across * ((box.extent[0] * box.extent[1] + rows - 1) / rows);
  }
}

}  // namespace

template <class E>
void DeviceList<E>::resize(Device device, std::size_t count) {
  const std::size_t needed = std::max<std::size_t>(1, count) * sizeof(E);
  if (block_.allocated_bytes() < needed) {
    block_.free();
    block_ = Array(device, Shape{static_cast<Index>(needed)}, DType::u8);
  }
}

template <class E>
void DeviceList<E>::assign(Stream& stream, std::span<const E> elements) {
  resize(stream.device(), elements.size());
  if (elements.empty()) return;
  stream.copy(block_.data(), elements.data(), elements.size_bytes());
  stream.synchronise();
}

template <class T>
DeviceStepper<T>::DeviceStepper(const Problem& problem, Device device, Sense sense, Index shots)
    : sense_(sense),
      problem_(without_medium(problem)),
      stream_(device),
      shots_(shots),
      places_(places_of(problem.grid)),
      stencil_(stencil_of<T>(problem.grid)) {
  const Coefficients step = coefficients(problem.medium, problem.grid, problem.dt, problem.loss);
  for (const Component c : problem_.grid.components()) {
    fields_[index_of(c)] = make_field();
    const std::size_t p = place(c);
    if (is_electric(c)) {
      ca_[p] = nodes(step.ca[p]);
      cb_[p] = nodes(step.cb[p]);
      if (!step.poles.empty()) old_[p] = make_field();
      continue;
    }
    uniform_cq_[p] = static_cast<T>(step.cq[p].front());
    if (std::any_of(step.cq[p].begin(), step.cq[p].end(), [&](double each) { return each != step.cq[p].front(); }))
      cq_[p] = nodes(step.cq[p]);
  }
  for (const Component c : problem_.grid.components()) make_layers(c);
  make_poles(step);
  const Index zero = 0;
  step_.assign(stream_, std::span(&zero, 1));
  sample_steps({});
  make_steps();
}

template <class T>
void DeviceStepper<T>::sample_steps(const device::Sampled<T>& sampled) {
  sampled_.assign(stream_, std::span(&sampled, 1));
}

template <class T>
void DeviceStepper<T>::make_layers(Component c) {
  const Grid& grid = problem_.grid;
  for (std::size_t t = 0; t < 2; ++t) {
    const CurlTerm term = curl_terms(c)[t];
    if (!grid.has(term.of) || !grid.has(term.along) || grid.low(term.along) + grid.high(term.along) == 0) continue;
    LayerArrays& made = layers_[index_of(c)][t];
    const Index n = grid.extent(term.along), low = grid.low(term.along), high = n - grid.high(term.along);
    const int along = static_cast<int>(dimension(term.along));
    const PmlLine& line = problem_.pml[dimension(term.along)].at(is_half(c, term.along));
    const Index width = low + n - high;
    made.term.along = along;
    made.term.sign = static_cast<T>(term.sign);
    made.term.low = low;
    made.term.high = high;
    made.term.width = width;
    made.term.rows = along == 1 ? width : places_.extents[1];
    made.term.pitch = along == 2 ? width : places_.pitch;
    const Index planes = along == 0 ? width : places_.extents[0];
    made.term.psi_of_shot = planes * made.term.rows * made.term.pitch;
    made.term.of_shot = places_.field;
    const Shape shape{shots_ * planes, made.term.rows, made.term.pitch};
    made.psi = Array::zeros(stream_.device(), shape, dtype_of<T>);
    if (sense_ == Sense::transposed) made.carried = Array::zeros(stream_.device(), shape, dtype_of<T>);
    made.host_b = in_type<T>(line.b);
    made.a = uploaded(in_type<T>(line.a), 1, n);
    made.b = uploaded(made.host_b, 1, n);
    made.k_inverse = uploaded(in_type<T>(line.k_inverse), 1, n);
    made.term.of = field(term.of);
    made.term.a = static_cast<const T*>(made.a.data());
    made.term.b = static_cast<const T*>(made.b.data());
    made.term.k_inverse = static_cast<const T*>(made.k_inverse.data());
    made.term.psi = static_cast<T*>(made.psi.data());
    made.term.carried = made.carried.empty() ? nullptr : static_cast<T*>(made.carried.data());
  }
}

template <class T>
void DeviceStepper<T>::make_poles(const Coefficients& step) {
  std::vector<device::PoleTerm<T>> terms(3 * step.poles.size());
  for (std::size_t p = 0; p < step.poles.size(); ++p) {
    auto& made = poles_.emplace_back();
    for (const Component c : problem_.grid.components()) {
      if (!is_electric(c)) continue;
      const std::size_t e = place(c);
      const Coefficients::Pole& pole = step.poles[p];
      made[e] = {nodes(pole.aP[e]), nodes(pole.bP[e]), nodes(share(pole, step, e, sense_)), make_field()};
      terms[3 * p + e] = {static_cast<const T*>(made[e].aP.data()), static_cast<const T*>(made[e].bP.data()),
                          static_cast<const T*>(made[e].cP.data()), static_cast<T*>(made[e].polarisation.data())};
    }
  }
  pole_terms_.assign(stream_, std::span<const device::PoleTerm<T>>(terms));
}

template <class T>
void DeviceStepper<T>::make_steps() {
  const Grid& grid = problem_.grid;
  for (const bool electric : {false, true}) {
    device::CurlStep<T>& made = curl_[electric ? 1 : 0];
    made.electric = electric;
    made.flat = grid.spec().mode == Mode::tm2d;
    made.places = places_;
    made.stencil = stencil_;
    if (electric && sense_ == Sense::forward) {
      made.sampled = sampled_.data();
      made.step = step_.data();
    }
    for (const Component c : grid.components()) {
      const std::size_t p = place(c);
      if (is_electric(c) != electric) {
        made.of[p] = field(c);
        continue;
      }
      made.to[p] = field(c);
      made.factor[p] = factor_of(c);
      if (electric) made.keep[p] = static_cast<const T*>(ca_[p].data());
      if (!old_[p].empty() && electric) made.old[p] = static_cast<T*>(old_[p].data());
    }
    in_layers_[electric ? 1 : 0] = layer_step(electric, sense_ == Sense::transposed ? grid.order() / 2 : 0);
    carry_[electric ? 1 : 0] = layer_step(electric, 0);
    if (sense_ == Sense::forward) continue;
    // What comes into a field is carried by the layers of the one that it derives.
    for (const Component c : grid.components())
      for (std::size_t t = 0; is_electric(c) == electric && t < 2; ++t) {
        const CurlTerm term = curl_terms(c)[t];
        if (layers_[index_of(c)][t].term.along < 0) continue;
        device::LayerTerm<T>& into = in_layers_[electric ? 1 : 0].terms[place(c)][t];
        into = layers_[index_of(term.of)][term_back(term.of, c)].term;
        into.of = into.carried;
        into.of_shot = into.psi_of_shot;
      }
  }
  relax_ = {.transposed = sense_ == Sense::transposed,
            .places = places_,
            .poles = static_cast<int>(poles_.size()),
            .terms = pole_terms_.data()};
  for (std::size_t p = 0; p < 3; ++p) {
    relax_.to[p] = curl_[1].to[p];
    relax_.old[p] = curl_[1].old[p];
    relax_.factor[p] = curl_[1].factor[p].at;
  }
}

/// The first so many.
template <class T>
void DeviceStepper<T>::move_shots(Index shots) {
  places_.shots = static_cast<int>(shots);
  for (auto& each : curl_) each.places = places_;
  for (auto* group : {&in_layers_, &carry_})
    for (auto& each : *group) each.places = places_;
  relax_.places = places_;
}

template <class T>
device::LayerStep<T> DeviceStepper<T>::layer_step(bool electric, Index reach) const {
  device::LayerStep<T> made;
  made.electric = electric;
  made.places = places_;
  made.stencil = stencil_;
  for (const Component c : problem_.grid.components()) {
    if (is_electric(c) != electric) continue;
    const std::size_t p = place(c);
    made.to[p] = curl_[electric ? 1 : 0].to[p];
    made.factor[p] = curl_[electric ? 1 : 0].factor[p];
    for (std::size_t t = 0; t < 2; ++t) made.terms[p][t] = layers_[index_of(c)][t].term;
    append_boxes(places_, static_cast<int>(p), made.terms[p], reach, made);
  }
  share_blocks(made);
  return made;
}

template <class T>
T* DeviceStepper<T>::field(Component c) {
  return static_cast<T*>(fields_[index_of(c)].data());
}

template <class T>
Array DeviceStepper<T>::make_field() const {
  return Array::zeros(stream_.device(), {shots_ * places_.extents[0], places_.extents[1], places_.pitch}, dtype_of<T>);
}

template <class T>
Array DeviceStepper<T>::uploaded(const std::vector<T>& values, Index rows, Index pitch) {
  Array made(stream_.device(), {rows, pitch}, dtype_of<T>);
  stream_.copy(made.data(), values.data(), values.size() * sizeof(T));
  stream_.synchronise();
  return made;
}

template <class T>
Array DeviceStepper<T>::nodes(const std::vector<double>& values) {
  std::vector<T> laid_out(static_cast<std::size_t>(elements()));
  for (std::size_t node = 0; node < values.size(); ++node)
    laid_out[static_cast<std::size_t>(place_of(static_cast<Index>(node)))] = static_cast<T>(values[node]);
  return uploaded(laid_out, places_.extents[0] * places_.extents[1], places_.pitch);
}

template <class T>
device::Factor<T> DeviceStepper<T>::factor_of(Component c) const {
  const Array& array = is_electric(c) ? cb_[place(c)] : cq_[place(c)];
  return {array.empty() ? nullptr : static_cast<const T*>(array.data()), is_electric(c) ? T(0) : uniform_cq_[place(c)]};
}

template <class T>
Index DeviceStepper<T>::place_of(Index node) const {
  return node / places_.extents[2] * places_.pitch + node % places_.extents[2];
}

/// Calls body(array) for all that a step changes.
template <class T>
template <class Body>
void DeviceStepper<T>::for_each_changing(const Body& body) {
  const auto visit = [&](Array& array) {
    if (!array.empty()) body(array);
  };
  for (Array& each : fields_) visit(each);
  for (auto& component : layers_)
    for (LayerArrays& each : component) {
      visit(each.psi);
      visit(each.carried);
    }
  for (auto& pole : poles_)
    for (PoleArrays& each : pole) visit(each.polarisation);
}

/// Calls body(values of a State, array, place of a node in it or -1, sign) for the fields, psi and poles.
template <class T>
template <class AnyState, class Body>
void DeviceStepper<T>::for_each_part(AnyState& state, const Body& body) {
  const auto everywhere = [this](const Triple& at) {
    return (at[0] * places_.extents[1] + at[1]) * places_.pitch + at[2];
  };
  for (const Component c : problem_.grid.components()) {
    body(state.fields[index_of(c)], fields_[index_of(c)], everywhere, 1, is_electric(c) ? &cb_[place(c)] : nullptr);
    for (std::size_t t = 0; t < 2; ++t) {
      LayerArrays& layer = layers_[index_of(c)][t];
      const device::LayerTerm<T>& term = layer.term;
      if (term.along < 0) continue;
      const auto inside = [&term](Triple at) -> Index {
        Index& i = at[static_cast<std::size_t>(term.along)];
        if (i >= term.low && i < term.high) return -1;
        if (i >= term.high) i += term.low - term.high;
        return (at[0] * term.rows + at[1]) * term.pitch + at[2];
      };
      // psi is kept with the sign of its curl term.
      body(state.psi[index_of(c)][t], layer.psi, inside, curl_terms(c)[t].sign, nullptr);
    }
    for (std::size_t p = 0; is_electric(c) && p < poles_.size(); ++p)
      body(state.polarisation[p][place(c)], poles_[p][place(c)].polarisation, everywhere, 1, nullptr);
  }
}

template <class T>
std::vector<T> DeviceStepper<T>::host_copy(const Array& array) {
  std::vector<T> made(static_cast<std::size_t>(array.count()));
  stream_.copy(made.data(), array.data(), made.size() * sizeof(T));
  stream_.synchronise();
  return made;
}

template <class T>
void DeviceStepper<T>::clear() {
  mirrored_ = {};
  for_each_changing([&](Array& array) { stream_.fill_zero(array.data(), array.allocated_bytes()); });
}

template <class T>
void DeviceStepper<T>::set_state(const State& state) {
  mirrored_ = {};
  const Grid& grid = problem_.grid;
  for_each_part(
      state, [&](const std::vector<double>& values, Array& array, const auto& place_in, int sign, const Array* moves) {
        std::vector<T> laid_out(static_cast<std::size_t>(array.count()));
        std::vector<T> factors;
        if (moves != nullptr) factors = host_copy(*moves);
        for_each_node(grid, [&](const Triple& at, std::size_t node) {
          const Index to = place_in(at);
          if (to >= 0 && (factors.empty() || factors[static_cast<std::size_t>(to)] != 0))
            laid_out[static_cast<std::size_t>(to)] = static_cast<T>(sign * values[node]);
        });
        stream_.copy(array.data(), laid_out.data(), laid_out.size() * sizeof(T));
        stream_.synchronise();
      });
}

template <class T>
State DeviceStepper<T>::state() {
  State made = make_state(problem_);
  for_each_part(made,
                [&](std::vector<double>& values, const Array& array, const auto& place_in, int sign, const Array*) {
                  const std::vector<T> there = host_copy(array);
                  for_each_node(problem_.grid, [&](const Triple& at, std::size_t node) {
                    if (const Index from = place_in(at); from >= 0)
                      values[node] = sign * static_cast<double>(there[static_cast<std::size_t>(from)]);
                  });
                });
  return made;
}

template <class T>
std::size_t DeviceStepper<T>::state_bytes() {
  std::size_t total = 0;
  for_each_changing([&](const Array& array) { total += static_cast<std::size_t>(array.count()) * sizeof(T); });
  return total;
}

template <class T>
void DeviceStepper<T>::save(std::span<std::byte> to) {
  for_each_changing([&](const Array& array) {
    const std::size_t bytes = static_cast<std::size_t>(array.count()) * sizeof(T);
    stream_.copy(to.data(), array.data(), bytes);
    to = to.subspan(bytes);
  });
  stream_.synchronise();
}

template <class T>
void DeviceStepper<T>::restore(std::span<const std::byte> from) {
  mirrored_ = {};
  for_each_changing([&](Array& array) {
    const std::size_t bytes = static_cast<std::size_t>(array.count()) * sizeof(T);
    stream_.copy(array.data(), from.data(), bytes);
    from = from.subspan(bytes);
  });
  stream_.synchronise();
}

template <class T>
State DeviceStepper<T>::converted(State of, RunEnd end) {
  std::array<std::vector<T>, 6> factors;
  std::vector<std::array<std::vector<T>, 3>> b_of_poles(poles_.size());
  for (const Component c : problem_.grid.components()) {
    const Array& array = is_electric(c) ? cb_[place(c)] : cq_[place(c)];
    if (!array.empty()) factors[index_of(c)] = host_copy(array);
    for (std::size_t p = 0; is_electric(c) && p < poles_.size(); ++p)
      b_of_poles[p][place(c)] = host_copy(poles_[p][place(c)].bP);
  }
  const auto at_node = [&](const std::vector<T>& values, std::size_t node) {
    return static_cast<double>(values[static_cast<std::size_t>(place_of(static_cast<Index>(node)))]);
  };
  return stepping::converted(
      std::move(of), end, problem_.grid,
      [&](Component c, const Triple&, std::size_t node) {
        const std::vector<T>& values = factors[index_of(c)];
        return values.empty() ? static_cast<double>(uniform_cq_[place(c)]) : at_node(values, node);
      },
      [&](std::size_t p, Component c, const Triple&, std::size_t node) {
        return at_node(b_of_poles[p][place(c)], node);
      },
      [&](Component c, std::size_t t, Index i) {
        const LayerArrays& layer = layers_[index_of(c)][t];
        const bool inside = layer.term.along >= 0 && (i < layer.term.low || i >= layer.term.high);
        return inside ? static_cast<double>(layer.host_b[static_cast<std::size_t>(i)]) : -1;
      });
}

/// Taps of one node are one thread's work, so that their order is fixed.
template <class T>
void DeviceStepper<T>::make_injected(const std::vector<Point>& points, bool electric) {
  struct Tap {
    Index source;
    T added;
    const T* factor;
  };
  std::map<T*, std::vector<Tap>> by_node;
  for (std::size_t s = 0; s < points.size(); ++s) {
    const Component c = points[s].component;
    if (is_electric(c) != electric) continue;
    const device::Factor<T> factor = factor_of(c);
    for (const PointTap& tap : points[s].taps) {
      // The step of a conductor leaves zero, so that a hard source sets the field.
      const double by_current = -tap.weight / problem_.grid.cell_volume(),
                   by_residual = electric ? tap.weight : -tap.weight;
      double added = sense_ == Sense::transposed ? by_residual : points[s].hard ? tap.weight : by_current;
      const bool scaled = sense_ == Sense::transposed || !points[s].hard;
      if (scaled && factor.at == nullptr) added *= static_cast<double>(factor.everywhere);
      const Index node = place_of(tap.node);
      by_node[field(c) + points[s].shot * places_.field + node].push_back(
          {static_cast<Index>(s), static_cast<T>(added), scaled && factor.at != nullptr ? factor.at + node : nullptr});
    }
  }
  std::vector<Index> first{0}, source;
  std::vector<T*> to;
  std::vector<T> added;
  std::vector<const T*> factor;
  for (const auto& [node, taps] : by_node) {
    to.push_back(node);
    for (const Tap& tap : taps) {
      source.push_back(tap.source);
      added.push_back(tap.added);
      factor.push_back(tap.factor);
    }
    first.push_back(static_cast<Index>(source.size()));
  }
  Points& made = points_[electric ? 1 : 0];
  made.injected_first.assign(stream_, first);
  made.to.assign(stream_, to);
  made.source.assign(stream_, source);
  made.added.assign(stream_, added);
  made.factor.assign(stream_, factor);
  made.injected = {.nodes = static_cast<Index>(to.size()),
                   .first = made.injected_first.data(),
                   .to = made.to.data(),
                   .source = made.source.data(),
                   .added = made.added.data(),
                   .factor = made.factor.data(),
                   .amplitudes = amplitudes_.data(),
                   .sources = static_cast<Index>(points.size()),
                   .step = step_.data()};
}

template <class T>
void DeviceStepper<T>::make_readings(const std::vector<Point>& points, bool electric) {
  std::vector<Index> first{0}, column;
  std::vector<const T*> from;
  std::vector<double> weights;
  for (std::size_t r = 0; r < points.size(); ++r) {
    if (is_electric(points[r].component) != electric) continue;
    for (const PointTap& tap : points[r].taps) {
      from.push_back(field(points[r].component) + points[r].shot * places_.field + place_of(tap.node));
      weights.push_back(tap.weight);
    }
    first.push_back(static_cast<Index>(from.size()));
    column.push_back(static_cast<Index>(r));
  }
  Points& made = points_[electric ? 1 : 0];
  made.read_first.assign(stream_, first);
  made.from.assign(stream_, from);
  made.weights.assign(stream_, weights);
  made.column.assign(stream_, column);
  made.readings = {.points = static_cast<Index>(column.size()),
                   .first = made.read_first.data(),
                   .from = made.from.data(),
                   .weights = made.weights.data(),
                   .column = made.column.data(),
                   .to = samples_.data(),
                   .columns = columns_,
                   .step = step_.data()};
}

template <class T>
void DeviceStepper<T>::prepare(const std::vector<Point>& injected, std::span<const double> amplitudes,
                               const std::vector<Point>& read, Index rows) {
  const auto queued = [&] {
    return std::tuple(places_.shots, points_[0].injected, points_[0].readings, points_[1].injected,
                      points_[1].readings);
  };
  const auto before = queued();
  Index shots = 1;
  for (const auto* points : {&injected, &read})
    for (const Point& each : *points) shots = std::max(shots, each.shot + 1);
  assert(shots <= shots_);
  move_shots(shots);
  rows_ = rows;
  columns_ = static_cast<Index>(read.size());
  amplitudes_.assign(stream_, amplitudes);
  samples_.resize(stream_.device(), static_cast<std::size_t>(rows_ * columns_));
  const Index zero = 0;
  step_.assign(stream_, std::span(&zero, 1));
  for (const bool electric : {false, true}) {
    make_injected(injected, electric);
    make_readings(read, electric);
  }
  if (one_ && before == queued()) return;
  // What a graph has recorded are these addresses and counts.
  one_.emplace([this](Stream& stream) { queue_step(stream); }, replay_);
  many_.emplace(
      [this](Stream& stream) {
        for (Index i = 0; i < at_once; ++i) queue_step(stream);
      },
      replay_);
}

template <class T>
void DeviceStepper<T>::enter() {
  inject(true, stream_);
  carry(true, stream_);
  count(stream_);
}

template <class T>
void DeviceStepper<T>::step() {
  mirrored_ = {};
  one_->run(stream_);
}
template <class T>
void DeviceStepper<T>::steps_at_once() {
  mirrored_ = {};
  many_->run(stream_);
}

template <class T>
void DeviceStepper<T>::queue_step(Stream& stream, const std::function<void()>& between,
                                  const std::function<void()>& behind) {
  if (sense_ == Sense::transposed) read(true, stream);
  magnetic(stream);
  if (between) between();
  electric(stream);
  if (behind) behind();
  if (sense_ == Sense::forward) read(true, stream);
  read(false, stream);
  count(stream);
}

template <class T>
void DeviceStepper<T>::step_with(const std::function<void()>& between, const std::function<void()>& behind) {
  mirrored_ = {};
  queue_step(stream_, between, behind);
}

template <class T>
device::BoxFields<T> DeviceStepper<T>::in_box(const NodeBox& box) const {
  device::BoxFields<T> made;
  made.places = places_;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    made.first[axis] = box.first[axis];
    made.extent[axis] = box.extent(axis);
  }
  return made;
}

template <class T>
void DeviceStepper<T>::magnetic(Stream& stream) {
  if constexpr (built_with_cuda) {
    cuda::step_fields(stream, curl_[0]);
    sense_ == Sense::forward ? cuda::add_layers(stream, in_layers_[0]) : cuda::add_carried(stream, in_layers_[0]);
  }
  inject(false, stream);
  carry(false, stream);
}

template <class T>
void DeviceStepper<T>::electric(Stream& stream) {
  if constexpr (built_with_cuda) {
    cuda::step_fields(stream, curl_[1]);
    sense_ == Sense::forward ? cuda::add_layers(stream, in_layers_[1]) : cuda::add_carried(stream, in_layers_[1]);
    // What enters E in a step enters its poles too; transposed, what enters w has not passed them.
    if (sense_ == Sense::forward) inject(true, stream);
    if (!poles_.empty()) cuda::relax_poles(stream, relax_);
    if (sense_ == Sense::transposed) inject(true, stream);
  }
  carry(true, stream);
}

template <class T>
void DeviceStepper<T>::inject(bool electric, Stream& stream) {
  if constexpr (built_with_cuda) cuda::inject(stream, points_[electric ? 1 : 0].injected);
}
template <class T>
void DeviceStepper<T>::carry(bool electric, Stream& stream) {
  if constexpr (built_with_cuda)
    if (sense_ == Sense::transposed) cuda::carry(stream, carry_[electric ? 1 : 0]);
}
template <class T>
void DeviceStepper<T>::read(bool electric, Stream& stream) {
  if constexpr (built_with_cuda) cuda::read_points(stream, points_[electric ? 1 : 0].readings);
}
template <class T>
void DeviceStepper<T>::count(Stream& stream) {
  if constexpr (built_with_cuda) cuda::count_step(stream, step_.data());
}
template <class T>
void DeviceStepper<T>::sample(const device::BoxFields<T>& box) {
  if constexpr (built_with_cuda) cuda::sample_box(stream_, box);
}
template <class T>
void DeviceStepper<T>::add_products(const device::BoxFields<T>& box) {
  if constexpr (built_with_cuda) cuda::add_products(stream_, box);
}

template <class T>
device::ChangeStep<T> DeviceStepper<T>::change_step() {
  device::ChangeStep<T> made;
  made.places = places_;
  made.poles = relax_.poles;
  made.terms = relax_.terms;
  return made;
}
template <class T>
void DeviceStepper<T>::add_change(const device::ChangeStep<T>& step) {
  if constexpr (built_with_cuda) cuda::add_change(stream_, step);
}

template <class T>
View<T, 3> DeviceStepper<T>::on_host(Component c) {
  std::vector<T>& mirror = mirrors_[index_of(c)];
  mirror.resize(static_cast<std::size_t>(elements()));
  if (!std::exchange(mirrored_[index_of(c)], true)) {
    stream_.copy(mirror.data(), field(c), mirror.size() * sizeof(T));
    stream_.synchronise();
  }
  View<T, 3> made(mirror.data(), places_.extents[0], places_.extents[1], places_.extents[2]);
  made.stride[0] = places_.extents[1] * places_.pitch;
  made.stride[1] = places_.pitch;
  return made;
}

template <class T>
void DeviceStepper<T>::put_back() {
  for (const Component c : problem_.grid.components()) {
    if (!mirrored_[index_of(c)]) continue;
    std::vector<T>& mirror = mirrors_[index_of(c)];
    if (is_electric(c)) {
      const std::vector<T> factors = host_copy(cb_[place(c)]);
      for (std::size_t i = 0; i < mirror.size(); ++i)
        if (factors[i] == 0) mirror[i] = 0;
    }
    stream_.copy(field(c), mirror.data(), mirror.size() * sizeof(T));
  }
  stream_.synchronise();
}

template <class T>
std::vector<double> DeviceStepper<T>::samples() {
  std::vector<double> made(static_cast<std::size_t>(rows_ * columns_));
  if (!made.empty()) stream_.copy(made.data(), samples_.data(), made.size() * sizeof(double));
  stream_.synchronise();
  return made;
}

template <class T>
std::vector<double> DeviceStepper<T>::values_of(const Array& array, Index shot) {
  std::vector<T> there(static_cast<std::size_t>(elements()));
  stream_.copy(there.data(), static_cast<const T*>(array.data()) + shot * elements(), there.size() * sizeof(T));
  stream_.synchronise();
  std::vector<double> made(static_cast<std::size_t>(problem_.grid.count()));
  for (std::size_t node = 0; node < made.size(); ++node)
    made[node] = static_cast<double>(there[static_cast<std::size_t>(place_of(static_cast<Index>(node)))]);
  return made;
}

template <class T>
std::size_t DeviceStepper<T>::bytes() const {
  std::size_t total = 0;
  const auto add = [&](const Array& array) { total += array.allocated_bytes(); };
  for (const Array& each : fields_) add(each);
  for (const auto* arrays : {&ca_, &cb_, &cq_, &old_})
    for (const Array& each : *arrays) add(each);
  for (const auto& component : layers_)
    for (const LayerArrays& each : component) {
      add(each.psi);
      add(each.carried);
    }
  for (const auto& pole : poles_)
    for (const PoleArrays& each : pole)
      for (const Array* array : {&each.aP, &each.bP, &each.cP, &each.polarisation}) add(*array);
  return total + amplitudes_.bytes() + samples_.bytes();
}

template <class T>
std::size_t DeviceStepper<T>::field_bytes(const Grid& grid) {
  return static_cast<std::size_t>(places_of(grid).field) * sizeof(T);
}

template <class T>
PropagatorBytes DeviceStepper<T>::bytes_for(const Grid& grid, std::size_t poles, Sense sense, Index shots) {
  const device::Places places = places_of(grid);
  const std::size_t field = field_bytes(grid), each = static_cast<std::size_t>(shots);
  const auto nodes = static_cast<std::size_t>(grid.count());
  PropagatorBytes made;
  for (const Component c : grid.components()) {
    const std::size_t factors = is_electric(c) ? 2 + 3 * poles : 1;
    made.state += each * field * (is_electric(c) ? 1 + poles : 1);
    made.lasting += field * (factors + (is_electric(c) && poles > 0 ? each : 0));
    made.in_preparation += sizeof(double) * nodes * factors;
    for (const CurlTerm& term : curl_terms(c)) {
      if (!grid.has(term.of) || !grid.has(term.along)) continue;
      const Index layers = grid.low(term.along) + grid.high(term.along), extent = grid.extent(term.along);
      const Index others = term.along == Axis::x ? places.extents[0] * places.extents[1] : places.field / extent;
      made.state += each * sizeof(T) * static_cast<std::size_t>(others * layers) * (sense == Sense::transposed ? 2 : 1);
    }
  }
  made.lasting += made.state;
  made.in_preparation += field;  // on its way to the device
  return made;
}

template class DeviceStepper<float>;
template class DeviceStepper<double>;

}  // namespace sonde::maxwell::stepping
