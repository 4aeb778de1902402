// SPDX-License-Identifier: Apache-2.0
// Private to the room: the loops of rows.h for one type, compiled for each instruction set by the files that include
// it.
#pragma once

#include "sonde/engine/device/multiversion.h"
#include "sonde/instruments/maxwell/propagate/rows.h"

// Inlined into each clone of a kernel, and so compiled for its instruction set.
#define SONDE_INLINE inline __attribute__((always_inline))

namespace sonde::maxwell::rows {

template <int order, class T>
SONDE_INLINE T value(const std::array<const T*, 8>& taps, const std::array<T, 8>& weights, Index x) {
  T sum = weights[0] * taps[0][x];
  for (std::size_t q = 1; q < order; ++q) sum += weights[q] * taps[q][x];
  return sum;
}

template <int order, class T>
SONDE_INLINE void next_row(Derivative<T>& d) {
  for (std::size_t q = 0; q < order; ++q) d.taps[q] += d.pitch;
}

// Copies of the descriptions, so that stores to a row are known not to change them.
template <int order, class T>
SONDE_INLINE void electric(Derivative<T> a, Derivative<T> b, const T* const* ca_rows, const T* const* cb_rows, T* e,
                           const RowBlock block) {
  for (Index row = 0; row < block.rows; ++row) {
    const T *ca = ca_rows[row], *cb = cb_rows[row];
#pragma GCC ivdep
    for (Index x = 0; x < block.width; ++x)
      e[x] = ca[x] * e[x] + cb[x] * (value<order>(a.taps, a.weights, x) + value<order>(b.taps, b.weights, x));
    next_row<order>(a);
    next_row<order>(b);
    e += block.pitch;
  }
}

template <int order, class T>
SONDE_INLINE void magnetic(Derivative<T> a, const T* const* cq_rows, Index first, T* h, const RowBlock block) {
  for (Index row = 0; row < block.rows; ++row) {
    const T* cq = cq_rows[row] + first;
#pragma GCC ivdep
    for (Index x = 0; x < block.width; ++x) h[x] += cq[x] * value<order>(a.taps, a.weights, x);
    next_row<order>(a);
    h += block.pitch;
  }
}

template <int order, class T>
SONDE_INLINE void magnetic_of_two(Derivative<T> a, Derivative<T> b, const T* const* cq_rows, T* h,
                                  const RowBlock block) {
  for (Index row = 0; row < block.rows; ++row) {
    const T* cq = cq_rows[row];
#pragma GCC ivdep
    for (Index x = 0; x < block.width; ++x)
      h[x] += cq[x] * (value<order>(a.taps, a.weights, x) + value<order>(b.taps, b.weights, x));
    next_row<order>(a);
    next_row<order>(b);
    h += block.pitch;
  }
}

template <int order, bool along_x, class T>
SONDE_INLINE void layer(Derivative<T> d, const LayerFactors<T> by, Index per_row, const T* const* factor_rows,
                        Index first, T* psi, Index psi_pitch, T* to, const RowBlock block) {
  for (Index row = 0; row < block.rows; ++row) {
    const T* factor = factor_rows[row] + first;
    const T *a = by.a + row * per_row, *b = by.b + row * per_row, *k_inverse = by.k_inverse + row * per_row;
    // A line of each row of a few: too little for the processor to see what comes next.
    if (along_x) __builtin_prefetch(psi + 8 * psi_pitch, 1);
#pragma GCC ivdep
    for (Index x = 0; x < block.width; ++x) {
      const Index at = along_x ? x : 0;
      const T derived = value<order>(d.taps, d.weights, x);
      const T now = b[at] * psi[x] + a[at] * derived;
      psi[x] = now;
      to[x] += factor[x] * ((k_inverse[at] - 1) * derived + now);
    }
    next_row<order>(d);
    psi += psi_pitch;
    to += block.pitch;
  }
}

template <bool along_x, class T>
SONDE_INLINE void carry(const T* field, const LayerFactors<T> by, Index per_row, T* psi, T* carried, Index psi_pitch,
                        const RowBlock block) {
  for (Index row = 0; row < block.rows; ++row) {
    const T *a = by.a + row * per_row, *b = by.b + row * per_row, *k_inverse = by.k_inverse + row * per_row;
#pragma GCC ivdep
    for (Index x = 0; x < block.width; ++x) {
      const Index at = along_x ? x : 0;
      const T now = b[at] * psi[x] + field[x];
      psi[x] = now;
      carried[x] = (k_inverse[at] - 1) * field[x] + a[at] * now;
    }
    field += block.pitch;
    psi += psi_pitch;
    carried += psi_pitch;
  }
}

template <class T>
SONDE_INLINE void add_changes(const T* w, T factor, const T* before, const T* after, T* difference, T* sum,
                              Index width) {
  if (difference != nullptr && sum != nullptr) {
#pragma GCC ivdep
    for (Index x = 0; x < width; ++x) {
      const T weight = factor * w[x];
      difference[x] += weight * (after[x] - before[x]);
      sum[x] += weight * (after[x] + before[x]);
    }
  } else if (difference != nullptr) {
#pragma GCC ivdep
    for (Index x = 0; x < width; ++x) difference[x] += factor * w[x] * (after[x] - before[x]);
  } else if (sum != nullptr) {
#pragma GCC ivdep
    for (Index x = 0; x < width; ++x) sum[x] += factor * w[x] * (after[x] + before[x]);
  }
}

template <class T>
SONDE_INLINE void add_squares(const T* a, const T* b, T factor, T* sum, Index width) {
#pragma GCC ivdep
  for (Index x = 0; x < width; ++x) {
    const T value = a[x] + factor * b[x];
    sum[x] += value * value;
  }
}

template <class T>
SONDE_INLINE void add_products(const T* w, T factor, const T* change, T* to, Index width) {
#pragma GCC ivdep
  for (Index x = 0; x < width; ++x) to[x] += factor * w[x] * change[x];
}

}  // namespace sonde::maxwell::rows

