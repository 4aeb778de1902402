// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/panels.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace sonde::separate {
namespace {

// Rows of a panel in one sum: 32 KiB of weights, which stay in the nearest caches while rows of `a` pass.
constexpr Index rows_at_once = 256;
constexpr Index most_rows = 12;  // of a tile, with the largest registers

/// A few rows of `a` times a panel.
struct Tile {
  const float* a;
  Index a_apart;
  const float* b;
  Index inner;
  float* c;
  Index c_apart, rows;
  bool add;  ///< to what is in c
};

template <Index lanes>
using Vector [[gnu::vector_size(lanes * sizeof(float))]] = float;

/// `rows` x `vectors` sums in registers. For each row of the panel its vectors are read once, and multiplied with a
/// number of each row of a.
template <Index lanes, Index vectors, Index rows>
[[gnu::always_inline]] inline void add_products(const Tile& tile, Index column) {
  Vector<lanes> sum[rows][vectors] = {};
  float* const c = tile.c + column;
  if (tile.add) {
#pragma GCC unroll 16
    for (Index r = 0; r < rows; ++r) {
#pragma GCC unroll 4
      for (Index v = 0; v < vectors; ++v) std::memcpy(&sum[r][v], c + r * tile.c_apart + v * lanes, sizeof sum[r][v]);
    }
  }
  const float *a = tile.a, *b = tile.b + column;
  for (Index i = 0; i < tile.inner; ++i, ++a, b += panel_columns) {
    Vector<lanes> line[vectors];
#pragma GCC unroll 4
    for (Index v = 0; v < vectors; ++v) std::memcpy(&line[v], b + v * lanes, sizeof line[v]);
#pragma GCC unroll 16
    for (Index r = 0; r < rows; ++r) {
      const float factor = a[r * tile.a_apart];
#pragma GCC unroll 4
      for (Index v = 0; v < vectors; ++v) sum[r][v] += factor * line[v];
    }
  }
#pragma GCC unroll 16
  for (Index r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (Index v = 0; v < vectors; ++v) std::memcpy(c + r * tile.c_apart + v * lanes, &sum[r][v], sizeof sum[r][v]);
  }
}

template <Index lanes, Index vectors, Index rows>
[[gnu::always_inline]] inline void whole_panel(const Tile& tile) {
  if constexpr (rows > 1) {
    if (tile.rows < rows) return whole_panel<lanes, vectors, rows - 1>(tile);
  }
  for (Index column = 0; column < panel_columns; column += lanes * vectors)
    add_products<lanes, vectors, rows>(tile, column);
}

/// How a processor computes a tile, with as many sums as it has registers for.
struct Way {
  Index rows;
  void (*run)(const Tile&);
};

#if defined(__x86_64__)
[[gnu::target("avx512f")]] void with_avx512(const Tile& tile) { whole_panel<16, 2, 12>(tile); }
[[gnu::target("avx2,fma")]] void with_avx2(const Tile& tile) { whole_panel<8, 2, 6>(tile); }
#endif
void with_any(const Tile& tile) { whole_panel<4, 2, 4>(tile); }

Way best_way() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {12, with_avx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {6, with_avx2};
#endif
  return {4, with_any};
}

/// A tile whose panel has fewer columns than its place.
void run_in_part(const Way& way, Tile tile, Index columns) {
  float own[most_rows * panel_columns] = {};
  float* const c = tile.c;
  const auto row = [&](Index r) { return own + r * panel_columns; };
  for (Index r = 0; tile.add && r < tile.rows; ++r) std::copy_n(c + r * tile.c_apart, columns, row(r));
  const Index apart = tile.c_apart;
  tile.c = own, tile.c_apart = panel_columns;
  way.run(tile);
  for (Index r = 0; r < tile.rows; ++r) std::copy_n(row(r), columns, c + r * apart);
}

}  // namespace

void multiply(dense::ConstMatrix<float> a, const Panels& b, bool add, dense::Matrix<float> c) {
  static const Way way = best_way();
  const Index rows = a.extent[0], tiles = (rows + way.rows - 1) / way.rows;
  assert(a.extent[1] == b.rows && c.extent[0] == rows && c.extent[1] == b.columns);
  for (Index inner = 0; inner < b.rows; inner += rows_at_once) {
    for (Index column = 0; column < b.columns; column += panel_columns) {
      const float* const panel = b.first + column / panel_columns * b.apart + inner * panel_columns;
      const Index columns = std::min(panel_columns, b.columns - column);
      for (Index t = 0; t < tiles; ++t) {  // of as equal heights as can be: low ones wait for their own sums
        const Index first = rows * t / tiles, last = rows * (t + 1) / tiles;
        const Tile tile{.a = a.data + first * a.stride[0] + inner,
                        .a_apart = a.stride[0],
                        .b = panel,
                        .inner = std::min(rows_at_once, b.rows - inner),
                        .c = c.data + first * c.stride[0] + column,
                        .c_apart = c.stride[0],
                        .rows = last - first,
                        .add = add || inner > 0};
        if (columns == panel_columns) {
          way.run(tile);
        } else {
          run_in_part(way, tile, columns);
        }
      }
    }
  }
}

}  // namespace sonde::separate
