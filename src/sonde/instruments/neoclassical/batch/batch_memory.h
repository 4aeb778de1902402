// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include "sonde/engine/math/dense/batched.h"

namespace sonde::neoclassical {

/// Hands out the matrices of `problems` from one piece of device memory. Without memory it only counts, so that what
/// is taken and what is budgeted are the same lines.
class BatchMemory {
 public:
  explicit BatchMemory(Index problems, double* data = nullptr) : problems_(problems), data_(data) {}

  dense::Batch matrices(Index rows, Index columns) {
    double* const first = data_ == nullptr ? nullptr : data_ + used_;
    used_ += problems_ * rows * columns;
    return dense::Batch(first, problems_, rows, columns);
  }
  [[nodiscard]] Index problems() const { return problems_; }
  /// Elements handed out so far.
  [[nodiscard]] Index used() const { return used_; }

 private:
  Index problems_;
  double* data_;
  Index used_ = 0;
};

/// The storage of larger matrices as smaller ones, packed anew: blocks of even and odd functions differ by one row.
[[nodiscard]] inline dense::Batch shaped(dense::Batch storage, Index rows, Index columns) {
  assert(rows * columns <= storage.extent[1] * storage.stride[1]);
  storage.extent[1] = rows;
  storage.extent[2] = storage.stride[1] = columns;
  return storage;
}

/// A number of each problem, (problem, 1, 1), for all rows or columns.
[[nodiscard]] inline dense::Factors of_each(dense::Batch numbers) {
  dense::Factors made;
  made.data = numbers.data;
  made.extent[0] = numbers.extent[0];
  made.extent[1] = Index{1} << 31;  // any
  made.stride[0] = numbers.stride[0];
  made.stride[1] = 0;
  return made;
}

}  // namespace sonde::neoclassical
