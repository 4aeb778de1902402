// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/propagate/halo.h"

#include <algorithm>
#include <span>

#include "sonde/instruments/maxwell/propagate/grid_part.h"
#include "sonde/instruments/maxwell/propagate/stepper.h"

namespace sonde::maxwell::stepping {
namespace {

/// Calls body(elements, count) for what one layer carries of a piece of a row.
template <class T, class Body>
void for_each_carried(Stepper<T>& part, Component c, std::size_t t, const NodeBox& box, Index k, Index j,
                      const Body& body) {
  Layer<T>& layer = part.layers[which(c)][t];
  if (layer.carried.empty()) return;
  T* carried = static_cast<T*>(layer.carried.data());
  const Index pitch = part.lattice.pitch, first = box.first[2], last = box.last[2];
  const Axis along = curl_terms(c)[t].along;
  if (along == Axis::x) {
    const auto [below, above] = part.ends_of(layer);
    const Index row = part.table_row(k, j), low = std::min(last, layer.low), high = std::max(first, layer.high);
    if (first < low) body(carried + row * below.pitch + below.place + first, low - first);
    if (high < last) body(carried + row * above.pitch + above.place + high - above.first, last - high);
    return;
  }
  if (along == Axis::z && layer.has(k))
    body(carried + (layer.slot(k) * part.lattice.extents[1] + j) * pitch + first, last - first);
  if (along == Axis::y && layer.has(j))
    body(carried + (k * layer.width() + layer.slot(j)) * pitch + first, last - first);
}

/// Calls body(elements, count) for all that is exchanged of a box, and `behind`(component, k, j) after each row of E.
template <class T, class Body, class Behind>
void for_each_piece(Stepper<T>& part, const NodeBox& box, const Body& body, const Behind& behind) {
  for (const Component c : part.problem.grid.components()) {
    if (!is_electric(c)) continue;
    for (Index k = box.first[0]; k < box.last[0]; ++k)
      for (Index j = box.first[1]; j < box.last[1]; ++j) {
        body(part.row_of(c, k, j) + box.first[2], box.extent(2));
        behind(c, k, j);
        for (std::size_t t = 0; part.sense == Sense::transposed && t < 2; ++t)
          for_each_carried(part, c, t, box, k, j, body);
      }
  }
}

constexpr auto nothing = [](Component, Index, Index) {};

template <class T>
void take(Stepper<T>& part, const NodeBox& box, std::vector<T>& to) {
  to.clear();
  for_each_piece(
      part, box, [&](const T* from, Index count) { to.insert(to.end(), from, from + count); }, nothing);
}

/// Layers are at the same places of both ranks, so as much comes as there is place for.
template <class T>
void make_room(Stepper<T>& part, const NodeBox& box, std::vector<T>& in) {
  Index sum = 0;
  if (in.empty())
    for_each_piece(
        part, box, [&](const T*, Index count) { sum += count; }, nothing);
  if (in.empty()) in.resize(static_cast<std::size_t>(sum));
}

template <class T>
void put(Stepper<T>& part, const NodeBox& box, const std::vector<T>& from) {
  auto next = from.begin();
  for_each_piece(
      part, box,
      [&](T* to, Index count) {
        std::copy_n(next, count, to);
        next += count;
      },
      [&](Component c, Index k, Index j) { part.fill_ends(c, part.row_of(c, k, j)); });
  for (const Component c : part.problem.grid.components())
    for (std::size_t t = 0; is_electric(c) && t < 2; ++t) {
      Layer<T>& layer = part.layers[which(c)][t];
      if (layer.carried.empty() || curl_terms(c)[t].along != Axis::x) continue;
      for (Index k = box.first[0]; k < box.last[0]; ++k)
        for (Index j = box.first[1]; j < box.last[1]; ++j) part.fill_carried_ends(c, layer, part.table_row(k, j));
    }
}

}  // namespace

template <class T>
void exchange_halos(Stepper<T>& part, HaloBuffers<T>& buffers) {
  const GridPart& of = *part.problem.part;
  const Index width = of.halo();
  for (const Axis axis : all_axes) {
    const std::size_t a = dimension(axis);
    std::vector<Exchange<T>> exchanges;
    std::array<NodeBox, 2> halos;
    for (const bool low : {true, false}) {
      const auto peer = of.neighbour(axis, low);
      if (!peer) continue;
      const std::size_t side = low ? 0 : 1;
      NodeBox own{{}, part.lattice.extents}, beside = own;
      const Index face = low ? of.own().first[a] : of.own().last[a];
      own.first[a] = low ? face : face - width;
      own.last[a] = own.first[a] + width;
      beside.first[a] = low ? face - width : face;
      beside.last[a] = beside.first[a] + width;
      halos[side] = beside;
      take(part, own, buffers.sent[a][side]);
      make_room(part, beside, buffers.received[a][side]);
      exchanges.push_back({*peer, static_cast<int>(a), buffers.sent[a][side], buffers.received[a][side]});
    }
    of.ranks().exchange(std::span<const Exchange<T>>(exchanges));
    for (const std::size_t side : {0U, 1U})
      if (of.neighbour(axis, side == 0)) put(part, halos[side], buffers.received[a][side]);
  }
}

template void exchange_halos(Stepper<float>&, HaloBuffers<float>&);
template void exchange_halos(Stepper<double>&, HaloBuffers<double>&);

}  // namespace sonde::maxwell::stepping
