// SPDX-License-Identifier: Apache-2.0
// A step of the fields on a GPU. The fields are swept by tiles of x and y that march along z: a plane of the tile is in
// shared memory for the derivatives along x and y, what derivatives along z need of a column is in registers, so that
// each field is read once but for the rims of tiles. Absorbing layers, poles and points have kernels of their own.
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "sonde/engine/base/small_float.h"
#include "sonde/engine/device/cuda_check.h"
#include "sonde/engine/device/team_cuda.h"
#include "sonde/instruments/maxwell/propagate/step_kernels.h"

namespace sonde::maxwell::cuda {
namespace {

using device::BoxFields;
using device::ChangeStep;
using device::CurlStep;
using device::Factor;
using device::Injected;
using device::LayerBox;
using device::LayerStep;
using device::LayerTerm;
using device::Places;
using device::PoleStep;
using device::PoleTerm;
using device::Readings;
using device::Sampled;
using device::Stencil;
using device::threads_of_block;
using sonde::cuda::launch_kernel;

constexpr unsigned block_threads = device::threads_of_block, row_threads = 32,
                   column_threads = block_threads / row_threads;
constexpr Index most_grid = 65535;  // of blocks along y and z
// Marched by a block: long enough that the planes read in advance cost little, short enough to fill the device.
constexpr Index least_planes = 16, wanted_blocks = 2048;

/// How far a derivative reaches: the taps above node i are i + m + shift, those below i - m - 1 + shift. H is half a
/// cell beyond E, and its images behind walls are even; those of E are odd.
template <int order, bool electric>
struct Reach {
  static constexpr int half = order / 2, shift = electric ? 0 : 1;
};

/// The node inside that a node behind a wall is the image of.
struct Image {
  Index at;
  int sign;
};
template <bool electric>
__device__ Image image(Index i, Index extent) {
  if (electric) return {i < 0 ? -1 - i : i >= extent ? 2 * extent - 1 - i : i, 1};
  if (i < 0) return {-i, -1};
  if (i == extent) return {0, 0};
  return i > extent ? Image{2 * extent - i, -1} : Image{i, 1};
}

template <class T>
__device__ T at_node(const Factor<T>& factor, Index node) {
  return factor.at != nullptr ? factor.at[node] : factor.everywhere;
}

/// A node of a plane that may be behind walls along x and y; sign 0: nobody needs its value.
template <class T>
struct Spot {
  int at;
  T sign;
};
template <class T, int half, bool electric>
__device__ Spot<T> spot(const Places& places, Index j, Index i) {
  if (j >= places.extents[1] + half || i >= places.extents[2] + half) return {0, 0};
  const Image y = image<electric>(j, places.extents[1]), x = image<electric>(i, places.extents[2]);
  return {static_cast<int>(y.at * places.pitch + x.at), static_cast<T>(y.sign * x.sign)};
}
template <class T>
__device__ T value(const T* plane, const Spot<T>& there) {
  return there.sign == 0 ? T(0) : there.sign * plane[there.at];
}

/// The planes of a field about a plane at one node: those that a derivative along z reads.
template <class T, int order>
struct Column {
  T planes[order];

