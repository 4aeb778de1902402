// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/math/dense/batched.h"

#include <algorithm>
#include <cassert>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/device/pool.h"
#include "sonde/engine/math/dense/batched_device.h"
#include "sonde/engine/math/dense/batched_products.h"
#include "sonde/engine/math/dense/cholesky_block.h"

namespace sonde::dense {

struct BatchedAlgebra::Products {
  Products(Stream& stream, FloatProducts float_products) : device(stream.device()) {
    if constexpr (built_with_cuda) {
      if (device.is_cpu()) return;
      workspace = Pool::of(device).allocate(cuda::workspace_bytes);
      try {
        library = cuda::create_products(stream, workspace, float_products);
      } catch (...) {
        Pool::of(device).deallocate(workspace, cuda::workspace_bytes);
        throw;
      }
    }
    (void)float_products;
  }
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  ~Products() {
    if constexpr (built_with_cuda) {
      if (device.is_cpu()) return;
      cuda::destroy_products(device, library);
      Pool::of(device).deallocate(workspace, cuda::workspace_bytes);
    }
  }

  Device device;
  void *workspace = nullptr, *library = nullptr;
};

BatchedAlgebra::BatchedAlgebra(Device device, FloatProducts float_products)
    : stream_(device), products_(std::make_unique<Products>(stream_, float_products)) {}

BatchedAlgebra::~BatchedAlgebra() {
  try {
    stream_.synchronise();
  } catch (...) {  // those who waited for the results have the exception
  }
}

Stream& BatchedAlgebra::stream() { return stream_; }

std::size_t BatchedAlgebra::bytes(Device device) { return device.is_cpu() ? 0 : cuda::workspace_bytes; }

template <class T>
void BatchedAlgebra::product(T alpha, View<const T, 3> a, Form form_a, View<const T, 3> b, Form form_b, T beta,
                             View<T, 3> c) {
  assert(a.extent[0] == c.extent[0] && b.extent[0] == c.extent[0]);
  if (c.count() == 0) return;
  if constexpr (built_with_cuda)
    if (!stream_.device().is_cpu()) return cuda::multiply(products_->library, alpha, a, form_a, b, form_b, beta, c);
  parallel_for(c.extent[0], 1, [&](Index first, Index last, Worker&) {
    for (Index p = first; p < last; ++p) dense::multiply(alpha, a[p], form_a, b[p], form_b, beta, c[p]);
  });
}

void BatchedAlgebra::multiply(double alpha, ConstBatch a, Form form_a, ConstBatch b, Form form_b, double beta,
                              Batch c) {
  product(alpha, a, form_a, b, form_b, beta, c);
}

void BatchedAlgebra::multiply(float alpha, View<const float, 3> a, Form form_a, View<const float, 3> b, Form form_b,
                              float beta, View<float, 3> c) {
  product(alpha, a, form_a, b, form_b, beta, c);
}

void BatchedAlgebra::combine(double alpha, Factors factors, ConstBatch from, double beta, Batch to) {
  assert(alpha == 0 ||
         (from.extent[0] == to.extent[0] && from.extent[1] == to.extent[1] && from.extent[2] == to.extent[2]));
  device::Combine body;
  body.alpha = alpha;
  body.beta = beta;
  body.factors = factors;
  body.from = from;
  body.to = to;
  run_on(stream_, {.blocks = to.extent[0] * body.strips()}, body);
}

void BatchedAlgebra::add_to_diagonal(double alpha, Factors values, Index offset, Batch to) {
  device::AddToDiagonal body;
  body.alpha = alpha;
  body.values = values;
  body.offset = offset;
  body.to = to;
  if (body.count() > 0) run_on(stream_, {.blocks = to.extent[0]}, body);
}

void BatchedAlgebra::factorise(const BatchedCholesky& factor, Batch scratch, View<Index, 1> failed, Index mark) {
  const Batch a = factor.lower;
  const Index n = a.extent[1], block = block_rows(n);
  assert(a.extent[2] == n && factor.inverses.extent[1] == n && factor.inverses.extent[2] >= block);
  for (Index first = 0; first < n; first += block) {
    const Index size = std::min(block, n - first), below = n - first - size;
    device::FactoriseAndInvert body;
    body.a = part(a, first, size, first, size);
    body.inverse = part(factor.inverses, first, size, 0, size);
    body.failed = failed;
    body.mark = mark;
    run_on(stream_, {.blocks = a.extent[0], .scratch_bytes = body.scratch_bytes()}, body);
    if (below == 0) continue;
    const Batch panel = part(a, first + size, below, first, size), old = part(scratch, 0, below, 0, size);
    combine(1, {}, panel, 0, old);
    multiply(1, old, Form::plain, body.inverse, Form::transposed, 0, panel);
    multiply(-1, panel, Form::plain, panel, Form::transposed, 1, part(a, first + size, below, first + size, below));
  }
}

void BatchedAlgebra::solve_lower(const BatchedCholesky& factor, Form form, Batch b, Batch scratch) {
  assert(factor.lower.extent[1] == b.extent[1]);
  if (b.count() > 0) solve_rows(factor, form, 0, b.extent[1], b, scratch);
}

/// For these rows of b, when those before them are done: above in R, below in R^T. By halves, as in cholesky.cpp.
void BatchedAlgebra::solve_rows(const BatchedCholesky& factor, Form form, Index first, Index count, Batch b,
                                Batch scratch) {
  const Index columns = b.extent[2], block = block_rows(b.extent[1]);
  const auto rows = [&](Index from, Index size) { return part(b, from, size, 0, columns); };
  if (count <= block) {
    const Batch old = part(scratch, 0, count, 0, columns);
    combine(1, {}, rows(first, count), 0, old);
    multiply(1, part(factor.inverses, first, count, 0, count), form, old, Form::plain, 0, rows(first, count));
    return;
  }
  const Index upper = (count + block - 1) / block / 2 * block, lower = count - upper, middle = first + upper;
  const Batch across = part(factor.lower, middle, lower, first, upper);
  if (form == Form::plain) {
    solve_rows(factor, form, first, upper, b, scratch);
    multiply(-1, across, form, rows(first, upper), Form::plain, 1, rows(middle, lower));
    solve_rows(factor, form, middle, lower, b, scratch);
  } else {
    solve_rows(factor, form, middle, lower, b, scratch);
    multiply(-1, across, form, rows(middle, lower), Form::plain, 1, rows(first, upper));
    solve_rows(factor, form, first, upper, b, scratch);
  }
}

}  // namespace sonde::dense
