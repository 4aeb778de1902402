// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/array/shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/error.h"

namespace sonde {

Shape::Shape(std::initializer_list<Index> extents) {
  for (const Index extent : extents) append(extent);
}

void Shape::append(Index extent) {
  if (rank_ == max_rank) throw Error(ErrorKind::bad_input, fmt::format("more than {} dimensions", max_rank));
  if (extent < 0) throw Error(ErrorKind::bad_input, fmt::format("negative extent {}", extent));
  extents_[static_cast<std::size_t>(rank_++)] = extent;
}

Index Shape::count() const {
  if (std::find(extents_.begin(), extents_.begin() + rank_, 0) != extents_.begin() + rank_) return 0;
  Index product = 1;
  for (int i = 0; i < rank_; ++i)
    if (__builtin_mul_overflow(product, (*this)[i], &product))
      throw Error(ErrorKind::bad_input, fmt::format("shape {} has more than 2^63 elements", text()));
  return product;
}

Shape Shape::last(int dimensions) const {
  Shape part;
  for (int i = rank_ - dimensions; i < rank_; ++i) part.append((*this)[i]);
  return part;
}

Shape Shape::first(int dimensions) const {
  Shape part;
  for (int i = 0; i < dimensions; ++i) part.append((*this)[i]);
  return part;
}

std::string Shape::text() const {
  return fmt::format("({}{})", fmt::join(extents_.begin(), extents_.begin() + rank_, ", "), rank_ == 1 ? "," : "");
}

}  // namespace sonde
