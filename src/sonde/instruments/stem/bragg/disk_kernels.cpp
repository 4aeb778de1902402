// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/bragg/disk_kernels.h"

#include <algorithm>
#include <cstring>

#include "sonde/engine/device/multiversion.h"

namespace sonde::stem::cpu {

namespace {

/// Four complex numbers: the compiler does not find the shuffles of a product by itself.
struct Four {
  using Vector [[gnu::vector_size(32)]] = float;
  Vector all;
};

[[gnu::always_inline]] inline void load(const std::complex<float>* from, Four& four) {
  std::memcpy(&four.all, from, sizeof four.all);
}

/// sum += a z.
[[gnu::always_inline]] inline void add_product(const Four& a, const Four& z, Four& sum) {
  const Four real{__builtin_shufflevector(a.all, a.all, 0, 0, 2, 2, 4, 4, 6, 6)};
  const Four imaginary{__builtin_shufflevector(a.all, a.all, 1, 1, 3, 3, 5, 5, 7, 7)};
  const Four turned{__builtin_shufflevector(z.all, z.all, 1, 0, 3, 2, 5, 4, 7, 6)};
  const Four sign{{-1, 1, -1, 1, -1, 1, -1, 1}};
  sum.all += real.all * z.all + imaginary.all * turned.all * sign.all;
}

}  // namespace

SONDE_MULTIVERSION void filter_row(const std::complex<float>* row, const std::complex<float>* partner,
                                   const std::complex<float>* direct, const std::complex<float>* mirrored, Index count,
                                   std::complex<float>* to) {
  to[0] = direct[0] * row[0] + mirrored[0] * std::conj(partner[0]);
  Index l = 1;
  for (; l + 4 <= count; l += 4) {
    Four a, b, here, there, sum{};
    load(direct + l, a);
    load(mirrored + l, b);
    load(row + l, here);
    load(partner + count - l - 3, there);
    const Four conjugate{{1, -1, 1, -1, 1, -1, 1, -1}};
    const Four reversed{__builtin_shufflevector(there.all, there.all, 6, 7, 4, 5, 2, 3, 0, 1) * conjugate.all};
    add_product(a, here, sum);
    add_product(b, reversed, sum);
    std::memcpy(static_cast<void*>(to + l), &sum.all, sizeof sum.all);
  }
  for (; l < count; ++l) to[l] = direct[l] * row[l] + mirrored[l] * std::conj(partner[count - l]);
}

#define SONDE_TO_FLOATS(T)                                                   \
  SONDE_MULTIVERSION void to_floats(const T* from, Index count, float* to) { \
    for (Index i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);   \
  }
SONDE_TO_FLOATS(std::uint8_t)
SONDE_TO_FLOATS(std::uint16_t)
SONDE_TO_FLOATS(std::uint32_t)
SONDE_TO_FLOATS(std::uint64_t)
SONDE_TO_FLOATS(float)
SONDE_TO_FLOATS(double)
#undef SONDE_TO_FLOATS

SONDE_MULTIVERSION void add_products(const float* counts, const float* products, Index count, float* sums) {
  for (Index j = 0; j < count; ++j) sums[j] += counts[j] * products[j];
}

SONDE_MULTIVERSION void flag_maxima(const float* above, const float* here, const float* below, Index cols,
                                    std::uint8_t* flags) {
  flags[0] = flags[cols - 1] = 0;
  for (Index c = 1; c < cols - 1; ++c) {
    const float at_most = std::max(std::max(below[c], here[c + 1]), std::max(below[c + 1], above[c + 1]));
    const float less = std::max(std::max(std::max(above[c], here[c - 1]), std::max(below[c - 1], above[c - 1])), 0.0F);
    flags[c] = static_cast<std::uint8_t>(static_cast<int>(here[c] >= at_most) & static_cast<int>(here[c] > less));
  }
}

SONDE_MULTIVERSION void weighted_sums(const float* window, const float* y, const float* x, double* to) {
  float columns[3][window_lanes] = {};
  for (Index i = 0; i < window_size; ++i)
    for (Index a = 0; a < 3; ++a)
      for (Index j = 0; j < window_lanes; ++j) columns[a][j] += y[a * window_lanes + i] * window[i * window_lanes + j];
  for (Index a = 0; a < 3; ++a)
    for (Index b = 0; b < 3; ++b) {
      double sum = 0;
      for (Index j = 0; j < window_size; ++j)
        sum += static_cast<double>(columns[a][j]) * static_cast<double>(x[b * window_lanes + j]);
      to[3 * a + b] = sum;
    }
}

}  // namespace sonde::stem::cpu
