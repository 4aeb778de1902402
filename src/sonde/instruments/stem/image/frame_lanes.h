// SPDX-License-Identifier: Apache-2.0
// Eight frames side by side in a vector, for the inner loops of sums over labelled pixels. To be included only by
// sources whose functions are SONDE_MULTIVERSION: everything is inlined into them.
#pragma once

#include <cstdint>
#include <cstring>

#include "sonde/engine/base/index.h"

namespace sonde::stem::cpu {

/// Frames that are summed together.
constexpr Index frame_lanes = 8;

/// One element of each of the eight frames.
template <class T>
struct FrameLanes {
  using Vector [[gnu::vector_size(8 * sizeof(T))]] = T;
  Vector all;
};

template <class T>
[[gnu::always_inline]] inline void load(const T* from, FrameLanes<T>& lanes) {
  std::memcpy(&lanes.all, from, sizeof lanes.all);
}

/// As they are shuffled: bytes as u16, since vectors of eight bytes are taken apart into single ones.
template <class T>
struct Shuffled {
  using type = T;
};
template <>
struct Shuffled<std::uint8_t> {
  using type = std::uint16_t;
};
template <class T>
using shuffled = typename Shuffled<T>::type;

template <class To, class T>
[[gnu::always_inline]] inline void convert(const FrameLanes<T>& from, FrameLanes<To>& to) {
  to.all = __builtin_convertvector(from.all, typename FrameLanes<To>::Vector);
}

/// Eight pixels of eight frames, turned in three rounds that shuffle the halves of a deck: values[p] holds pixel p of
/// all frames.
template <class T>
[[gnu::always_inline]] inline void turn(const T* const* frames, Index pixel, FrameLanes<shuffled<T>> (&values)[8]) {
  FrameLanes<shuffled<T>> deck[8];
  for (int k = 0; k < 8; ++k) {
    FrameLanes<T> loaded;
    load(frames[k] + pixel, loaded);
    convert(loaded, values[k]);
  }
  for (int round = 0; round < 3; ++round) {
    for (int k = 0; k < 4; ++k) {
      deck[2 * k].all = __builtin_shufflevector(values[k].all, values[k + 4].all, 0, 8, 1, 9, 2, 10, 3, 11);
      deck[2 * k + 1].all = __builtin_shufflevector(values[k].all, values[k + 4].all, 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int k = 0; k < 8; ++k) values[k].all = deck[k].all;
  }
}

/// Calls body(pixel, its element of all frames) for every pixel of [first, last).
template <class T, class Body>
[[gnu::always_inline]] inline void for_pixels(Index first, Index last, const T* const* frames, Body&& body) {
  Index pixel = first;
  for (; pixel + 8 <= last; pixel += 8) {
    FrameLanes<shuffled<T>> values[8];
    turn(frames, pixel, values);
    for (int p = 0; p < 8; ++p) body(pixel + p, values[p]);
  }
  for (; pixel < last; ++pixel) {
    FrameLanes<shuffled<T>> value;
    for (int k = 0; k < 8; ++k) value.all[k] = frames[k][pixel];
    body(pixel, value);
  }
}

/// One sum of each of the eight frames. Those of 64 bits are two vectors: one of 64 bytes goes through memory where
/// registers have 32.
template <class Sum, bool wide = sizeof(Sum) == 8>
struct Sums {
  FrameLanes<Sum> part[1];
};
template <class Sum>
struct Sums<Sum, true> {
  struct Half {
    using Vector [[gnu::vector_size(4 * sizeof(Sum))]] = Sum;
    Vector all;
  };
  Half part[2];
};

template <class Sum, class T>
[[gnu::always_inline]] inline void widen(const FrameLanes<T>& from, Sums<Sum>& to) {
  if constexpr (sizeof(Sum) == 8) {
    using Vector = typename Sums<Sum>::Half::Vector;
    to.part[0].all = __builtin_convertvector(__builtin_shufflevector(from.all, from.all, 0, 1, 2, 3), Vector);
    to.part[1].all = __builtin_convertvector(__builtin_shufflevector(from.all, from.all, 4, 5, 6, 7), Vector);
  } else {
    convert(from, to.part[0]);
  }
}

template <class Sum>
[[gnu::always_inline]] inline void add(Sum* to, const Sums<Sum>& lanes) {
  for (const auto& part : lanes.part) {
    auto sum = part;
    std::memcpy(&sum.all, to, sizeof sum.all);
    sum.all += part.all;
    std::memcpy(to, &sum.all, sizeof sum.all);
    to += sizeof sum.all / sizeof(Sum);
  }
}

}  // namespace sonde::stem::cpu
