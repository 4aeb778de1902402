// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/device/team_cuda.h"
#include "sonde/engine/io/codec/bitshuffle_device.h"

namespace sonde::cuda {

template <class T>
void decode_chunks(Stream& stream, const LaunchSize& size, const device::DecodeChunks<T>& body) {
  launch(stream, size, body, "decode_chunks");
}

template void decode_chunks(Stream&, const LaunchSize&, const device::DecodeChunks<std::uint8_t>&);
template void decode_chunks(Stream&, const LaunchSize&, const device::DecodeChunks<std::uint16_t>&);
template void decode_chunks(Stream&, const LaunchSize&, const device::DecodeChunks<std::uint32_t>&);

}  // namespace sonde::cuda
