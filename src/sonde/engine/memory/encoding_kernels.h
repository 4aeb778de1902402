// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sonde/engine/base/index.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/memory/encoding.h"

namespace sonde::cpu {
void copy(std::size_t bytes, const void* from, void* to);
void encode_halves(Encoding encoding, Index count, const float* from, std::uint16_t* to);
void decode_halves(Encoding encoding, Index count, const std::uint16_t* from, float* to);
}  // namespace sonde::cpu

namespace sonde::cuda {
void encode_halves(Stream& stream, Encoding encoding, Index count, const float* from, std::uint16_t* to);
void decode_halves(Stream& stream, Encoding encoding, Index count, const std::uint16_t* from, float* to);
}  // namespace sonde::cuda
