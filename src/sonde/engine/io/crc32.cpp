// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/crc32.h"

#include <zlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sonde {
namespace {

std::uint32_t by_zlib(std::uint32_t crc, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

#if defined(__x86_64__)

// A checksum is the remainder of the message, a polynomial over two elements, by another polynomial P. So a part of it
// may be moved behind later bits when it is multiplied by the remainder of x^(bits) in its place: see V. Gopal et al.,
// Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction, Intel (2009). Bits are in reverse order.

constexpr std::size_t lane_bytes = 16, lanes = 4, step_bytes = lane_bytes * lanes;

/// x^exponent mod P, one place up, as products of numbers in reverse order need it.
constexpr long long power(int exponent) {
  std::uint32_t value = 0x80000000;
  for (; exponent > 0; --exponent) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320 : 0);
  return static_cast<long long>(std::uint64_t{value} << 1);
}

[[gnu::target("pclmul")]] __m128i lane_at(const std::byte* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

/// The first half of a lane is 64 bits further from where it goes than the second.
[[gnu::target("pclmul")]] __m128i moved(__m128i lane, __m128i factors) {
  return _mm_xor_si128(_mm_clmulepi64_si128(lane, factors, 0x00), _mm_clmulepi64_si128(lane, factors, 0x11));
}

/// Of 64 bytes or more.
[[gnu::target("pclmul")]] std::uint32_t by_products(std::span<const std::byte> bytes) {
  constexpr int bits = 8 * step_bytes;
  const __m128i factors = _mm_set_epi64x(power(bits - 32), power(bits + 32));
  __m128i lane[lanes];
  for (std::size_t i = 0; i < lanes; ++i) lane[i] = lane_at(bytes.data() + i * lane_bytes);
  lane[0] = _mm_xor_si128(lane[0], _mm_cvtsi32_si128(-1));  // where the sum begins
  for (bytes = bytes.subspan(step_bytes); bytes.size() >= step_bytes; bytes = bytes.subspan(step_bytes)) {
    for (std::size_t i = 0; i < lanes; ++i) {
      lane[i] = _mm_xor_si128(moved(lane[i], factors), lane_at(bytes.data() + i * lane_bytes));
    }
  }
  std::byte left[step_bytes];
  for (std::size_t i = 0; i < lanes; ++i) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(left + i * lane_bytes), lane[i]);
  }
  constexpr std::uint32_t nothing_before = 0xffffffff;  // the beginning is in the first lane
  return by_zlib(by_zlib(nothing_before, left), bytes);
}

#endif

}  // namespace

std::uint32_t crc32_of(std::span<const std::byte> bytes) {
#if defined(__x86_64__)
  static const bool multiplies = __builtin_cpu_supports("pclmul");
  if (multiplies && bytes.size() >= step_bytes) return by_products(bytes);
#endif
  return by_zlib(0, bytes);
}

}  // namespace sonde
