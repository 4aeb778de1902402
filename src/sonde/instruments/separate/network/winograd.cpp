// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/winograd.h"

#include <algorithm>
#include <array>

#include "sonde/engine/device/multiversion.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/separate/network/winograd_lines.h"

namespace sonde::separate::winograd {
namespace {

/// Channels that go through both halves of a transform together: what lies between stays in the first-level cache.
constexpr Index together = 64;

/// B^T d for six numbers of each channel.
[[gnu::always_inline]] inline void patch_lines(const float* __restrict d0, const float* __restrict d1,
                                               const float* __restrict d2, const float* __restrict d3,
                                               const float* __restrict d4, const float* __restrict d5, Index channels,
                                               float* __restrict out, Index apart) {
  for (Index c = 0; c < channels; ++c) {
    const SixNumbers line = patch_line(d0[c], d1[c], d2[c], d3[c], d4[c], d5[c]);
    for (Index i = 0; i < patch; ++i) out[c + i * apart] = line.at[i];
  }
}

/// A^T m for six numbers of each channel.
[[gnu::always_inline]] inline void product_lines(const float* __restrict m, Index from_apart, Index channels,
                                                 float* __restrict out, Index apart) {
  const float *m0 = m, *m1 = m + from_apart, *m2 = m1 + from_apart, *m3 = m2 + from_apart, *m4 = m3 + from_apart,
              *m5 = m4 + from_apart;
  for (Index c = 0; c < channels; ++c) {
    const FourNumbers line = product_line(m0[c], m1[c], m2[c], m3[c], m4[c], m5[c]);
    for (Index i = 0; i < tile; ++i) out[c + i * apart] = line.at[i];
  }
}

/// G g for the three weights of a line.
std::array<double, 6> weight_line(double g0, double g1, double g2) {
  return {g0 / 4, -(g0 + g1 + g2) / 6, -(g0 - g1 + g2) / 6, g0 / 24 + g1 / 12 + g2 / 6, g0 / 24 - g1 / 12 + g2 / 6, g2};
}

}  // namespace

void transform_weights(std::span<const float> weights, Index outputs, Index inputs, float* transformed) {
  parallel_for(inputs, 8, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) {
      for (Index o = 0; o < outputs; ++o) {
        const float* g = weights.data() + (o * inputs + i) * 9;
        std::array<std::array<double, 6>, 3> columns{};
        for (std::size_t b = 0; b < 3; ++b) columns[b] = weight_line(g[b], g[3 + b], g[6 + b]);
        for (std::size_t k = 0; k < 6; ++k) {
          const auto line = weight_line(columns[0][k], columns[1][k], columns[2][k]);
          for (std::size_t l = 0; l < 6; ++l) {
            transformed[((static_cast<Index>(k * 6 + l) * inputs) + i) * outputs + o] = static_cast<float>(line[l]);
          }
        }
      }
    }
  });
}

SONDE_MULTIVERSION void transform_patches(const float* const* rows, Index tiles, Index channels, float* patches,
                                          Index plane) {
  alignas(64) float between[planes * together];
  for (Index first = 0; first < channels; first += together) {
    const Index count = std::min(together, channels - first);
    for (Index t = 0; t < tiles; ++t) {
      for (Index x = 0; x < patch; ++x) {  // along the columns of the patch
        const Index at = (t * tile + x) * channels + first;
        patch_lines(rows[0] + at, rows[1] + at, rows[2] + at, rows[3] + at, rows[4] + at, rows[5] + at, count,
                    between + x * together, patch * together);
      }
      for (Index y = 0; y < patch; ++y) {
        const float* d = between + y * patch * together;
        patch_lines(d, d + together, d + 2 * together, d + 3 * together, d + 4 * together, d + 5 * together, count,
                    patches + y * patch * plane + t * channels + first, plane);
      }
    }
  }
}

SONDE_MULTIVERSION void transform_products(const float* products, Index plane, Index tiles, Index channels,
                                           Index columns, float* const* rows, bool add) {
  alignas(64) float between[tile * patch * together];
  alignas(64) float made[tile * together];
  for (Index first = 0; first < channels; first += together) {
    const Index count = std::min(together, channels - first);
    for (Index t = 0; t < tiles; ++t) {
      const Index pixels = std::min(tile, columns - t * tile);
      for (Index x = 0; x < patch; ++x) {
        product_lines(products + x * plane + t * channels + first, patch * plane, count, between + x * together,
                      patch * together);
      }
      for (Index y = 0; y < tile; ++y) {
        if (rows[y] == nullptr) continue;
        float* const to = rows[y] + t * tile * channels + first;
        if (pixels == tile && !add) {
          product_lines(between + y * patch * together, together, count, to, channels);
          continue;
        }
        product_lines(between + y * patch * together, together, count, made, together);
        for (Index x = 0; x < pixels; ++x) {
          float* __restrict pixel = to + x * channels;
          const float* __restrict value = made + x * together;
          if (add) {
            for (Index c = 0; c < count; ++c) pixel[c] += value[c];
          } else {
            for (Index c = 0; c < count; ++c) pixel[c] = value[c];
          }
        }
      }
    }
  }
}

}  // namespace sonde::separate::winograd
