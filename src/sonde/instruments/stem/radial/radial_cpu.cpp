// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "sonde/engine/device/multiversion.h"
#include "sonde/instruments/stem/radial/radial_kernels.h"

namespace sonde::stem::cpu {
namespace {

static_assert(radial_lanes == 8);

/// One element of each of the eight frames.
template <class T>
struct Lanes {
  using Vector [[gnu::vector_size(8 * sizeof(T))]] = T;
  Vector all;
};

template <class T>
[[gnu::always_inline]] inline void load(const T* from, Lanes<T>& lanes) {
  std::memcpy(&lanes.all, from, sizeof lanes.all);
}

/// Eight pixels of eight frames, turned in three rounds that shuffle the halves of a deck: values[p] holds pixel p of
/// all frames.
template <class T>
[[gnu::always_inline]] inline void turn(const T* const* frames, Index pixel, Lanes<T> (&values)[8]) {
  Lanes<T> deck[8];
  for (int k = 0; k < 8; ++k) load(frames[k] + pixel, values[k]);
  for (int round = 0; round < 3; ++round) {
    for (int k = 0; k < 4; ++k) {
      deck[2 * k].all = __builtin_shufflevector(values[k].all, values[k + 4].all, 0, 8, 1, 9, 2, 10, 3, 11);
      deck[2 * k + 1].all = __builtin_shufflevector(values[k].all, values[k + 4].all, 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int k = 0; k < 8; ++k) values[k].all = deck[k].all;
  }
}

/// Calls body(pixel, its element of all frames) for every pixel.
template <class T, class Body>
[[gnu::always_inline]] inline void for_pixels(Index pixels, const T* const* frames, Body&& body) {
  Index pixel = 0;
  for (; pixel + 8 <= pixels; pixel += 8) {
    Lanes<T> values[8];
    turn(frames, pixel, values);
    for (int p = 0; p < 8; ++p) body(pixel + p, values[p]);
  }
  for (; pixel < pixels; ++pixel) {
    Lanes<T> value;
    for (int k = 0; k < 8; ++k) value.all[k] = frames[k][pixel];
    body(pixel, value);
  }
}

template <class Sum>
[[gnu::always_inline]] inline void add(Sum* to, const Lanes<Sum>& lanes) {
  Lanes<Sum> sum;
  load(to, sum);
  sum.all += lanes.all;
  std::memcpy(to, &sum.all, sizeof sum.all);
}

template <class To, class T>
[[gnu::always_inline]] inline void convert(const Lanes<T>& from, Lanes<To>& to) {
  to.all = __builtin_convertvector(from.all, typename Lanes<To>::Vector);
}

template <class T, class Sum>
[[gnu::always_inline]] inline void labelled(const LabelledPixels& pixels, const T* const* frames, Sum* even, Sum* odd) {
  for_pixels(
      pixels.pixels, frames, [&](Index pixel, const Lanes<T>& value) __attribute__((always_inline)) {
        Lanes<Sum> counts;
        convert(value, counts);
        // Neighbours are often in one bin: two copies of the sums, so that an addition need not wait for the last one.
        add(((pixel & 1) == 0 ? even : odd) + Index{8} * pixels.label[pixel], counts);
      });
}

template <class T>
[[gnu::always_inline]] inline void shared(const SharedPixels& pixels, const T* const* frames, double* sums,
                                          double* squares) {
  for_pixels(
      pixels.pixels, frames, [&](Index pixel, const Lanes<T>& value) __attribute__((always_inline)) {
        Lanes<double> counts, part;
        convert(value, counts);
        for (std::uint32_t e = pixels.first[pixel]; e < pixels.first[pixel + 1]; ++e) {
          const double share = pixels.share[e];
          part.all = share * counts.all;
          add(sums + Index{8} * pixels.bin[e], part);
          if (squares == nullptr) continue;
          part.all *= share;
          add(squares + Index{8} * pixels.bin[e], part);
        }
      });
}

}  // namespace

#define SONDE_RADIAL_LABELLED(T, Sum)                                                                               \
  SONDE_MULTIVERSION void add_labelled(const LabelledPixels& pixels, const T* const* frames, Sum* even, Sum* odd) { \
    labelled(pixels, frames, even, odd);                                                                            \
  }
SONDE_RADIAL_LABELLED(std::uint8_t, std::uint32_t)
SONDE_RADIAL_LABELLED(std::uint16_t, std::uint32_t)
SONDE_RADIAL_LABELLED(std::uint32_t, std::uint32_t)
SONDE_RADIAL_LABELLED(std::uint8_t, std::uint64_t)
SONDE_RADIAL_LABELLED(std::uint16_t, std::uint64_t)
SONDE_RADIAL_LABELLED(std::uint32_t, std::uint64_t)
SONDE_RADIAL_LABELLED(std::uint64_t, std::uint64_t)
SONDE_RADIAL_LABELLED(float, double)
SONDE_RADIAL_LABELLED(double, double)

#define SONDE_RADIAL_SHARED(T)                                                                         \
  SONDE_MULTIVERSION void add_shared(const SharedPixels& pixels, const T* const* frames, double* sums, \
                                     double* squares) {                                                \
    shared(pixels, frames, sums, squares);                                                             \
  }
SONDE_RADIAL_SHARED(std::uint8_t)
SONDE_RADIAL_SHARED(std::uint16_t)
SONDE_RADIAL_SHARED(std::uint32_t)
SONDE_RADIAL_SHARED(std::uint64_t)
SONDE_RADIAL_SHARED(float)
SONDE_RADIAL_SHARED(double)

}  // namespace sonde::stem::cpu
