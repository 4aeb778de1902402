// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/frame_kernels.h"

#include <type_traits>

#include "sonde/engine/device/device.h"

namespace sonde::stem::cpu {

#define SONDE_DECLARE_LEVEL(level)                      \
  namespace level {                                     \
  extern const FrameKernels<std::uint8_t> kernels_u8;   \
  extern const FrameKernels<std::uint16_t> kernels_u16; \
  extern const FrameKernels<std::uint32_t> kernels_u32; \
  extern const FrameKernels<std::uint64_t> kernels_u64; \
  extern const FrameKernels<float> kernels_f32;         \
  extern const FrameKernels<double> kernels_f64;        \
  }
SONDE_DECLARE_LEVEL(baseline)
#if defined(__x86_64__)
SONDE_DECLARE_LEVEL(avx2)
SONDE_DECLARE_LEVEL(avx512)
#endif

int frame_kernel_level() {
#if defined(__x86_64__)
  const DeviceFlags& can = Device::cpu().info().can;
  return can.avx512 ? 2 : can.avx2 ? 1 : 0;
#else
  return 0;
#endif
}

#if defined(__x86_64__)
#define SONDE_PICK(kernels) (level == 2 ? avx512::kernels : level == 1 ? avx2::kernels : baseline::kernels)
#else
#define SONDE_PICK(kernels) (baseline::kernels)
#endif

template <class T>
const FrameKernels<T>& frame_kernels(int level) {
  if (level < 0) level = frame_kernel_level();
  if constexpr (std::is_same_v<T, std::uint8_t>)
    return SONDE_PICK(kernels_u8);
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return SONDE_PICK(kernels_u16);
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return SONDE_PICK(kernels_u32);
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return SONDE_PICK(kernels_u64);
  else if constexpr (std::is_same_v<T, float>)
    return SONDE_PICK(kernels_f32);
  else
    return SONDE_PICK(kernels_f64);
}

template const FrameKernels<std::uint8_t>& frame_kernels(int);
template const FrameKernels<std::uint16_t>& frame_kernels(int);
template const FrameKernels<std::uint32_t>& frame_kernels(int);
template const FrameKernels<std::uint64_t>& frame_kernels(int);
template const FrameKernels<float>& frame_kernels(int);
template const FrameKernels<double>& frame_kernels(int);

}  // namespace sonde::stem::cpu
