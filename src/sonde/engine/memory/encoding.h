// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sonde/engine/array/dtype.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/device/stream.h"

namespace sonde {

/// How elements lie in storage: as they are, or their floats in 16 bits (see base/small_float.h); a complex number is
/// its two parts. bf16 keeps the range and steps of 1/128, fp16 steps of 1/1024 between 6e-8 and 65504.
enum class Encoding : std::uint8_t { raw, bf16, fp16 };

/// "raw", "bf16", "fp16".
[[nodiscard]] std::string_view name(Encoding encoding);

/// Bytes of `count` stored elements. Throws Error(bad_input) for 16 bits of other types than f32 and c64.
[[nodiscard]] std::size_t encoded_bytes(Encoding encoding, DType dtype, Index count);

/// Stores `count` elements, or brings them back, ordered with the stream and both sides on its device. On the CPU many
/// elements are converted in parallel, few by the calling thread: bodies of parallel_for may call it.
void encode(Stream& stream, Encoding encoding, DType dtype, Index count, const void* elements, void* stored);
void decode(Stream& stream, Encoding encoding, DType dtype, Index count, const void* stored, void* elements);

}  // namespace sonde