// The kernels of one order: target_clones needs functions that are no templates.
#define SONDE_ROWS_OF_ORDER(T, order)                                                                                  \
  SONDE_MULTIVERSION void electric_##order(const Derivative<T>& a, const Derivative<T>& b, const T* const* ca,         \
                                           const T* const* cb, T* e, const RowBlock& block) {                          \
    rows::electric<order, T>(a, b, ca, cb, e, block);                                                                  \
  }                                                                                                                    \
  SONDE_MULTIVERSION void magnetic_##order(const Derivative<T>& a, const T* const* cq, Index first, T* h,              \
                                           const RowBlock& block) {                                                    \
    rows::magnetic<order, T>(a, cq, first, h, block);                                                                  \
  }                                                                                                                    \
  SONDE_MULTIVERSION void magnetic_of_two_##order(const Derivative<T>& a, const Derivative<T>& b, const T* const* cq,  \
                                                  T* h, const RowBlock& block) {                                       \
    rows::magnetic_of_two<order, T>(a, b, cq, h, block);                                                               \
  }                                                                                                                    \
  SONDE_MULTIVERSION void layer_##order(const Derivative<T>& d, const LayerFactors<T>& by, Index per_row,              \
                                        const T* const* factor, T* psi, Index psi_pitch, T* to,                        \
                                        const RowBlock& block) {                                                       \
    rows::layer<order, false, T>(d, by, per_row, factor, 0, psi, psi_pitch, to, block);                                \
  }                                                                                                                    \
  SONDE_MULTIVERSION void layer_along_x_##order(const Derivative<T>& d, const LayerFactors<T>& by,                     \
                                                const T* const* factor, Index first, T* psi, Index psi_pitch, T* to,   \
                                                const RowBlock& block) {                                               \
    rows::layer<order, true, T>(d, by, 0, factor, first, psi, psi_pitch, to, block);                                   \
  }                                                                                                                    \
  constexpr RowKernels<T> of_order_##order{electric_##order, magnetic_##order, magnetic_of_two_##order, layer_##order, \
                                           layer_along_x_##order};
#define SONDE_TRANSPOSE_OF_TYPE(T)                                                                                  \
  SONDE_MULTIVERSION void carry(const T* field, const LayerFactors<T>& by, Index per_row, T* psi, T* carried,       \
                                Index psi_pitch, const RowBlock& block) {                                           \
    rows::carry<false, T>(field, by, per_row, psi, carried, psi_pitch, block);                                      \
  }                                                                                                                 \
  SONDE_MULTIVERSION void carry_along_x(const T* field, const LayerFactors<T>& by, T* psi, T* carried,              \
                                        Index psi_pitch, const RowBlock& block) {                                   \
    rows::carry<true, T>(field, by, 0, psi, carried, psi_pitch, block);                                             \
  }                                                                                                                 \
  SONDE_MULTIVERSION void add_changes(const T* w, T factor, const T* before, const T* after, T* difference, T* sum, \
                                      Index width) {                                                                \
    rows::add_changes<T>(w, factor, before, after, difference, sum, width);                                         \
  }                                                                                                                 \
  SONDE_MULTIVERSION void add_squares(const T* a, const T* b, T factor, T* sum, Index width) {                      \
    rows::add_squares<T>(a, b, factor, sum, width);                                                                 \
  }                                                                                                                 \
  SONDE_MULTIVERSION void add_products(const T* w, T factor, const T* change, T* to, Index width) {                 \
    rows::add_products<T>(w, factor, change, to, width);                                                            \
  }                                                                                                                 \
  constexpr TransposeKernels<T> transposed{carry, carry_along_x, add_changes, add_squares, add_products};
#define SONDE_ROWS_OF_TYPE(T, name)                   \
  namespace rows::name {                              \
  SONDE_ROWS_OF_ORDER(T, 2)                           \
  SONDE_ROWS_OF_ORDER(T, 4)                           \
  SONDE_ROWS_OF_ORDER(T, 6)                           \
  SONDE_ROWS_OF_ORDER(T, 8)                           \
  SONDE_TRANSPOSE_OF_TYPE(T)                          \
  }                                                   \
  template <>                                         \
  const RowKernels<T>& row_kernels<T>(int order) {    \
    return order == 2   ? rows::name::of_order_2      \
           : order == 4 ? rows::name::of_order_4      \
           : order == 6 ? rows::name::of_order_6      \
                        : rows::name::of_order_8;     \
  }                                                   \
  template <>                                         \
  const TransposeKernels<T>& transpose_kernels<T>() { \
    return rows::name::transposed;                    \
  }
