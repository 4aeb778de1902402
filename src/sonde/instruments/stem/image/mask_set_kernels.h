// SPDX-License-Identifier: Apache-2.0
// Private to the room: sums over lines that hold one pixel of eight frames.
#pragma once

#include <cstdint>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/image/mask_set.h"

namespace sonde::stem::cpu {

/// The type of sums of T.
template <class T>
struct LaneSumOf {
  using type = std::uint32_t;
};
template <>
struct LaneSumOf<std::uint32_t> {
  using type = std::uint64_t;
};
template <class T>
using LaneSum = typename LaneSumOf<T>::type;

/// lines(p, k) = frames[k][first + p] for the pixels of [first, last) of eight frames; those of bytes as u16.
void turn_lines(const std::uint8_t* const* frames, Index first, Index last, std::uint16_t* lines);
void turn_lines(const std::uint16_t* const* frames, Index first, Index last, std::uint16_t* lines);
void turn_lines(const std::uint32_t* const* frames, Index first, Index last, std::uint32_t* lines);

/// sums(slot, k) += lines(pixel, k) for every addition.
void add_lines(const std::uint16_t* lines, const LineAddition* additions, Index count, std::uint32_t* sums);
void add_lines(const std::uint32_t* lines, const LineAddition* additions, Index count, std::uint64_t* sums);

/// to(k) += sums(k).
void add_sums(const std::uint32_t* sums, std::uint64_t* to);
void add_sums(const std::uint64_t* sums, std::uint64_t* to);

}  // namespace sonde::stem::cpu
