// SPDX-License-Identifier: Apache-2.0
// Private to the room: what the kernels of step_cuda.cu are given, and how they are queued. All pointers are to the
// memory of the stream's device. Components are numbered by their direction, 0 x, 1 y, 2 z, and axes as arrays are: 0
// z, 1 y, 2 x.
#pragma once

#include <cstdint>

#include "sonde/engine/base/index.h"
#include "sonde/engine/device/stream.h"

namespace sonde::maxwell::device {

/// Where nodes are: [shot][z][y][x], rows one pitch apart. Nothing is kept behind walls: kernels compute the images.
/// Factors are those of one medium, without shots.
struct Places {
  Index extents[3] = {};
  Index pitch = 0;
  Index field = 0;  ///< elements from one shot to the next
  int shots = 1;    ///< that move
};

/// E before a step, which the step of E leaves behind: the nodes of a box, [z][y][x] without gaps, as they are or in 16
/// bits (base/small_float.h). Sample n of a run is `stride` elements behind sample 0, a shot `shot` behind the last
/// one.
template <class T>
struct Sampled {
  Index first[3] = {}, extent[3] = {};
  T* to[3] = {};  ///< null: not wanted, or in 16 bits
  std::uint16_t* halves[3] = {};
  Index stride = 0, shot = 0;
};

/// Threads of a block of kernels over nodes.
inline constexpr int threads_of_block = 256;

/// The stencils: order, and c_m over the spacing of each axis.
template <class T>
struct Stencil {
  int order = 2;
  T weights[3][4] = {};
};

/// A factor at every node, or the same one at all.
template <class T>
struct Factor {
  const T* at = nullptr;
  T everywhere = 0;
};

/// A step of the fields of one kind without layers and poles: E <- keep E + factor curl H, H <- H - factor curl E.
template <class T>
struct CurlStep {
  bool electric = false, flat = false;  ///< flat: tm2d
  Places places;
  Stencil<T> stencil;
  T* to[3] = {};          ///< null where the grid lacks a component
  const T* of[3] = {};    ///< the other kind
  const T* keep[3] = {};  ///< of E
  Factor<T> factor[3];
  T* old[3] = {};                       ///< gets E from before the step; null: not wanted
  const Sampled<T>* sampled = nullptr;  ///< of E; null: nothing ever is
  const Index* step = nullptr;          ///< number of the step in its run
};

/// What the layers along an axis do to one term of the curl of a component. Psi has the planes of the layers only:
/// [shot][z][y][x] with `width` planes along the axis.
template <class T>
struct LayerTerm {
  int along = -1;  ///< -1: no layers
  T sign = 1;
  Index low = 0, high = 0, width = 0;  ///< indices below `low` and from `high` on are inside
  Index rows = 0, pitch = 0;           ///< of psi
  Index psi_of_shot = 0, of_shot = 0;  ///< elements from one shot to the next: of psi and what is carried, of `of`
  const T *a = nullptr, *b = nullptr, *k_inverse = nullptr;
  /// The field whose derivative it is; of a transposed step what the layer of that field carries, in the places of psi.
  const T* of = nullptr;
  T *psi = nullptr, *carried = nullptr;
};
struct LayerBox {
  int component = 0;
  Index first[3] = {}, extent[3] = {};
  /// Its thread blocks: `across` of them along x, each of so many lanes along x and the other threads along rows.
  Index first_block = 0, across = 0;
  int lanes = 32;
};
/// The layers of one kind of fields, by boxes that do not overlap.
template <class T>
struct LayerStep {
  bool electric = false;
  Places places;
  Stencil<T> stencil;
  int boxes = 0;
  LayerBox box[15];
  Index blocks = 0;
  T* to[3] = {};
  Factor<T> factor[3];
  LayerTerm<T> terms[3][2];
};

/// One pole of one component.
template <class T>
struct PoleTerm {
  const T *aP, *bP, *cP;
  T* polarisation;
};
template <class T>
struct PoleStep {
  bool transposed = false;
  Places places;
  int poles = 0;
  const PoleTerm<T>* terms = nullptr;  ///< [pole][component]
  T* to[3] = {};
  const T* old[3] = {};
  const T* factor[3] = {};
};

/// Amplitudes that are added to nodes: node i gets added[t] factor[t] amplitudes[source[t]] of its taps t in [first[i],
/// first[i + 1]), in their order.
template <class T>
struct Injected {
  Index nodes = 0;
  const Index* first = nullptr;
  T* const* to = nullptr;
  const Index* source = nullptr;
  const T* added = nullptr;
  const T* const* factor = nullptr;    ///< where a tap's factor is; null: 1
  const double* amplitudes = nullptr;  ///< [row][source]; the row is that of the step
  Index sources = 0;
  const Index* step = nullptr;
  friend bool operator==(const Injected&, const Injected&) = default;
};
/// Samples of points: each the sum of weight times field over its taps.
template <class T>
struct Readings {
  Index points = 0;
  const Index* first = nullptr;
  const T* const* from = nullptr;
  const double* weights = nullptr;
  const Index* column = nullptr;
  double* to = nullptr;  ///< [row][column]
  Index columns = 0;
  const Index* step = nullptr;
  friend bool operator==(const Readings&, const Readings&) = default;
};

/// Nodes of fields in a box, whose other arrays are of the box only: [shot][z][y][x] without gaps in a shot.
template <class T>
struct BoxFields {
  Places places;
  Index first[3] = {}, extent[3] = {};
  Index shot = 0, before_shot = 0;  ///< elements from one shot to the next: of the arrays of the box, of `before`
  int fields = 0;
  struct Field {
    T* field = nullptr;
    const T *before = nullptr, *after = nullptr;  ///< or `difference` and `sum`, those of them that there are
    const T *difference = nullptr, *sum = nullptr;
    T *to_difference = nullptr, *to_sum = nullptr;  ///< null: not wanted
    T *to_difference_squares = nullptr, *to_sum_squares = nullptr;
    T sign = 1;
  } field[6];
};

/// What a change of the medium adds to a step of the derivative of a run: factor (difference (now - before) + sum (now
/// + before)), and as much to the poles of E as comes into it.
template <class T>
struct ChangeStep {
  Places places;
  int poles = 0;
  const PoleTerm<T>* terms = nullptr;  ///< [pole][component]
  int fields = 0;
  struct Field {
    T* to = nullptr;
    const T *now = nullptr, *before = nullptr;
    const T *difference = nullptr, *sum = nullptr;  ///< null: zero
    const T* factor = nullptr;                      ///< cb; null: 1, of H
    int component = 0;
  } field[3];
};

}  // namespace sonde::maxwell::device

