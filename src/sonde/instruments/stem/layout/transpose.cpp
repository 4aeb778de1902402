// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/layout/transpose.h"

#include <fmt/format.h>

#include <cstdint>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/dispatch.h"
#include "sonde/instruments/stem/layout/transpose_kernels.h"

namespace sonde::stem {
namespace {

void check_shapes(const Array& frames, const Array& planes) {
  const bool match = frames.shape().rank() == 3 && planes.shape().rank() == 2 &&
                     planes.shape()[0] == frames.shape()[1] * frames.shape()[2] &&
                     planes.shape()[1] == frames.shape()[0];
  if (!match)
    throw Error(ErrorKind::bad_input, fmt::format("frames of shape {} and planes of shape {} do not belong together",
                                                  frames.shape().text(), planes.shape().text()));
}

/// Calls body(In{}, Out{}) for the pairs of element types that are offered.
template <class Body>
void visit_pair(DType in, DType out, Body&& body) {
  using std::uint16_t, std::uint32_t, std::uint8_t;
  if (in == DType::u8 && out == DType::u8) return body(uint8_t{}, uint8_t{});
  if (in == DType::u16 && out == DType::u16) return body(uint16_t{}, uint16_t{});
  if (in == DType::u32 && out == DType::u32) return body(uint32_t{}, uint32_t{});
  if (in == DType::f32 && out == DType::f32) return body(float{}, float{});
  if (in == DType::u16 && out == DType::u8) return body(uint16_t{}, uint8_t{});
  if (in == DType::u32 && out == DType::u8) return body(uint32_t{}, uint8_t{});
  if (in == DType::u32 && out == DType::u16) return body(uint32_t{}, uint16_t{});
  throw Error(ErrorKind::bad_input, fmt::format("{} elements cannot be laid out as {}", name(in), name(out)));
}

/// (R, rows, cols) as (R, rows * cols); pixels of a frame must be dense.
template <class T>
View<T, 2> flat(const View<T, 3>& frames) {
  View<T, 2> rows(frames.data, frames.extent[0], frames.extent[1] * frames.extent[2]);
  rows.stride[0] = frames.stride[0];
  return rows;
}

bool dense_pixels(const Array& frames) { return frames.stride(2) == 1 && frames.stride(1) == frames.shape()[2]; }

}  // namespace

template <class T>
void place_frames(Stream& stream, View<const T, 2> frames, View<T, 2> planes, Index first_position) {
  if constexpr (built_with_cuda) {
    if (!stream.device().is_cpu()) {
      if (frames.extent[0] == 0 || frames.extent[1] == 0) return;
      planes.data += first_position * planes.stride[1];
      planes.extent[1] = frames.extent[0];
      return cuda::transpose(stream, frames, planes);
    }
  }
  place_frames<T, T>(frames, planes, first_position);
}

template <class T>
void gather_frame(Stream& stream, View<const T, 2> planes, Index position, View<T, 1> frame) {
  if constexpr (built_with_cuda) {
    if (!stream.device().is_cpu()) {
      if (planes.extent[0] == 0) return;
      planes.data += position * planes.stride[1];
      planes.extent[1] = 1;
      return cuda::transpose(stream, planes, View<T, 2>(frame.data, Index{1}, frame.extent[0]));
    }
  }
  for (Index pixel = 0; pixel < planes.extent[0]; ++pixel) frame(pixel) = planes(pixel, position);
}

#define SONDE_INSTANTIATE(T)                                                \
  template void place_frames(Stream&, View<const T, 2>, View<T, 2>, Index); \
  template void gather_frame(Stream&, View<const T, 2>, Index, View<T, 1>)
SONDE_INSTANTIATE(std::uint8_t);
SONDE_INSTANTIATE(std::uint16_t);
SONDE_INSTANTIATE(std::uint32_t);
SONDE_INSTANTIATE(float);
#undef SONDE_INSTANTIATE

void to_pixel_major(Stream& stream, const Array& frames, Array& planes) {
  check_shapes(frames, planes);
  require_on(stream, frames, planes);
  if (frames.count() == 0) return;
  visit_pair(frames.dtype(), planes.dtype(), [&](auto in, auto out) {
    using In = decltype(in);
    using Out = decltype(out);
    const View<const In, 3> from = frames.view<In, 3>();
    const View<Out, 2> to = planes.view<Out, 2>();
    if (dense_pixels(frames) && planes.stride(1) == 1)
      SONDE_DISPATCH(stream, transpose, flat(from), to);
    else
      SONDE_DISPATCH(stream, transpose_strided, from, to);
  });
}

void to_frame_major(Stream& stream, const Array& planes, Array& frames) {
  check_shapes(frames, planes);
  require_on(stream, frames, planes);
  if (planes.dtype() != frames.dtype())
    throw Error(ErrorKind::bad_input, fmt::format("planes of {} and frames of {}; the way back does not convert",
                                                  name(planes.dtype()), name(frames.dtype())));
  if (!dense_pixels(frames) || planes.stride(1) != 1)
    throw Error(ErrorKind::bad_input, "frames and planes must be dense in their last dimension");
  if (frames.count() == 0) return;
  visit_pair(planes.dtype(), frames.dtype(), [&](auto in, auto) {
    using T = decltype(in);
    const View<const T, 2> from = planes.view<T, 2>();
    SONDE_DISPATCH(stream, transpose, from, flat(frames.view<T, 3>()));
  });
}

}  // namespace sonde::stem
