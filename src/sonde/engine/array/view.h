// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cassert>
#include <cstddef>
#include <type_traits>

#include "sonde/engine/base/host_device.h"
#include "sonde/engine/base/index.h"

namespace sonde {

/// A non-owning window on elements: data, extents and strides (in elements), slowest dimension first. Trivially
/// copyable; pass it by value, also into kernels. Bounds are asserted in debug builds. View<T> converts to View<const
/// T>.
template <class T, int Rank>
struct View {
  static_assert(Rank >= 1);

  T* data = nullptr;
  Index extent[Rank] = {};
  Index stride[Rank] = {};

  View() = default;

  /// Contiguous, last index fastest.
  template <class... Extents, std::enable_if_t<sizeof...(Extents) == Rank, int> = 0>
  SONDE_HOST_DEVICE View(T* elements, Extents... extents) : data(elements), extent{static_cast<Index>(extents)...} {
    Index step = 1;
    for (int i = Rank - 1; i >= 0; --i) {
      stride[i] = step;
      step *= extent[i];
    }
  }

  template <class U = T, std::enable_if_t<!std::is_const_v<U>, int> = 0>
  SONDE_HOST_DEVICE operator View<const U, Rank>() const {
    View<const U, Rank> other;
    other.data = data;
    for (int i = 0; i < Rank; ++i) {
      other.extent[i] = extent[i];
      other.stride[i] = stride[i];
    }
    return other;
  }

  template <class... Indices, std::enable_if_t<sizeof...(Indices) == Rank, int> = 0>
  SONDE_HOST_DEVICE T& operator()(Indices... indices) const {
    const Index at[Rank] = {static_cast<Index>(indices)...};
    Index offset = 0;
    for (int i = 0; i < Rank; ++i) {
      assert(at[i] >= 0 && at[i] < extent[i]);
      offset += at[i] * stride[i];
    }
    return data[offset];
  }

  /// Drops the first dimension; an element when there is only one.
  SONDE_HOST_DEVICE decltype(auto) operator[](Index i) const {
    assert(i >= 0 && i < extent[0]);
    if constexpr (Rank == 1) {
      return static_cast<T&>(data[i * stride[0]]);
    } else {
      View<T, Rank - 1> part;
      part.data = data + i * stride[0];
      for (int k = 1; k < Rank; ++k) {
        part.extent[k - 1] = extent[k];
        part.stride[k - 1] = stride[k];
      }
      return part;
    }
  }

  [[nodiscard]] SONDE_HOST_DEVICE Index count() const {
    Index product = 1;
    for (int i = 0; i < Rank; ++i) product *= extent[i];
    return product;
  }

  [[nodiscard]] SONDE_HOST_DEVICE bool contiguous() const {
    Index step = 1;
    for (int i = Rank - 1; i >= 0; --i) {
      if (extent[i] != 1 && stride[i] != step) return false;
      step *= extent[i];
    }
    return true;
  }
};

}  // namespace sonde
