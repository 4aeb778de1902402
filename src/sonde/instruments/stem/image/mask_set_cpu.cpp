// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/device/multiversion.h"
#include "sonde/instruments/stem/image/frame_lanes.h"
#include "sonde/instruments/stem/image/mask_set_kernels.h"

namespace sonde::stem::cpu {
namespace {

template <class T>
[[gnu::always_inline]] inline void turn_all(const T* const* frames, Index first, Index last, shuffled<T>* lines) {
  for_pixels(
      first, last, frames, [&](Index pixel, const FrameLanes<shuffled<T>>& value) __attribute__((always_inline)) {
        std::memcpy(lines + frame_lanes * (pixel - first), &value.all, sizeof value.all);
      });
}

template <class T, class Sum>
[[gnu::always_inline]] inline void add_all(const T* lines, const LineAddition* additions, Index count, Sum* sums) {
  for (Index i = 0; i < count; ++i) {
    FrameLanes<T> value;
    Sums<Sum> wide;
    load(lines + frame_lanes * additions[i].pixel, value);
    widen(value, wide);
    add(sums + frame_lanes * additions[i].slot, wide);
  }
}

template <class Sum>
[[gnu::always_inline]] inline void add_wide(const Sum* sums, std::uint64_t* to) {
  FrameLanes<Sum> value;
  Sums<std::uint64_t> wide;
  load(sums, value);
  widen(value, wide);
  add(to, wide);
}

}  // namespace

#define SONDE_TURN_LINES(T)                                                                                 \
  SONDE_MULTIVERSION void turn_lines(const T* const* frames, Index first, Index last, shuffled<T>* lines) { \
    turn_all(frames, first, last, lines);                                                                   \
  }
SONDE_TURN_LINES(std::uint8_t)
SONDE_TURN_LINES(std::uint16_t)
SONDE_TURN_LINES(std::uint32_t)
#undef SONDE_TURN_LINES

SONDE_MULTIVERSION void add_lines(const std::uint16_t* lines, const LineAddition* additions, Index count,
                                  std::uint32_t* sums) {
  add_all(lines, additions, count, sums);
}
SONDE_MULTIVERSION void add_lines(const std::uint32_t* lines, const LineAddition* additions, Index count,
                                  std::uint64_t* sums) {
  add_all(lines, additions, count, sums);
}
SONDE_MULTIVERSION void add_sums(const std::uint32_t* sums, std::uint64_t* to) { add_wide(sums, to); }
SONDE_MULTIVERSION void add_sums(const std::uint64_t* sums, std::uint64_t* to) { add_wide(sums, to); }

}  // namespace sonde::stem::cpu
