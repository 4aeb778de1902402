// SPDX-License-Identifier: Apache-2.0
// Private to the room: cuBLAS behind the products of batched.h. Nothing of cuda:: is referred to in a build without it.
#pragma once

#include <algorithm>

#include "sonde/engine/math/dense/batched.h"

namespace sonde::dense {

/// A product as a library that counts columns first has to be asked for it: what is written by rows is to it the
/// transposed matrix, so that c = op(a) op(b) is to it c^T = op(b)^T op(a)^T, (rows, inner) times (inner, columns).
template <class T>
struct ByColumns {
  struct Operand {
    const T* data;
    Form form;
    Index step, problem_step;  ///< elements from column to column, and from problem to problem
  };
  Index rows, columns, inner;
  Operand first, second;
  Index step, problem_step;  ///< of c
};

template <class T>
[[nodiscard]] ByColumns<T> by_columns(View<const T, 3> a, Form form_a, View<const T, 3> b, Form form_b,
                                      View<const T, 3> c) {
  // One row, or none: the step is not used, but the library wants it to be as long as a row at least.
  const auto step = [](View<const T, 3> of) {
    return std::max({Index{1}, of.extent[1] > 1 ? of.stride[1] : Index{0}, of.extent[2]});
  };
  return {.rows = c.extent[2],
          .columns = c.extent[1],
          .inner = form_a == Form::plain ? a.extent[2] : a.extent[1],
          .first = {b.data, form_b, step(b), b.stride[0]},
          .second = {a.data, form_a, step(a), a.stride[0]},
          .step = step(c),
          .problem_step = c.stride[0]};
}

namespace cuda {

/// The library's state for one stream, with its workspace: 32 MiB, as its manual asks for on this generation.
inline constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

[[nodiscard]] void* create_products(Stream& stream, void* workspace, FloatProducts float_products);
void destroy_products(Device device, void* products) noexcept;
void multiply(void* products, double alpha, ConstBatch a, Form form_a, ConstBatch b, Form form_b, double beta, Batch c);
void multiply(void* products, float alpha, View<const float, 3> a, Form form_a, View<const float, 3> b, Form form_b,
              float beta, View<float, 3> c);

}  // namespace cuda
}  // namespace sonde::dense
