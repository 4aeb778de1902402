// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/zero_in_place.h"

#include <algorithm>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/device/stream.h"
#include "sonde/instruments/stem/load/device_pass.h"

namespace sonde::stem {
namespace {

struct Totals {
  std::uint64_t *total, *moment_row, *moment_col;

  void take_out(Index position, Index row, Index col, std::uint64_t value) const {
    total[position] -= value;
    moment_row[position] -= static_cast<std::uint64_t>(row) * value;
    moment_col[position] -= static_cast<std::uint64_t>(col) * value;
  }
};

/// `step` from one position to the next, `pixel_step` from one pixel to the next, in elements.
template <class T>
void zero_pixels(std::span<const Index> pixels, T* elements, Index step, Index pixel_step, Index positions, Index cols,
                 const Totals& totals) {
  parallel_for(positions, 4096, [&](Index first, Index last, Worker&) {
    for (const Index pixel : pixels)
      for (Index position = first; position < last; ++position) {
        T& element = elements[position * step + pixel * pixel_step];
        totals.take_out(position, pixel / cols, pixel % cols, element);
        element = 0;
      }
  });
}

void zero_on_host(std::span<const Index> pixels, Destination destination, Array& array, Moments& moments) {
  const Index positions = moments.total.count(), cols = moments.pattern_sum.shape()[1];
  const Totals totals{moments.total.view<std::uint64_t, 1>().data, moments.moment_row.view<std::uint64_t, 1>().data,
                      moments.moment_col.view<std::uint64_t, 1>().data};
  const bool planes = destination == Destination::planes;
  const Index step = planes ? 1 : array.stride(0), pixel_step = planes ? array.stride(0) : 1;
  switch (array.dtype()) {
    case DType::u8:
      zero_pixels(pixels, static_cast<std::uint8_t*>(array.data()), step, pixel_step, positions, cols, totals);
      break;
    case DType::u16:
      zero_pixels(pixels, static_cast<std::uint16_t*>(array.data()), step, pixel_step, positions, cols, totals);
      break;
    default:
      zero_pixels(pixels, static_cast<std::uint32_t*>(array.data()), step, pixel_step, positions, cols, totals);
  }
}

}  // namespace

void zero_in_place(std::span<const Index> pixels, Destination destination, Array& array, LoadResult& result) {
  Moments& moments = result.moments;
  if (array.device().is_cpu()) {
    zero_on_host(pixels, destination, array, moments);
  } else {
    Stream stream(array.device());
    zero_on_device(stream, pixels, destination, array, moments);
  }

  auto* sum = static_cast<std::uint64_t*>(moments.pattern_sum.data());
  auto* most = static_cast<std::uint64_t*>(moments.pattern_max.data());
  auto* nonzero = static_cast<std::uint64_t*>(moments.nonzero.data());
  for (const Index pixel : pixels) sum[pixel] = most[pixel] = nonzero[pixel] = 0;
  result.pass.largest = static_cast<double>(*std::max_element(most, most + moments.pattern_max.count()));
}

}  // namespace sonde::stem
