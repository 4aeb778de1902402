// SPDX-License-Identifier: Apache-2.0
// Plain loops that the compiler turns into vectors.
#include <cstring>

#include "sonde/engine/base/small_float.h"
#include "sonde/engine/device/multiversion.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/memory/encoding_kernels.h"

namespace sonde::cpu {
namespace {

SONDE_MULTIVERSION void bf16_of(Index count, const float* from, std::uint16_t* to) {
  for (Index i = 0; i < count; ++i) to[i] = to_bf16(from[i]);
}
SONDE_MULTIVERSION void fp16_of(Index count, const float* from, std::uint16_t* to) {
  for (Index i = 0; i < count; ++i) to[i] = to_fp16(from[i]);
}
SONDE_MULTIVERSION void of_bf16(Index count, const std::uint16_t* from, float* to) {
  for (Index i = 0; i < count; ++i) to[i] = from_bf16(from[i]);
}
SONDE_MULTIVERSION void of_fp16(Index count, const std::uint16_t* from, float* to) {
  for (Index i = 0; i < count; ++i) to[i] = from_fp16(from[i]);
}

constexpr Index piece = Index{1} << 18;  // values of a task: half a MiB or more, far above the cost of scheduling it

/// The whole range at once when it is small, so that a body of parallel_for does not start a loop of its own.
template <class Body>
void in_pieces(Index count, Body body) {
  if (count <= piece) return body(0, count);
  parallel_for(count, piece, [&](Index first, Index last, Worker&) { body(first, last - first); });
}

}  // namespace

void copy(std::size_t bytes, const void* from, void* to) {
  if (bytes == 0) return;  // memcpy takes no null pointers
  in_pieces(static_cast<Index>(bytes), [&](Index first, Index count) {
    std::memcpy(static_cast<std::byte*>(to) + first, static_cast<const std::byte*>(from) + first,
                static_cast<std::size_t>(count));
  });
}

void encode_halves(Encoding encoding, Index count, const float* from, std::uint16_t* to) {
  in_pieces(count, [&](Index first, Index n) {
    (encoding == Encoding::bf16 ? bf16_of : fp16_of)(n, from + first, to + first);
  });
}

void decode_halves(Encoding encoding, Index count, const std::uint16_t* from, float* to) {
  in_pieces(count, [&](Index first, Index n) {
    (encoding == Encoding::bf16 ? of_bf16 : of_fp16)(n, from + first, to + first);
  });
}

}  // namespace sonde::cpu
