// SPDX-License-Identifier: Apache-2.0
// For tests: one chunk by the logic of the GPU decoder, run by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sonde/engine/io/codec/bitshuffle.h"
#include "sonde/engine/io/codec/bitshuffle_device.h"

namespace sonde::testing {

using Bytes = std::vector<std::uint8_t>;

inline constexpr StepOrder both_orders[] = {StepOrder::forwards, StepOrder::backwards};

template <class T>
struct Decoded {
  std::vector<T> elements;
  std::uint64_t fault = 0;
};

/// One chunk by the device logic with a given number of warps.
template <class T>
Decoded<T> decode_serially(const Bytes& chunk, ChunkForm form, std::size_t elements, std::size_t block_elements,
                           std::size_t largest_block_bytes, std::uint32_t warps, StepOrder order) {
  Decoded<T> result;
  const auto out = std::make_unique<device::Eight<T>[]>((elements + 7) / 8);
  const ChunkPiece piece{0, chunk.size(), form};
  device::DecodeChunks<T> body;
  body.bytes = View<const std::uint8_t, 1>(chunk.data(), static_cast<Index>(chunk.size()));
  body.pieces = View<const ChunkPiece, 1>(&piece, 1);
  body.shape = device::chunk_shape(elements, sizeof(T), block_elements, largest_block_bytes);
  body.elements = View<T, 2>(reinterpret_cast<T*>(out.get()), 1, static_cast<Index>(elements));
  body.faults = View<std::uint64_t, 1>(&result.fault, 1);
  run_serially({1, warps, std::size_t{warps} * body.shape.staging_bytes}, body, order);
  const T* first = reinterpret_cast<const T*>(out.get());
  result.elements.assign(first, first + elements);
  return result;
}

}  // namespace sonde::testing
