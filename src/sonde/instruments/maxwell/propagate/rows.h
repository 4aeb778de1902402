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
};

/// Rows one pitch apart that a loop goes through with the same weights: taps and results move on by it from row to row,
/// factors are where the table says.
struct RowBlock {
  Index rows = 1, pitch = 0, width = 0;
};

/// The loops of a step for a stencil order. All rows may be read beyond their ends by half the order.
template <class T>
struct RowKernels {
  /// e <- ca e + cb (a + b).
  void (*electric)(const Derivative<T>& a, const Derivative<T>& b, const T* const* ca, const T* const* cb, T* e,
                   const RowBlock& block);
  /// h <- h + cq a, or h + cq (a + b).
  void (*magnetic)(const Derivative<T>& a, const T* const* cq, T* h, const RowBlock& block);
  void (*magnetic_of_two)(const Derivative<T>& a, const Derivative<T>& b, const T* const* cq, T* h,
                          const RowBlock& block);
  /// to <- d in [first, last) of one row.
  void (*derive)(const Derivative<T>& d, T* to, Index first, Index last);
};

/// Of order 2, 4, 6 or 8, for the instruction set of this processor.
template <class T>
[[nodiscard]] const RowKernels<T>& row_kernels(int order);
template <>
const RowKernels<float>& row_kernels<float>(int order);
template <>
const RowKernels<double>& row_kernels<double>(int order);

/// A layer's share of one row beside its plain update, to <- to + factor ((k_inverse - 1) d + psi), psi <- b psi + a d
/// first. The layer's factors are one number for the row, or one for each x.
void add_layer(const float* d, float a, float b, float k_inverse, const float* factor, float* psi, float* to,
               Index first, Index last);
void add_layer(const double* d, double a, double b, double k_inverse, const double* factor, double* psi, double* to,
               Index first, Index last);
void add_layer(const float* d, const float* a, const float* b, const float* k_inverse, const float* factor, float* psi,
               float* to, Index count);
void add_layer(const double* d, const double* a, const double* b, const double* k_inverse, const double* factor,
               double* psi, double* to, Index count);

}  // namespace sonde::maxwell
