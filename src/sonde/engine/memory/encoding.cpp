// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/memory/encoding.h"

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/dispatch.h"
#include "sonde/engine/memory/encoding_kernels.h"

namespace sonde {
namespace {

/// Floats in `count` elements.
Index floats_in(DType dtype, Index count) { return dtype == DType::c64 ? 2 * count : count; }

void copy(Stream& stream, std::size_t bytes, const void* from, void* to) {
  if (!stream.device().is_cpu()) return stream.copy(to, from, bytes);
  cpu::copy(bytes, from, to);
}

}  // namespace

std::string_view name(Encoding encoding) {
  switch (encoding) {
    case Encoding::raw:
      return "raw";
    case Encoding::bf16:
      return "bf16";
    case Encoding::fp16:
      return "fp16";
  }
  return "";
}

std::size_t encoded_bytes(Encoding encoding, DType dtype, Index count) {
  if (encoding == Encoding::raw) return static_cast<std::size_t>(count) * size_bytes(dtype);
  if (dtype != DType::f32 && dtype != DType::c64)
    throw Error(ErrorKind::bad_input, fmt::format("{} stores f32 and c64, not {}", name(encoding), name(dtype)));
  return static_cast<std::size_t>(floats_in(dtype, count)) * sizeof(std::uint16_t);
}

void encode(Stream& stream, Encoding encoding, DType dtype, Index count, const void* elements, void* stored) {
  if (encoding == Encoding::raw) return copy(stream, encoded_bytes(encoding, dtype, count), elements, stored);
  const auto* from = static_cast<const float*>(elements);
  auto* to = static_cast<std::uint16_t*>(stored);
  SONDE_DISPATCH(stream, encode_halves, encoding, floats_in(dtype, count), from, to);
}

void decode(Stream& stream, Encoding encoding, DType dtype, Index count, const void* stored, void* elements) {
  if (encoding == Encoding::raw) return copy(stream, encoded_bytes(encoding, dtype, count), stored, elements);
  const auto* from = static_cast<const std::uint16_t*>(stored);
  auto* to = static_cast<float*>(elements);
  SONDE_DISPATCH(stream, decode_halves, encoding, floats_in(dtype, count), from, to);
}

}  // namespace sonde
