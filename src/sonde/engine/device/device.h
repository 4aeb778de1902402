// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/choice.h"

namespace sonde {

#ifdef SONDE_WITH_CUDA
inline constexpr bool built_with_cuda = true;
#else
inline constexpr bool built_with_cuda = false;
#endif

enum class DeviceKind { cpu, cuda };

/// What a device can do. Code paths are chosen by these flags, never by the device's name.
struct DeviceFlags {
  bool avx2 = false;     ///< CPU: AVX2 and BMI2
  bool avx512 = false;   ///< CPU: AVX-512 F, BW, DQ, VL and VBMI
  bool gfni = false;     ///< CPU: Galois-field instructions on 512-bit registers
  bool vpopcnt = false;  ///< CPU: AVX-512 VPOPCNTDQ
  bool bf16 = false;
  bool fp16 = false;
  bool graphs = false;          ///< CUDA graphs
  bool async_alloc = false;     ///< stream-ordered allocation
  bool unified_memory = false;  ///< GPU: shares memory with the host
};

/// Queried once for the life of the process.
struct DeviceInfo {
  DeviceKind kind = DeviceKind::cpu;
  int ordinal = 0;                      ///< among devices of its kind
  std::string name;                     ///< "AMD EPYC", "NVIDIA H200"
  std::size_t memory_bytes = 0;         ///< total
  int compute_units = 0;                ///< cores that this process may use, or multiprocessors
  std::size_t shared_memory_bytes = 0;  ///< GPU: per block, opt-in maximum
  std::string driver;                   ///< GPU: driver version; empty for the CPU
  DeviceFlags can;
};

/// A cheap handle to the CPU or to one GPU. Copy it freely; two handles to one device compare equal.
class Device {
 public:
  /// The CPU.
  Device() = default;

  /// The CPU, then every usable GPU.
  static const std::vector<Device>& all();
  /// Why `all()` holds no GPU ("the program was built without CUDA", "no NVIDIA driver is installed"); empty when it
  /// does.
  static const std::string& why_no_gpu();
  static Device cpu() { return Device(); }

  /// "auto" (the first GPU, else the CPU), "cpu", "cuda", "cuda:1". The reason says why. Throws Error(usage) on another
  /// word, Error(device) when the device is not there.
  static Choice<Device> parse(std::string_view text);

  [[nodiscard]] const DeviceInfo& info() const;
  [[nodiscard]] DeviceKind kind() const;
  [[nodiscard]] bool is_cpu() const { return index_ == 0; }
  /// "cpu", "cuda:0".
  [[nodiscard]] std::string name() const;
  /// Bytes that are free now; asked every time.
  [[nodiscard]] std::size_t memory_free() const;

  friend bool operator==(const Device&, const Device&) = default;

 private:
  explicit Device(int index) : index_(index) {}
  int index_ = 0;  // position in all()
};

}  // namespace sonde
