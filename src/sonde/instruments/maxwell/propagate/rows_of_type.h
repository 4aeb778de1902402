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
SONDE_INLINE void next_row(std::array<const T*, 8>& taps, Index pitch) {
  for (std::size_t q = 0; q < order; ++q) taps[q] += pitch;
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
    next_row<order>(a.taps, block.pitch);
    next_row<order>(b.taps, block.pitch);
    e += block.pitch;
  }
}

template <int order, class T>
SONDE_INLINE void magnetic(Derivative<T> a, const T* const* cq_rows, T* h, const RowBlock block) {
  for (Index row = 0; row < block.rows; ++row) {
    const T* cq = cq_rows[row];
#pragma GCC ivdep
    for (Index x = 0; x < block.width; ++x) h[x] += cq[x] * value<order>(a.taps, a.weights, x);
    next_row<order>(a.taps, block.pitch);
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
    next_row<order>(a.taps, block.pitch);
    next_row<order>(b.taps, block.pitch);
    h += block.pitch;
  }
}

template <int order, class T>
SONDE_INLINE void derive(const Derivative<T> d, T* to, Index first, Index last) {
#pragma GCC ivdep
  for (Index x = first; x < last; ++x) to[x] = value<order>(d.taps, d.weights, x);
}

template <class T, class Factor>
SONDE_INLINE void layer(const T* d, const Factor& a, const Factor& b, const Factor& k_inverse, const T* factor, T* psi,
                        T* to, Index first, Index last) {
#pragma GCC ivdep
  for (Index x = first; x < last; ++x) {
    const T now = b(x) * psi[x] + a(x) * d[x];
    psi[x] = now;
    to[x] += factor[x] * ((k_inverse(x) - 1) * d[x] + now);
  }
}

template <class T>
struct OfRow {
  T value;
  SONDE_INLINE T operator()(Index) const { return value; }
};
template <class T>
struct OfEach {
  const T* values;
  SONDE_INLINE T operator()(Index x) const { return values[x]; }
};

}  // namespace sonde::maxwell::rows

// The kernels of one order: target_clones needs functions that are no templates.
#define SONDE_ROWS_OF_ORDER(T, order)                                                                                 \
  SONDE_MULTIVERSION void electric_##order(const Derivative<T>& a, const Derivative<T>& b, const T* const* ca,        \
                                           const T* const* cb, T* e, const RowBlock& block) {                         \
    rows::electric<order, T>(a, b, ca, cb, e, block);                                                                 \
  }                                                                                                                   \
  SONDE_MULTIVERSION void magnetic_##order(const Derivative<T>& a, const T* const* cq, T* h, const RowBlock& block) { \
    rows::magnetic<order, T>(a, cq, h, block);                                                                        \
  }                                                                                                                   \
  SONDE_MULTIVERSION void magnetic_of_two_##order(const Derivative<T>& a, const Derivative<T>& b, const T* const* cq, \
                                                  T* h, const RowBlock& block) {                                      \
    rows::magnetic_of_two<order, T>(a, b, cq, h, block);                                                              \
  }                                                                                                                   \
  SONDE_MULTIVERSION void derive_##order(const Derivative<T>& d, T* to, Index first, Index last) {                    \
    rows::derive<order, T>(d, to, first, last);                                                                       \
  }                                                                                                                   \
  constexpr RowKernels<T> of_order_##order{electric_##order, magnetic_##order, magnetic_of_two_##order, derive_##order};
#define SONDE_ROWS_OF_TYPE(T, name)                                                                                    \
  namespace rows::name {                                                                                               \
  SONDE_ROWS_OF_ORDER(T, 2)                                                                                            \
  SONDE_ROWS_OF_ORDER(T, 4)                                                                                            \
  SONDE_ROWS_OF_ORDER(T, 6)                                                                                            \
  SONDE_ROWS_OF_ORDER(T, 8)                                                                                            \
  SONDE_MULTIVERSION void layer_of_row(const T* d, T a, T b, T k_inverse, const T* factor, T* psi, T* to, Index first, \
                                       Index last) {                                                                   \
    using rows::OfRow;                                                                                                 \
    rows::layer(d, OfRow<T>{a}, OfRow<T>{b}, OfRow<T>{k_inverse}, factor, psi, to, first, last);                       \
  }                                                                                                                    \
  SONDE_MULTIVERSION void layer_of_each(const T* d, const T* a, const T* b, const T* k_inverse, const T* factor,       \
                                        T* psi, T* to, Index count) {                                                  \
    using rows::OfEach;                                                                                                \
    rows::layer(d, OfEach<T>{a}, OfEach<T>{b}, OfEach<T>{k_inverse}, factor, psi, to, 0, count);                       \
  }                                                                                                                    \
  }                                                                                                                    \
  template <>                                                                                                          \
  const RowKernels<T>& row_kernels<T>(int order) {                                                                     \
    return order == 2   ? rows::name::of_order_2                                                                       \
           : order == 4 ? rows::name::of_order_4                                                                       \
           : order == 6 ? rows::name::of_order_6                                                                       \
                        : rows::name::of_order_8;                                                                      \
  }                                                                                                                    \
  void add_layer(const T* d, T a, T b, T k_inverse, const T* factor, T* psi, T* to, Index first, Index last) {         \
    rows::name::layer_of_row(d, a, b, k_inverse, factor, psi, to, first, last);                                        \
  }                                                                                                                    \
  void add_layer(const T* d, const T* a, const T* b, const T* k_inverse, const T* factor, T* psi, T* to,               \
                 Index count) {                                                                                        \
    rows::name::layer_of_each(d, a, b, k_inverse, factor, psi, to, count);                                             \
  }
