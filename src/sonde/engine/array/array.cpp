// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/array/array.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/saturate.h"
#include "sonde/engine/device/pool.h"

namespace sonde {
namespace {

std::array<Index, Shape::max_rank> contiguous_strides(const Shape& shape) {
  std::array<Index, Shape::max_rank> strides{};
  Index step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[static_cast<std::size_t>(i)] = step;
    step = saturating_product(step, shape[i]);  // an array without elements may have any other extents
  }
  return strides;
}

std::size_t bytes_of(const Shape& shape, DType dtype) {
  const Index bytes = saturating_product(shape.count(), static_cast<Index>(size_bytes(dtype)));
  if (bytes == saturated)
    throw Error(ErrorKind::bad_input,
                fmt::format("shape {} of {} takes more than 2^63 bytes", shape.text(), name(dtype)));
  return static_cast<std::size_t>(bytes);
}

/// Copies a strided host array into contiguous bytes, innermost dimension by innermost dimension.
void gather(const std::byte* from, const Array& array, int dimension, std::byte*& to) {
  const std::size_t element_bytes = size_bytes(array.dtype());
  const Index extent = array.shape()[dimension];
  const std::size_t step_bytes = static_cast<std::size_t>(array.stride(dimension)) * element_bytes;
  if (dimension + 1 == array.shape().rank() && array.stride(dimension) == 1) {
    const std::size_t bytes = static_cast<std::size_t>(extent) * element_bytes;
    std::memcpy(to, from, bytes);
    to += bytes;
    return;
  }
  for (Index i = 0; i < extent; ++i, from += step_bytes) {
    if (dimension + 1 < array.shape().rank()) {
      gather(from, array, dimension + 1, to);
    } else {
      std::memcpy(to, from, element_bytes);
      to += element_bytes;
    }
  }
}

}  // namespace

Array::Array(Device device, Shape shape, DType dtype)
    : device_(device),
      shape_(shape),
      strides_(contiguous_strides(shape)),
      dtype_(dtype),
      allocated_bytes_(bytes_of(shape, dtype)) {
  const std::size_t bytes = allocated_bytes_;
  data_ = {Pool::of(device).allocate(bytes),
           [device, bytes](void* block) { Pool::of(device).deallocate(block, bytes); }};
}

Array Array::zeros(Device device, Shape shape, DType dtype) {
  Array array(device, shape, dtype);
  Stream stream(device);
  stream.fill_zero(array.data(), array.allocated_bytes());
  stream.synchronise();
  return array;
}

Array Array::pitched(Device device, Shape shape, DType dtype, std::size_t alignment_bytes) {
  const int rank = shape.rank();
  const Index step = static_cast<Index>(alignment_bytes / size_bytes(dtype));
  const Index row = (shape[rank - 1] + step - 1) / step * step;
  Shape padded = shape.first(rank - 1);
  padded.append(row);
  Array array(device, padded, dtype);
  array.shape_ = shape;
  return array;
}

Array Array::borrowed(void* data, Shape shape, std::array<Index, Shape::max_rank> strides, DType dtype,
                      std::function<void()> release) {
  Array array;
  array.shape_ = shape;
  array.strides_ = strides;
  array.dtype_ = dtype;
  array.data_ = {data, [release = std::move(release)](void*) {
                   if (release) release();
                 }};
  return array;
}

Array detail::array_from(const void* elements, std::size_t count, Shape shape, DType dtype) {
  if (static_cast<Index>(count) != shape.count())
    throw Error(ErrorKind::bad_input, fmt::format("{} elements for shape {}", count, shape.text()));
  Array array(Device::cpu(), shape, dtype);
  if (count > 0) std::memcpy(array.data(), elements, count * size_bytes(dtype));
  return array;
}

bool Array::contiguous() const {
  const auto dense = contiguous_strides(shape_);
  for (int i = 0; i < shape_.rank(); ++i)
    if (shape_[i] != 1 && stride(i) != dense[static_cast<std::size_t>(i)]) return false;
  return true;
}

void Array::check_view(DType dtype, int rank) const {
  if (dtype == dtype_ && rank == shape_.rank()) return;
  throw Error(ErrorKind::internal,
              fmt::format("a view of {} with {} dimensions was asked of an array of {} with shape {}", name(dtype),
                          rank, name(dtype_), shape_.text()));
}

Array Array::reshaped(Shape shape) && {
  if (!contiguous() || shape.count() != count())
    throw Error(ErrorKind::internal, fmt::format("an array of shape {} cannot become {}", shape_.text(), shape.text()));
  shape_ = shape;
  strides_ = contiguous_strides(shape);
  return std::move(*this);
}

Array Array::copy_to(Device device, Stream& stream) const {
  Array copy(device, shape_, dtype_);
  const std::size_t bytes = copy.allocated_bytes();
  if (bytes == 0) return copy;
  if (contiguous()) {
    stream.copy(copy.data(), data(), bytes);
  } else if (device_.is_cpu()) {
    Array dense(Device::cpu(), shape_, dtype_);
    auto* to = static_cast<std::byte*>(dense.data());
    gather(static_cast<const std::byte*>(data()), *this, 0, to);
    if (device.is_cpu()) return dense;
    stream.copy(copy.data(), dense.data(), bytes);
    stream.synchronise();
  } else {
    throw Error(ErrorKind::not_supported, "copying a strided array from a GPU");
  }
  stream.synchronise();
  return copy;
}

Array Array::clone() const {
  Stream stream(device_);
  return copy_to(device_, stream);
}

void Array::free() { *this = Array(); }

namespace {

Array borrowed_from(const Array& array, std::function<void()> release) {
  std::array<Index, Shape::max_rank> strides{};
  for (int i = 0; i < array.shape().rank(); ++i) strides[static_cast<std::size_t>(i)] = array.stride(i);
  return Array::borrowed(const_cast<void*>(array.data()), array.shape(), strides, array.dtype(), std::move(release));
}

}  // namespace

Array alias(const Array& array) {
  return borrowed_from(array, [] {});
}

Array alias(std::shared_ptr<const Array> owner) {
  const Array& array = *owner;
  return borrowed_from(array, [kept = std::move(owner)] {});
}

void require_on(const Stream& stream, const Array& array) {
  if (array.device() == stream.device()) return;
  throw Error(ErrorKind::internal,
              fmt::format("an array on {} was given to work on {}", array.device().name(), stream.device().name()));
}

void detail::not_counts(DType dtype) {
  throw Error(ErrorKind::bad_input, fmt::format("expected counts of type u8, u16 or u32, got {}", name(dtype)));
}

}  // namespace sonde
