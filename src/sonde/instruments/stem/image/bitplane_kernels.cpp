// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/image/bitplane_kernels.h"

#include <bit>
#include <cstring>

#include "sonde/engine/device/device.h"

namespace sonde::stem {
namespace {

std::uint64_t popcount_and(const std::byte* a, const std::byte* b, std::size_t count) {
  std::uint64_t bits = 0;
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    std::uint64_t x = 0, y = 0;
    std::memcpy(&x, a + i, 8);
    std::memcpy(&y, b + i, 8);
    bits += static_cast<std::uint64_t>(std::popcount(x & y));
  }
  for (; i < count; ++i) bits += static_cast<std::uint64_t>(std::popcount(std::to_integer<unsigned>(a[i] & b[i])));
  return bits;
}

std::uint64_t sum_planes_plain(const std::byte* planes, std::size_t stride, std::uint64_t nonzero, const std::byte* set,
                               std::size_t count) {
  std::uint64_t sum = 0;
  for (std::uint64_t left = nonzero; left != 0; left &= left - 1) {
    const int p = std::countr_zero(left);
    sum += popcount_and(planes + static_cast<std::size_t>(p) * stride, set, count) << p;
  }
  return sum;
}

}  // namespace

const BitplaneKernels& bitplane_kernels_plain() {
  static constexpr BitplaneKernels kernels = {"plain", sum_planes_plain};
  return kernels;
}

std::vector<const BitplaneKernels*> usable_bitplane_kernels() {
  std::vector<const BitplaneKernels*> usable = {&bitplane_kernels_plain()};
#ifdef SONDE_BITPLANE_X86
  const DeviceFlags& can = Device::cpu().info().can;
  if (can.avx2) usable.push_back(&bitplane_kernels_avx2());
  if (can.avx512 && can.vpopcnt) usable.push_back(&bitplane_kernels_avx512());
#endif
  return usable;
}

const BitplaneKernels& best_bitplane_kernels() {
  static const BitplaneKernels& best = *usable_bitplane_kernels().back();
  return best;
}

}  // namespace sonde::stem
