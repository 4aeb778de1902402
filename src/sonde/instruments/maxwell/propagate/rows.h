// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <array>

#include "sonde/engine/base/index.h"

namespace sonde::maxwell {

/// A derivative along any axis for one row of nodes: sum over taps of weight * row[x]. Rows of other planes, the same
/// row shifted along x, and images behind walls are all pointers; sign, spacing and stencil are in the weights.
template <class T>
struct Derivative {
  std::array<const T*, 8> taps{};  ///< as many as the order
  std::array<T, 8> weights{};
  Index pitch = 0;  ///< from the taps of a row to those of the next one
};

/// Rows of results, one pitch apart, that a loop goes through with the same weights; factors are where the table says.
struct RowBlock {
  Index rows = 1, pitch = 0, width = 0;
};

/// Factors of an absorbing layer, from the first that is used on.
template <class T>
struct LayerFactors {
  const T *a, *b, *k_inverse;
};

/// The loops of a step for a stencil order. All rows may be read beyond their ends by half
/// the order. `first` is the x where rows of factors begin to count, `per_row` how many of the layer's factors are gone
/// on by from row to row.
template <class T>
struct RowKernels {
  /// e <- ca e + cb (a + b).
  void (*electric)(const Derivative<T>& a, const Derivative<T>& b, const T* const* ca, const T* const* cb, T* e,
                   const RowBlock& block);
  /// h <- h + cq a, or h + cq (a + b).
  void (*magnetic)(const Derivative<T>& a, const T* const* cq, Index first, T* h, const RowBlock& block);
  void (*magnetic_of_two)(const Derivative<T>& a, const Derivative<T>& b, const T* const* cq, T* h,
                          const RowBlock& block);
  /// What a layer adds beside the plain update: psi <- b psi + a d, then to <- to + factor ((k_inverse - 1) d + psi).
  /// The layer's factors are those of a row, or one for each x; psi has rows of its own pitch.
  void (*layer)(const Derivative<T>& d, const LayerFactors<T>& layer, Index per_row, const T* const* factor, T* psi,
                Index psi_pitch, T* to, const RowBlock& block);
  void (*layer_along_x)(const Derivative<T>& d, const LayerFactors<T>& layer, const T* const* factor, Index first,
                        T* psi, Index psi_pitch, T* to, const RowBlock& block);
};

/// What a transposed step does beside that.
template <class T>
struct TransposeKernels {
  /// What a layer keeps and carries of its component: psi <- b psi + field, carried = (k_inverse - 1) field + a psi;
  /// psi and carried have rows of their own pitch.
  void (*carry)(const T* field, const LayerFactors<T>& layer, Index per_row, T* psi, T* carried, Index psi_pitch,
                const RowBlock& block);
  void (*carry_along_x)(const T* field, const LayerFactors<T>& layer, T* psi, T* carried, Index psi_pitch,
                        const RowBlock& block);
  /// difference <- difference + factor w (after - before), sum <- sum + factor w (after + before), for those that are
  /// not null.
  void (*add_changes)(const T* w, T factor, const T* before, const T* after, T* difference, T* sum, Index width);
  /// sum <- sum + (a + factor b)^2.
  void (*add_squares)(const T* a, const T* b, T factor, T* sum, Index width);
  /// to <- to + factor w change.
  void (*add_products)(const T* w, T factor, const T* change, T* to, Index width);
};

template <class T>
[[nodiscard]] const TransposeKernels<T>& transpose_kernels();
template <>
const TransposeKernels<float>& transpose_kernels<float>();
template <>
const TransposeKernels<double>& transpose_kernels<double>();

/// Of order 2, 4, 6 or 8, for the instruction set of this processor.
template <class T>
[[nodiscard]] const RowKernels<T>& row_kernels(int order);
template <>
const RowKernels<float>& row_kernels<float>(int order);
template <>
const RowKernels<double>& row_kernels<double>(int order);

}  // namespace sonde::maxwell
