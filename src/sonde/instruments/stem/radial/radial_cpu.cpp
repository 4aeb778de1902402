// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/device/multiversion.h"
#include "sonde/instruments/stem/image/frame_lanes.h"
#include "sonde/instruments/stem/radial/radial_kernels.h"

namespace sonde::stem::cpu {
namespace {

template <class T, class Sum>
[[gnu::always_inline]] inline void labelled(const LabelledPixels& pixels, const T* const* frames, Sum* even, Sum* odd) {
  for_pixels(
      0, pixels.pixels, frames, [&](Index pixel, const FrameLanes<shuffled<T>>& value) __attribute__((always_inline)) {
        Sums<Sum> counts;
        widen(value, counts);
        // Neighbours are often in one bin: two copies of the sums, so that an addition need not wait for the last one.
        add(((pixel & 1) == 0 ? even : odd) + frame_lanes * pixels.label[pixel], counts);
      });
}

template <class T>
[[gnu::always_inline]] inline void shared(const SharedPixels& pixels, const T* const* frames, double* sums,
                                          double* squares) {
  for_pixels(
      0, pixels.pixels, frames, [&](Index pixel, const FrameLanes<shuffled<T>>& value) __attribute__((always_inline)) {
        Sums<double> counts;
        widen(value, counts);
        for (std::uint32_t e = pixels.first[pixel]; e < pixels.first[pixel + 1]; ++e) {
          const double share = pixels.share[e];
          Sums<double> part = counts;
          for (auto& half : part.part) half.all *= share;
          add(sums + frame_lanes * pixels.bin[e], part);
          if (squares == nullptr) continue;
          for (auto& half : part.part) half.all *= share;
          add(squares + frame_lanes * pixels.bin[e], part);
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
