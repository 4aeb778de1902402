// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/codec/bitshuffle_kernels.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "sonde/engine/device/device.h"

namespace sonde {
namespace {

// Elements of uncommon sizes go byte by byte through a strip of this many groups.
constexpr std::size_t strip_groups = 64;

// How many low bytes of the elements have a set bit anywhere in the block, rounded up to 1, 2 or 4.
std::size_t live_bytes(const BitshuffleKernels& kernels, const std::byte* planes, std::size_t groups,
                       std::size_t element_bytes, const ZeroRuns& zeros) {
  std::size_t live = element_bytes;
  const auto upper_half_is_zero = [&] {
    const std::size_t half = 4 * live * groups;
    return zeros.cover(half, 2 * half) || kernels.all_zero(planes + half, half);
  };
  while (live > 1 && upper_half_is_zero()) live /= 2;
  return live;
}

// Byte k of `count` elements; a constant size lets the compiler vectorise.
template <std::size_t constant_bytes>
void gather_byte(const std::byte* from, std::size_t count, std::size_t element_bytes, std::byte* to) {
  if constexpr (constant_bytes != 0) element_bytes = constant_bytes;
  for (std::size_t i = 0; i < count; ++i) to[i] = from[i * element_bytes];
}

auto* byte_gatherer(std::size_t element_bytes) {
  return element_bytes == 2 ? gather_byte<2> : element_bytes == 4 ? gather_byte<4> : gather_byte<0>;
}

}  // namespace

const BitshuffleKernels& best_bitshuffle_kernels() { return *usable_bitshuffle_kernels().back(); }

std::vector<const BitshuffleKernels*> usable_bitshuffle_kernels() {
  std::vector<const BitshuffleKernels*> usable = {&bitshuffle_kernels_portable()};
#ifdef SONDE_BITSHUFFLE_X86
  const DeviceFlags& can = Device::cpu().info().can;
  if (can.avx2) usable.push_back(&bitshuffle_kernels_avx2());
  if (can.gfni) usable.push_back(&bitshuffle_kernels_avx512());
#endif
  return usable;
}

void elements_from_planes(const BitshuffleKernels& kernels, const std::byte* planes, std::size_t elements,
                          std::size_t element_bytes, std::byte* out, const ZeroRuns& zeros) {
  const std::size_t groups = elements / 8;
  if (zeros.cover(0, elements * element_bytes)) {
    std::memset(out, 0, elements * element_bytes);
    return;
  }
  if (element_bytes == 1) return kernels.bytes_from_planes(planes, groups, groups, out);
  if (element_bytes == 2)
    return kernels.u16_from_planes(planes, groups, live_bytes(kernels, planes, groups, 2, zeros), out);
  if (element_bytes == 4)
    return kernels.u32_from_planes(planes, groups, live_bytes(kernels, planes, groups, 4, zeros), out);
  std::array<std::byte, 8 * strip_groups> strip;
  for (std::size_t done = 0; done < groups; done += strip_groups) {
    const std::size_t now = std::min(strip_groups, groups - done);
    for (std::size_t k = 0; k < element_bytes; ++k) {
      kernels.bytes_from_planes(planes + 8 * k * groups + done, groups, now, strip.data());
      std::byte* to = out + 8 * done * element_bytes + k;
      for (std::size_t i = 0; i < 8 * now; ++i) to[i * element_bytes] = strip[i];
    }
  }
}

void planes_from_elements(const BitshuffleKernels& kernels, const std::byte* in, std::size_t elements,
                          std::size_t element_bytes, std::byte* planes) {
  const std::size_t groups = elements / 8;
  if (element_bytes == 1) return kernels.planes_from_bytes(in, groups, groups, planes);
  auto* const gather = byte_gatherer(element_bytes);
  std::array<std::byte, 8 * strip_groups> strip;
  for (std::size_t done = 0; done < groups; done += strip_groups) {
    const std::size_t now = std::min(strip_groups, groups - done);
    for (std::size_t k = 0; k < element_bytes; ++k) {
      gather(in + 8 * done * element_bytes + k, 8 * now, element_bytes, strip.data());
      kernels.planes_from_bytes(strip.data(), now, groups, planes + 8 * k * groups + done);
    }
  }
}

}  // namespace sonde
