// SPDX-License-Identifier: Apache-2.0
// Compiled with -ffp-contract=fast, so that a multiplication and an addition become one instruction where it exists.
#include "sonde/engine/bench/machine_kernels.h"

#include <atomic>

#include "sonde/engine/device/device.h"
#include "sonde/engine/device/multiversion.h"

namespace sonde::machine {

SONDE_MULTIVERSION void copy(double* to, const double* from, Index count) {
  for (Index i = 0; i < count; ++i) to[i] = from[i];
}

SONDE_MULTIVERSION void triad(double* to, const double* a, const double* b, Index count) {
  for (Index i = 0; i < count; ++i) to[i] = a[i] + 3.0 * b[i];
}

SONDE_MULTIVERSION double sum(const double* from, Index count) {
  // Thirty-two independent sums: a single one would wait for its own additions, not for memory.
  double sums[32] = {};
  for (Index i = 0; i + 32 <= count; i += 32)
    for (Index k = 0; k < 32; ++k) sums[k] += from[i + k];
  double total = 0;
  for (const double each : sums) total += each;
  return total;
}

namespace {

/// Results go here, so that the compiler cannot leave the work out.
std::atomic<double> kept{0};

// Twelve chains keep two units with four cycles of latency busy, and with their two factors they fit into sixteen
// registers. A factor below one keeps the values away from overflow and from denormal numbers.
#define SONDE_MULTIPLY_ADD(function, element, vector_bytes, target_name)                                            \
  target_name double function(Index rounds) {                                                                       \
    typedef element Vector __attribute__((vector_size(vector_bytes)));                                              \
    constexpr int lanes = (vector_bytes) / static_cast<int>(sizeof(element));                                       \
    const Vector factor = Vector{} + static_cast<element>(0.999), term = Vector{} + static_cast<element>(0.001);    \
    Vector a = term, b = a + a, c = b + a, d = c + a, e = d + a, f = e + a;                                         \
    Vector g = f + a, h = g + a, i = h + a, j = i + a, k = j + a, l = k + a;                                        \
    for (Index round = 0; round < rounds; ++round) {                                                                \
      a = a * factor + term, b = b * factor + term, c = c * factor + term, d = d * factor + term;                   \
      e = e * factor + term, f = f * factor + term, g = g * factor + term, h = h * factor + term;                   \
      i = i * factor + term, j = j * factor + term, k = k * factor + term, l = l * factor + term;                   \
    }                                                                                                               \
    const Vector all = a + b + c + d + e + f + g + h + i + j + k + l;                                               \
    for (int lane = 0; lane < lanes; ++lane) kept.store(static_cast<double>(all[lane]), std::memory_order_relaxed); \
    return static_cast<double>(rounds) * 12 * lanes * 2;                                                            \
  }

SONDE_MULTIPLY_ADD(f32_narrow, float, 16, )
SONDE_MULTIPLY_ADD(f64_narrow, double, 16, )
#if defined(__x86_64__)
SONDE_MULTIPLY_ADD(f32_wide, float, 64, __attribute__((target("avx512f"))))
SONDE_MULTIPLY_ADD(f64_wide, double, 64, __attribute__((target("avx512f"))))
SONDE_MULTIPLY_ADD(f32_middle, float, 32, __attribute__((target("avx2,fma"))))
SONDE_MULTIPLY_ADD(f64_middle, double, 32, __attribute__((target("avx2,fma"))))
#endif

}  // namespace

double multiply_add_f32(Index rounds) {
#if defined(__x86_64__)
  const DeviceFlags& can = Device::cpu().info().can;
  if (can.avx512) return f32_wide(rounds);
  if (can.avx2) return f32_middle(rounds);
#endif
  return f32_narrow(rounds);
}

double multiply_add_f64(Index rounds) {
#if defined(__x86_64__)
  const DeviceFlags& can = Device::cpu().info().can;
  if (can.avx512) return f64_wide(rounds);
  if (can.avx2) return f64_middle(rounds);
#endif
  return f64_narrow(rounds);
}

}  // namespace sonde::machine