namespace sonde::maxwell::cuda {

template <class T>
void step_fields(Stream& stream, const device::CurlStep<T>& step);
/// psi <- b psi + a d, to <- to + factor ((k_inverse - 1) d + psi) in the layers.
template <class T>
void add_layers(Stream& stream, const device::LayerStep<T>& step);
/// Transposed: to <- to + factor d, where d derives what layers carry.
template <class T>
void add_carried(Stream& stream, const device::LayerStep<T>& step);
/// Transposed: psi <- b psi + to, carried <- (k_inverse - 1) to + a psi.
template <class T>
void carry(Stream& stream, const device::LayerStep<T>& step);
template <class T>
void relax_poles(Stream& stream, const device::PoleStep<T>& step);

template <class T>
void inject(Stream& stream, const device::Injected<T>& points);
template <class T>
void read_points(Stream& stream, const device::Readings<T>& points);
/// *step += 1.
void count_step(Stream& stream, Index* step);

/// to_difference <- field; where there is `before`: to_difference <- field - before, to_sum <- field + before.
template <class T>
void sample_box(Stream& stream, const device::BoxFields<T>& box);
/// In the places of the fields: to_difference, to_sum += sign field times (after - before), (after + before); the
/// squares of these to what is named after them.
template <class T>
void add_products(Stream& stream, const device::BoxFields<T>& box);
template <class T>
void add_change(Stream& stream, const device::ChangeStep<T>& step);

}  // namespace sonde::maxwell::cuda
