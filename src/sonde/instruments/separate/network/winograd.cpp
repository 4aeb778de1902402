// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/winograd.h"

#include <algorithm>

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

// Kernels that are transformed together, neighbours among the outputs: they fill a line of the cache in each matrix.
constexpr Index kernels_together = 16;

struct Numbers {
  alignas(64) double at[kernels_together];
};

/// G g for the three weights of a line, of all kernels.
[[gnu::always_inline]] inline void weight_lines(const Numbers& g0, const Numbers& g1, const Numbers& g2,
                                                Numbers* __restrict out, Index apart) {
  for (Index c = 0; c < kernels_together; ++c) {
    const double a = g0.at[c], b = g1.at[c], d = g2.at[c];
    const double a24 = a / 24, b12 = b / 12, d6 = d / 6;
    out[0].at[c] = a / 4;
    out[apart].at[c] = -(a + b + d) / 6;
    out[2 * apart].at[c] = -(a - b + d) / 6;
    out[3 * apart].at[c] = a24 + b12 + d6;
    out[4 * apart].at[c] = a24 - b12 + d6;
    out[5 * apart].at[c] = d;
  }
}

/// Of `count` outputs, whose weights for one input are `apart` numbers from each other, to `planes` lines of them.
SONDE_MULTIVERSION void transform_kernels(const float* weights, Index apart, Index count, float* transformed,
                                          Index plane) {
  Numbers g[9], columns[18], lines[6];
  for (Index t = 0; t < 9; ++t) {
    for (Index c = 0; c < kernels_together; ++c) {
      g[t].at[c] = static_cast<double>(weights[std::min(c, count - 1) * apart + t]);
    }
  }
  for (Index b = 0; b < 3; ++b) weight_lines(g[b], g[3 + b], g[6 + b], columns + b, 3);
  for (Index k = 0; k < patch; ++k) {
    weight_lines(columns[3 * k], columns[3 * k + 1], columns[3 * k + 2], lines, 1);
    for (Index l = 0; l < patch; ++l) {
      float* const to = transformed + (k * patch + l) * plane;
      for (Index c = 0; c < count; ++c) to[c] = static_cast<float>(lines[l].at[c]);
    }
  }
}

}  // namespace

void transform_weights(std::span<const float> weights, Index outputs, Index inputs, const MatrixPlaces& places,
                       float* transformed) {
  parallel_for(inputs, 8, [&](Index first, Index last, Worker&) {
    for (Index o = 0; o < outputs; o += kernels_together) {
      for (Index i = first; i < last; ++i) {
        transform_kernels(weights.data() + (o * inputs + i) * 9, inputs * 9, std::min(kernels_together, outputs - o),
                          transformed + places.of(i, o), places.count);
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
