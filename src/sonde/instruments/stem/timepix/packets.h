// SPDX-License-Identifier: Apache-2.0
// Words of a TPX3 file (SERVAL manual 3.2, "Raw file format"): 64 bits, little-endian, of a type in bits 60 to 63.
#pragma once

#include <cstdint>

#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// Time in steps of 25/16 ns (1.5625 ns), the resolution of a hit.
using Ticks = std::int64_t;
inline constexpr Ticks ticks_per_s = 640'000'000;
/// The time of an edge is finer: sixths of a tick, 260.41666 ps. All times of a file are whole numbers of them.
using FineTicks = std::int64_t;
inline constexpr FineTicks fine_per_tick = 6;
inline constexpr double fine_ticks_per_s = static_cast<double>(ticks_per_s) * static_cast<double>(fine_per_tick);

/// Where time starts again at 0, in bits of ticks: of hits after 26.8435456 s, of edges and of the low global time
/// after 107.374 s, of the whole global time after 81 days.
inline constexpr int hit_bits = 34, edge_bits = 36, global_bits = 52;

inline constexpr Index chip_side = 256;

/// "TPX3", the first four bytes of a chunk.
inline constexpr std::uint32_t chunk_mark = 0x33585054;

/// Which input of the time-to-digital converter (TDC) changed, and how.
enum class TdcChannel { tdc1_rise, tdc1_fall, tdc2_rise, tdc2_fall };
inline constexpr int tdc_channels = 4;

/// A pixel that was hit: while its signal was above the threshold (`tot`, in 25 ns) from `time` on.
struct Hit {
  Ticks time = 0;
  std::uint16_t row = 0, col = 0;  ///< of the detector
  std::uint16_t tot = 0;
};

struct TdcEdge {
  FineTicks time = 0;
  TdcChannel channel = TdcChannel::tdc1_rise;
};

/// The fields of words, as they are stored.
namespace packet {

inline constexpr unsigned integrated = 0xa, hit = 0xb, global = 0x4, control = 0x5, tdc = 0x6, end = 0x7;

[[nodiscard]] constexpr std::uint64_t bits(std::uint64_t word, int first, int count) {
  return word >> first & ((std::uint64_t{1} << count) - 1);
}
[[nodiscard]] constexpr unsigned type(std::uint64_t word) { return static_cast<unsigned>(word >> 60); }

// A double column has 2 x 256 pixels, a super pixel of it 2 x 4.
[[nodiscard]] constexpr int column(std::uint64_t word) {
  return static_cast<int>(2 * bits(word, 53, 7) + bits(word, 46, 1));
}
[[nodiscard]] constexpr int row(std::uint64_t word) {
  return static_cast<int>(4 * bits(word, 47, 6) + bits(word, 44, 2));
}
[[nodiscard]] constexpr std::uint16_t tot(std::uint64_t word) { return static_cast<std::uint16_t>(bits(word, 20, 10)); }
/// Ticks modulo 2^hit_bits.
[[nodiscard]] constexpr std::uint64_t hit_time(std::uint64_t word) {
  const std::uint64_t coarse = bits(word, 0, 16) << 14 | bits(word, 30, 14);
  return ((coarse << 4) - bits(word, 16, 4)) & ((std::uint64_t{1} << hit_bits) - 1);
}

/// Ticks modulo 2^edge_bits, without the fine part.
[[nodiscard]] constexpr std::uint64_t edge_time(std::uint64_t word) { return bits(word, 9, 35) << 1; }
/// 1 to 12, in units of fine ticks from 0 on; old firmware writes 0.
[[nodiscard]] constexpr unsigned edge_fine(std::uint64_t word) { return static_cast<unsigned>(bits(word, 5, 4)); }

/// 25 ns.
[[nodiscard]] constexpr std::uint64_t global_low(std::uint64_t word) { return bits(word, 16, 32); }
/// 2^32 of them.
[[nodiscard]] constexpr std::uint64_t global_high(std::uint64_t word) { return bits(word, 16, 16); }

}  // namespace packet

}  // namespace sonde::stem
