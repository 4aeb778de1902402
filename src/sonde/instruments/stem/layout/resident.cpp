// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/layout/resident.h"

#include <cstring>

#include "sonde/engine/device/stream.h"

namespace sonde::stem {
namespace {

constexpr std::size_t pitch_bytes = 64;

}  // namespace

Array make_frames(Device device, Index positions, Index rows, Index cols, DType dtype) {
  return Array(device, {positions, rows, cols}, dtype);
}

Array make_planes(Device device, Index positions, Index rows, Index cols, DType dtype) {
  const Index pixels = Shape{rows, cols}.count();
  Array planes = Array::pitched(device, {pixels, positions}, dtype, pitch_bytes);
  const std::size_t element_bytes = size_bytes(dtype);
  const std::size_t used = static_cast<std::size_t>(positions) * element_bytes;
  const std::size_t pitch = static_cast<std::size_t>(planes.stride(0)) * element_bytes;
  if (used == pitch || pixels == 0) return planes;
  if (!device.is_cpu()) {
    Stream stream(device);
    stream.fill_zero(planes.data(), planes.allocated_bytes());
    stream.synchronise();
    return planes;
  }
  auto* plane = static_cast<std::byte*>(planes.data());
  for (Index pixel = 0; pixel < pixels; ++pixel, plane += pitch) std::memset(plane + used, 0, pitch - used);
  return planes;
}

}  // namespace sonde::stem