  __device__ void next() {
#pragma unroll
    for (int q = 0; q + 1 < order; ++q) planes[q] = planes[q + 1];
  }
  __device__ T derivative(const T (&weights)[4]) const {
    T sum = 0;
#pragma unroll
    for (int m = 0; m < order / 2; ++m) sum += weights[m] * (planes[order / 2 + m] - planes[order / 2 - 1 - m]);
    return sum;
  }
};

template <class T>
__device__ void sample(const Sampled<T>& to, Index step, Index shot, int c, Index k, Index j, Index i, T value) {
  if (to.to[c] == nullptr && to.halves[c] == nullptr) return;
  const Index z = k - to.first[0], y = j - to.first[1], x = i - to.first[2];
  if (z < 0 || y < 0 || x < 0 || z >= to.extent[0] || y >= to.extent[1] || x >= to.extent[2]) return;
  const Index at = step * to.stride + shot * to.shot + (z * to.extent[1] + y) * to.extent[2] + x;
  if (to.to[c] != nullptr)
    to.to[c][at] = value;
  else
    to.halves[c][at] = to_bf16(static_cast<float>(value));
}

template <class T, int order, bool electric, bool flat>
__global__ void __launch_bounds__(block_threads) step_tiles(const CurlStep<T> step, Index planes, unsigned marches) {
  using To = Reach<order, electric>;
  constexpr int half = To::half, shift = To::shift, rim = flat ? 0 : half;
  // Which of the other fields are derived along z: both but that of z; in tm2d the only one of E, the one of x of H.
  constexpr bool has_x = !flat || electric, has_y = !flat || !electric, has_z = !flat || electric;
  T* const shared_tiles = reinterpret_cast<T*>(sonde::cuda::ThreadBlock().scratch());
  const Places& places = step.places;
  const Index nz = places.extents[0], ny = places.extents[1], nx = places.extents[2];
  const int column = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
  const int columns = static_cast<int>(blockDim.x), rows = static_cast<int>(blockDim.y);
  const int width = columns + 2 * half, tile_size = width * (rows + 2 * rim);
  const Index left = static_cast<Index>(blockIdx.x) * columns, top = static_cast<Index>(blockIdx.y) * rows;
  const Index i = left + column, j = top + row, plane = ny * places.pitch;
  const bool moves = i < nx && j < ny;
  const Spot<T> here = spot<T, half, electric>(places, j, i);
  const Spot<T> before_x = spot<T, half, electric>(places, j, left - half + column),
                behind_x = spot<T, half, electric>(places, j, left + columns + column),
                before_y = spot<T, half, electric>(places, top - half + row, i),
                behind_y = spot<T, half, electric>(places, top + rows + row, i);
  const int at = (row + rim) * width + column + half;
  const Index shot = blockIdx.z / marches, of_shot = shot * places.field;
  const bool samples = electric && step.sampled != nullptr && step.sampled->extent[0] > 0;
  const Index first = static_cast<Index>(blockIdx.z % marches) * planes;
  const Index last = first + planes < nz ? first + planes : nz;

  const auto read = [&](const T* field, Index k, const Spot<T>& there) {
    const Image z = image<electric>(k, nz);
    return z.sign == 0 ? T(0) : static_cast<T>(z.sign) * value(field + of_shot + z.at * plane, there);
  };
  Column<T, order> of_x{}, of_y{};
#pragma unroll
  for (int q = 0; q + 1 < order; ++q) {
    if constexpr (has_x) of_x.planes[q + 1] = read(step.of[0], first - half + shift + q, here);
    if constexpr (has_y) of_y.planes[q + 1] = read(step.of[1], first - half + shift + q, here);
  }
  for (Index k = first; k < last; ++k) {
    if constexpr (has_x) {
      of_x.next();
      of_x.planes[order - 1] = read(step.of[0], k + half - 1 + shift, here);
    }
    if constexpr (has_y) {
      of_y.next();
      of_y.planes[order - 1] = read(step.of[1], k + half - 1 + shift, here);
    }
    // Two tiles in turn: one wait for a plane is enough.
    T* const tiles = shared_tiles + (k - first) % 2 * 3 * tile_size;
    T *const tile_x = tiles, *const tile_y = tiles + tile_size, *const tile_z = tiles + 2 * tile_size;
    if constexpr (!flat) tile_x[at] = of_x.planes[half - shift];
    if constexpr (has_y) tile_y[at] = of_y.planes[half - shift];
    if constexpr (has_z) tile_z[at] = read(step.of[2], k, here);
    if (column < half) {
      if constexpr (has_y) tile_y[at - half] = read(step.of[1], k, before_x);
      if constexpr (has_y) tile_y[at + columns] = read(step.of[1], k, behind_x);
      if constexpr (has_z) tile_z[at - half] = read(step.of[2], k, before_x);
      if constexpr (has_z) tile_z[at + columns] = read(step.of[2], k, behind_x);
    }
    if constexpr (!flat)
      if (row < half) {
        tile_x[at - half * width] = read(step.of[0], k, before_y);
        tile_x[at + rows * width] = read(step.of[0], k, behind_y);
        tile_z[at - half * width] = read(step.of[2], k, before_y);
        tile_z[at + rows * width] = read(step.of[2], k, behind_y);
      }
    __syncthreads();
    if (!moves) continue;
    const auto along = [&](const T* tile, int stride, const T(&weights)[4]) {
      T sum = 0;
#pragma unroll
      for (int m = 0; m < half; ++m)
        sum += weights[m] * (tile[at + (m + shift) * stride] - tile[at - (m + 1 - shift) * stride]);
      return sum;
    };
    const auto& by = step.stencil.weights;
    const Index node = k * plane + j * places.pitch + i;
    const auto move = [&](int c, T curl) {
      T* const to = step.to[c] + of_shot + node;
      if constexpr (electric) {
        const T old = *to;
        if (step.old[c] != nullptr) step.old[c][of_shot + node] = old;
        if (samples) sample(*step.sampled, *step.step, shot, c, k, j, i, old);
        *to = step.keep[c][node] * old + at_node(step.factor[c], node) * curl;
      } else {
        *to -= at_node(step.factor[c], node) * curl;
      }
    };
    if constexpr (!flat) {
      move(0, along(tile_z, width, by[1]) - of_y.derivative(by[0]));
      move(1, of_x.derivative(by[0]) - along(tile_z, 1, by[2]));
      move(2, along(tile_y, 1, by[2]) - along(tile_x, width, by[1]));
    } else if constexpr (electric) {
      move(1, of_x.derivative(by[0]) - along(tile_z, 1, by[2]));
    } else {
      move(0, -of_y.derivative(by[0]));
      move(2, along(tile_y, 1, by[2]));
    }
  }
}

/// Calls body(k, j, i) for the nodes of a box that are this thread's.
template <class Body>
__device__ void each_node(const Index (&first)[3], const Index (&extent)[3], const Body& body) {
  const Index i = static_cast<Index>(blockIdx.x) * row_threads + threadIdx.x;
  if (i >= extent[2]) return;
  const Index rows = extent[0] * extent[1], step = static_cast<Index>(gridDim.y) * column_threads;
  for (Index row = static_cast<Index>(blockIdx.y) * column_threads + threadIdx.y; row < rows; row += step)
    body(first[0] + row / extent[1], first[1] + row % extent[1], first[2] + i);
}

/// Calls body(shot, component, k, j, i) for the node of a layer that is this thread's, if there is one.
template <class T, class Body>
__device__ void layer_node(const LayerStep<T>& step, const Body& body) {
  const Index shot = blockIdx.x / step.blocks, block = blockIdx.x % step.blocks;
  int b = 0;
  while (b + 1 < step.boxes && block >= step.box[b + 1].first_block) ++b;
  const LayerBox& box = step.box[b];
  const int lane = static_cast<int>(threadIdx.x) % box.lanes, row_of_block = static_cast<int>(threadIdx.x) / box.lanes;
  const Index within = block - box.first_block, i = within % box.across * box.lanes + lane;
  const Index row = within / box.across * (threads_of_block / box.lanes) + row_of_block;
  if (i >= box.extent[2] || row >= box.extent[0] * box.extent[1]) return;
  body(shot, box.component, box.first[0] + row / box.extent[1], box.first[1] + row % box.extent[1], box.first[2] + i);
}

__device__ Index along_axis(int along, Index k, Index j, Index i) { return along == 0 ? k : along == 1 ? j : i; }

template <class T>
__device__ bool is_inside(const LayerTerm<T>& term, Index at) {
  return at < term.low || at >= term.high;
}
template <class T>
__device__ Index slot(const LayerTerm<T>& term, Index at) {
  return at < term.low ? at : at - term.high + term.low;
}
/// In psi, with 0 for the index along the layers' axis.
template <class T>
__device__ Index row_of_layer(const LayerTerm<T>& term, Index k, Index j, Index i) {
  return ((term.along == 0 ? 0 : k) * term.rows + (term.along == 1 ? 0 : j)) * term.pitch + (term.along == 2 ? 0 : i);
}
template <class T>
__device__ Index stride_of_layer(const LayerTerm<T>& term) {
  return term.along == 0 ? term.rows * term.pitch : term.along == 1 ? term.pitch : 1;
}

template <class T, int order, bool electric, class At>
__device__ T derivative(const Stencil<T>& stencil, int along, Index at, Index extent, const At& value_at) {
  using To = Reach<order, electric>;
  const auto tap = [&](Index i) {
    const Image there = image<electric>(i, extent);
    return there.sign == 0 ? T(0) : static_cast<T>(there.sign) * value_at(there.at);
  };
  T sum = 0;
#pragma unroll
  for (int m = 0; m < To::half; ++m)
    sum += stencil.weights[along][m] * (tap(at + m + To::shift) - tap(at - m - 1 + To::shift));
  return sum;
}

template <class T, int order, bool electric>
__global__ void __launch_bounds__(block_threads) add_layers_of_node(const LayerStep<T> step) {
  const Places& places = step.places;
  layer_node(step, [&](Index shot, int c, Index k, Index j, Index i) {
    const Index node = (k * places.extents[1] + j) * places.pitch + i;
    T sum = 0;
    for (int t = 0; t < 2; ++t) {
      const LayerTerm<T>& term = step.terms[c][t];
      if (term.along < 0) continue;
      const Index at = along_axis(term.along, k, j, i);
      if (!is_inside(term, at)) continue;
      const Index stride = term.along == 0 ? places.extents[1] * places.pitch : term.along == 1 ? places.pitch : 1;
      const T* const row = term.of + shot * term.of_shot + node - at * stride;
      const T d = term.sign * derivative<T, order, electric>(step.stencil, term.along, at, places.extents[term.along],
                                                             [&](Index there) { return row[there * stride]; });
      T& psi = term.psi[shot * term.psi_of_shot + row_of_layer(term, k, j, i) + slot(term, at) * stride_of_layer(term)];
      const T now = term.b[at] * psi + term.a[at] * d;
      psi = now;
      sum += (term.k_inverse[at] - 1) * d + now;
    }
    step.to[c][shot * places.field + node] += at_node(step.factor[c], node) * sum;
  });
}

template <class T, int order, bool electric>
__global__ void __launch_bounds__(block_threads) carried_into_node(const LayerStep<T> step) {
  const Places& places = step.places;
  layer_node(step, [&](Index shot, int c, Index k, Index j, Index i) {
    const Index node = (k * places.extents[1] + j) * places.pitch + i;
    T sum = 0;
    for (int t = 0; t < 2; ++t) {
      const LayerTerm<T>& term = step.terms[c][t];
      if (term.along < 0) continue;
      const T* const row = term.of + shot * term.of_shot + row_of_layer(term, k, j, i);
      const Index stride = stride_of_layer(term);
      sum += term.sign * derivative<T, order, electric>(step.stencil, term.along, along_axis(term.along, k, j, i),
                                                        places.extents[term.along], [&](Index there) {
                                                          // E on a wall is zero, whatever its psi has from the end of a
                                                          // run that goes on.
                                                          const bool moves =
                                                              is_inside(term, there) && (electric || there > 0);
                                                          return moves ? row[slot(term, there) * stride] : T(0);
                                                        });
    }
    step.to[c][shot * places.field + node] += at_node(step.factor[c], node) * sum;
  });
}

template <class T>
__global__ void __launch_bounds__(block_threads) carry_in_node(const LayerStep<T> step) {
  layer_node(step, [&](Index shot, int c, Index k, Index j, Index i) {
    const T field = step.to[c][shot * step.places.field + (k * step.places.extents[1] + j) * step.places.pitch + i];
    for (int t = 0; t < 2; ++t) {
      const LayerTerm<T>& term = step.terms[c][t];
      if (term.along < 0) continue;
      const Index at = along_axis(term.along, k, j, i);
      if (!is_inside(term, at)) continue;
      const Index place =
          shot * term.psi_of_shot + row_of_layer(term, k, j, i) + slot(term, at) * stride_of_layer(term);
      const T now = term.b[at] * term.psi[place] + field;
      term.psi[place] = now;
      term.carried[place] = (term.k_inverse[at] - 1) * field + term.a[at] * now;
    }
  });
}

template <class T>
__global__ void __launch_bounds__(block_threads) relax_nodes(const PoleStep<T> step) {
  const Index none[3] = {};
  const int c = static_cast<int>(blockIdx.z % 3);
  const Index of_shot = static_cast<Index>(blockIdx.z / 3) * step.places.field;
  if (step.to[c] == nullptr) return;
  each_node(none, step.places.extents, [&](Index k, Index j, Index i) {
    const Index node = (k * step.places.extents[1] + j) * step.places.pitch + i, at = of_shot + node;
    const T old = step.old[c][at];
    T now = step.to[c][at];
    for (int p = 0; p < step.poles; ++p) {
      const PoleTerm<T>& pole = step.terms[p * 3 + c];
      const T was = pole.polarisation[at];
      if (!step.transposed) {
        now += pole.cP[node] * was;
        continue;
      }
      const T next = pole.aP[node] * was + pole.cP[node] * old;
      now += step.factor[c][node] * pole.bP[node] * (was + next);
      pole.polarisation[at] = next;
    }
    step.to[c][at] = now;
    for (int p = 0; p < step.poles && !step.transposed; ++p) {
      const PoleTerm<T>& pole = step.terms[p * 3 + c];
      pole.polarisation[at] = pole.aP[node] * pole.polarisation[at] + pole.bP[node] * (now + old);
    }
  });
}

template <class T>
__global__ void __launch_bounds__(block_threads) inject_nodes(const Injected<T> points) {
  const Index node = static_cast<Index>(blockIdx.x) * block_threads + threadIdx.x;
  if (node >= points.nodes) return;
  const double* const amplitudes = points.amplitudes + *points.step * points.sources;
  T value = *points.to[node];
  for (Index tap = points.first[node]; tap < points.first[node + 1]; ++tap)
    value += (points.factor[tap] != nullptr ? *points.factor[tap] * points.added[tap] : points.added[tap]) *
             static_cast<T>(amplitudes[points.source[tap]]);
  *points.to[node] = value;
}

template <class T>
__global__ void __launch_bounds__(block_threads) read_nodes(const Readings<T> points) {
  const Index point = static_cast<Index>(blockIdx.x) * block_threads + threadIdx.x;
  if (point >= points.points) return;
  double sum = 0;
  for (Index tap = points.first[point]; tap < points.first[point + 1]; ++tap)
    sum += points.weights[tap] * static_cast<double>(*points.from[tap]);
  points.to[*points.step * points.columns + points.column[point]] = sum;
}

__global__ void add_one(Index* step) { *step += 1; }

/// Calls body(field, shot, place of a node in the fields, its place in the arrays of the box) for the nodes that are
/// this thread's.
template <class T, class Body>
__device__ void each_node_of_box(const BoxFields<T>& box, const Body& body) {
  const int layer = static_cast<int>(blockIdx.z);
  const auto& of = box.field[layer % box.fields];
  const Index shot = layer / box.fields;
  each_node(box.first, box.extent, [&](Index k, Index j, Index i) {
    body(of, shot, shot * box.places.field + (k * box.places.extents[1] + j) * box.places.pitch + i,
         ((k - box.first[0]) * box.extent[1] + j - box.first[1]) * box.extent[2] + i - box.first[2]);
  });
}

template <class T>
__global__ void __launch_bounds__(block_threads) sample_nodes(const BoxFields<T> box) {
  each_node_of_box(box, [&](const typename BoxFields<T>::Field& of, Index shot, Index node, Index in_box) {
    const T now = of.field[node];
    const T before = of.before != nullptr ? of.before[shot * box.before_shot + in_box] : T(0);
    const Index at = shot * box.shot + in_box;
    if (of.to_difference != nullptr) of.to_difference[at] = now - before;
    if (of.to_sum != nullptr) of.to_sum[at] = now + before;
  });
}

template <class T>
__global__ void __launch_bounds__(block_threads) add_products_of_nodes(const BoxFields<T> box) {
  each_node_of_box(box, [&](const typename BoxFields<T>::Field& of, Index shot, Index node, Index in_box) {
    const Index at = shot * box.shot + in_box;
    const T w = of.sign * of.field[node];
    if (of.to_difference != nullptr) {
      const T change = of.before != nullptr ? of.after[at] - of.before[at] : of.difference[at];
      of.to_difference[node] += w * change;
      if (of.to_difference_squares != nullptr) of.to_difference_squares[node] += change * change;
    }
    if (of.to_sum != nullptr) {
      const T change = of.before != nullptr ? of.after[at] + of.before[at] : of.sum[at];
      of.to_sum[node] += w * change;
      if (of.to_sum_squares != nullptr) of.to_sum_squares[node] += change * change;
    }
  });
}

template <class T>
__global__ void __launch_bounds__(block_threads) add_change_to_nodes(const ChangeStep<T> step) {
  const Index none[3] = {};
  const auto& of = step.field[blockIdx.z];
  each_node(none, step.places.extents, [&](Index k, Index j, Index i) {
    const Index node = (k * step.places.extents[1] + j) * step.places.pitch + i;
    const T now = of.now[node], before = of.before[node];
    T added = of.difference != nullptr ? of.difference[node] * (now - before) : T(0);
    if (of.sum != nullptr) added += of.sum[node] * (now + before);
    if (of.factor != nullptr) added *= of.factor[node];
    of.to[node] += added;
    for (int p = 0; p < step.poles && of.factor != nullptr; ++p) {
      const PoleTerm<T>& pole = step.terms[p * 3 + of.component];
      pole.polarisation[node] += pole.bP[node] * added;
    }
  });
}

/// Calls body(order, whether of E) with constants.
template <class Body>
void with_order(int order, bool electric, const Body& body) {
  const auto of_kind = [&](auto kind) {
    switch (order) {
      case 2:
        return body(std::integral_constant<int, 2>{}, kind);
      case 4:
        return body(std::integral_constant<int, 4>{}, kind);
      case 6:
        return body(std::integral_constant<int, 6>{}, kind);
      default:
        return body(std::integral_constant<int, 8>{}, kind);
    }
  };
  electric ? of_kind(std::true_type{}) : of_kind(std::false_type{});
}

unsigned pieces(Index count, Index size) { return static_cast<unsigned>((count + size - 1) / size); }

/// Blocks for boxes of at most so many nodes along x, and rows.
sonde::cuda::LaunchShape shape_of_boxes(Index width, Index rows, int boxes) {
  return {{pieces(width, row_threads), static_cast<unsigned>(std::min(most_grid, Index{pieces(rows, column_threads)})),
           static_cast<unsigned>(boxes)},
          {row_threads, column_threads}};
}
template <class T>
sonde::cuda::LaunchShape shape_of(const BoxFields<T>& box) {
  return shape_of_boxes(box.extent[2], box.extent[0] * box.extent[1], box.fields * box.places.shots);
}
template <class T>
sonde::cuda::LaunchShape shape_of_layers(const LayerStep<T>& step) {
  return {static_cast<unsigned>(step.blocks * step.places.shots), block_threads};
}

template <class T, int order, bool electric, bool flat>
void launch_tiles(Stream& stream, const CurlStep<T>& step) {
  constexpr int half = order / 2, rim = flat ? 0 : half;
  const dim3 threads = flat ? dim3(block_threads) : dim3(row_threads, column_threads);
  const Places& places = step.places;
  assert(places.extents[1] * places.pitch <= std::numeric_limits<int>::max());
  const dim3 tiles(pieces(places.extents[2], threads.x), pieces(places.extents[1], threads.y));
  const Index wanted = std::max<Index>(1, wanted_blocks / (Index{tiles.x} * tiles.y * places.shots));
  const Index planes = std::max(least_planes, (places.extents[0] + wanted - 1) / wanted);
  const unsigned marches = pieces(places.extents[0], planes);
  const std::size_t tile_size = std::size_t{threads.x + 2 * half} * (threads.y + 2 * rim);
  launch_kernel(
      stream, electric ? "a step of E" : "a step of H",
      {{tiles.x, tiles.y, marches * static_cast<unsigned>(places.shots)}, threads, 2 * 3 * tile_size * sizeof(T)},
      step_tiles<T, order, electric, flat>, step, planes, marches);
}

}  // namespace

template <class T>
void step_fields(Stream& stream, const CurlStep<T>& step) {
  with_order(step.stencil.order, step.electric, [&](auto order, auto electric) {
    step.flat ? launch_tiles<T, order(), electric(), true>(stream, step)
              : launch_tiles<T, order(), electric(), false>(stream, step);
  });
}

template <class T>
void add_layers(Stream& stream, const LayerStep<T>& step) {
  if (step.blocks == 0) return;
  with_order(step.stencil.order, step.electric, [&](auto order, auto electric) {
    launch_kernel(stream, "absorbing layers", shape_of_layers(step), add_layers_of_node<T, order(), electric()>, step);
  });
}

template <class T>
void add_carried(Stream& stream, const LayerStep<T>& step) {
  if (step.blocks == 0) return;
  with_order(step.stencil.order, step.electric, [&](auto order, auto electric) {
    launch_kernel(stream, "transposed layers", shape_of_layers(step), carried_into_node<T, order(), electric()>, step);
  });
}

template <class T>
void carry(Stream& stream, const LayerStep<T>& step) {
  if (step.blocks == 0) return;
  launch_kernel(stream, "what layers carry", shape_of_layers(step), carry_in_node<T>, step);
}

template <class T>
void relax_poles(Stream& stream, const PoleStep<T>& step) {
  const Places& places = step.places;
  launch_kernel(stream, "poles",
                shape_of_boxes(places.extents[2], places.extents[0] * places.extents[1], 3 * places.shots),
                relax_nodes<T>, step);
}

template <class T>
void inject(Stream& stream, const Injected<T>& points) {
  if (points.nodes == 0) return;
  launch_kernel(stream, "sources", {pieces(points.nodes, block_threads), block_threads}, inject_nodes<T>, points);
}

template <class T>
void read_points(Stream& stream, const Readings<T>& points) {
  if (points.points == 0) return;
  launch_kernel(stream, "receivers", {pieces(points.points, block_threads), block_threads}, read_nodes<T>, points);
}

void count_step(Stream& stream, Index* step) { launch_kernel(stream, "counting steps", {1, 1}, add_one, step); }

template <class T>
void sample_box(Stream& stream, const BoxFields<T>& box) {
  launch_kernel(stream, "sampling fields", shape_of(box), sample_nodes<T>, box);
}

template <class T>
void add_products(Stream& stream, const BoxFields<T>& box) {
  launch_kernel(stream, "sums of a gradient", shape_of(box), add_products_of_nodes<T>, box);
}

template <class T>
void add_change(Stream& stream, const ChangeStep<T>& step) {
  if (step.fields == 0) return;
  const Places& places = step.places;
  launch_kernel(stream, "a change of the medium",
                shape_of_boxes(places.extents[2], places.extents[0] * places.extents[1], step.fields),
                add_change_to_nodes<T>, step);
}

#define SONDE_KERNELS_OF(T)                                 \
  template void step_fields(Stream&, const CurlStep<T>&);   \
  template void add_layers(Stream&, const LayerStep<T>&);   \
  template void add_carried(Stream&, const LayerStep<T>&);  \
  template void carry(Stream&, const LayerStep<T>&);        \
  template void relax_poles(Stream&, const PoleStep<T>&);   \
  template void inject(Stream&, const Injected<T>&);        \
  template void read_points(Stream&, const Readings<T>&);   \
  template void sample_box(Stream&, const BoxFields<T>&);   \
  template void add_products(Stream&, const BoxFields<T>&); \
  template void add_change(Stream&, const ChangeStep<T>&);
SONDE_KERNELS_OF(float)
SONDE_KERNELS_OF(double)

}  // namespace sonde::maxwell::cuda
