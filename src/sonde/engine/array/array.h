// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "sonde/engine/array/dtype.h"
#include "sonde/engine/array/shape.h"
#include "sonde/engine/array/view.h"
#include "sonde/engine/device/stream.h"

namespace sonde {

/// Owning elements on one device: shape, element type, strides. Movable; copies are explicit (`copy_to`). Memory comes
/// from the device's Pool; an Array never reserves budget itself, whoever sizes it does.
class Array {
 public:
  Array() = default;
  /// Contiguous, contents unspecified. Throws Error(budget) when the device refuses.
  Array(Device device, Shape shape, DType dtype);

  static Array zeros(Device device, Shape shape, DType dtype);
  /// Rows of the last dimension start at multiples of `alignment_bytes` (a multiple of the element size).
  static Array pitched(Device device, Shape shape, DType dtype, std::size_t alignment_bytes);
  /// Host elements that somebody else owns; `release` runs when the last use ends. Strides in elements.
  static Array borrowed(void* data, Shape shape, std::array<Index, Shape::max_rank> strides, DType dtype,
                        std::function<void()> release);
  /// A contiguous host array with these elements.
  template <class T>
  static Array from(const std::vector<T>& elements, Shape shape);

  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] Device device() const { return device_; }
  [[nodiscard]] Index count() const { return shape_.count(); }
  [[nodiscard]] Index stride(int dimension) const { return strides_[static_cast<std::size_t>(dimension)]; }
  [[nodiscard]] bool contiguous() const;
  /// Bytes this array holds allocated, padding included.
  [[nodiscard]] std::size_t allocated_bytes() const { return allocated_bytes_; }
  [[nodiscard]] void* data() { return data_.get(); }
  [[nodiscard]] const void* data() const { return data_.get(); }
  [[nodiscard]] bool empty() const { return data_ == nullptr; }

  /// A checked view. Throws Error(internal) that names both types when type or rank differ.
  template <class T, int Rank>
  [[nodiscard]] View<T, Rank> view();
  template <class T, int Rank>
  [[nodiscard]] View<const T, Rank> view() const;
  /// Leading dimensions folded into one: a (Ry, Rx, Qy, Qx) array as (Ry*Rx, Qy, Qx). Those dimensions must be dense.
  [[nodiscard]] Array reshaped(Shape shape) &&;

  /// The elements on `device`, contiguous, through `stream`; waits until they are there.
  [[nodiscard]] Array copy_to(Device device, Stream& stream) const;
  [[nodiscard]] Array clone() const;

  /// Frees the memory now; the array is empty afterwards.
  void free();

 private:
  void check_view(DType dtype, int rank) const;

  Device device_;
  Shape shape_;
  std::array<Index, Shape::max_rank> strides_{};
  DType dtype_ = DType::u8;
  std::size_t allocated_bytes_ = 0;
  std::unique_ptr<void, std::function<void(void*)>> data_;
};

/// The same elements without owning them, only to be read and only while `array` lives.
[[nodiscard]] Array alias(const Array& array);
/// The same, which keeps the owner.
[[nodiscard]] Array alias(std::shared_ptr<const Array> owner);

/// Throws Error(internal) when an array is not on the stream's device: an error here is better than a crash there.
void require_on(const Stream& stream, const Array& array);
template <class... Arrays>
void require_on(const Stream& stream, const Array& first, const Arrays&... others) {
  require_on(stream, first);
  (require_on(stream, others), ...);
}

/// Calls body with a View<const T, Rank> of the array's unsigned element type (u8, u16 or u32). Throws Error(bad_input)
/// for other types.
template <int Rank, class Body>
void visit_counts(const Array& array, Body&& body);

/// Implementation of the templates.

template <class T, int Rank>
View<T, Rank> Array::view() {
  check_view(dtype_of<T>, Rank);
  View<T, Rank> view;
  view.data = static_cast<T*>(data_.get());
  for (int i = 0; i < Rank; ++i) {
    view.extent[i] = shape_[i];
    view.stride[i] = stride(i);
  }
  return view;
}

template <class T, int Rank>
View<const T, Rank> Array::view() const {
  return const_cast<Array*>(this)->view<T, Rank>();
}

namespace detail {
Array array_from(const void* elements, std::size_t count, Shape shape, DType dtype);
[[noreturn]] void not_counts(DType dtype);
}  // namespace detail

template <class T>
Array Array::from(const std::vector<T>& elements, Shape shape) {
  return detail::array_from(elements.data(), elements.size(), shape, dtype_of<T>);
}

template <int Rank, class Body>
void visit_counts(const Array& array, Body&& body) {
  switch (array.dtype()) {
    case DType::u8:
      return body(array.view<std::uint8_t, Rank>());
    case DType::u16:
      return body(array.view<std::uint16_t, Rank>());
    case DType::u32:
      return body(array.view<std::uint32_t, Rank>());
    default:
      detail::not_counts(array.dtype());
  }
}

}  // namespace sonde
