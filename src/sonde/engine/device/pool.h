// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

#include "sonde/engine/device/device.h"

namespace sonde {

/// The memory of one device. Thread-safe.
///
/// Host blocks of 4 MiB and more are mapped on their own, aligned for huge pages, and go back to the operating system
/// the moment they are freed; smaller ones come from the C++ heap, 64-byte aligned. Fresh large host blocks are zero
/// and their pages are placed where they are first touched, so let the workers touch them. GPU blocks are cached by
/// size and returned by release(). All are aligned to at least 64 bytes.
class Pool {
 public:
  static Pool& of(Device device);

  /// Throws Error(budget) with the size and what is free when the device has no room. Zero bytes give nullptr.
  [[nodiscard]] void* allocate(std::size_t bytes);
  void deallocate(void* pointer, std::size_t bytes) noexcept;

  [[nodiscard]] std::size_t in_use_bytes() const;
  [[nodiscard]] std::size_t cached_bytes() const;
  [[nodiscard]] std::size_t peak_bytes() const;
  void reset_peak();
  /// Returns cached blocks to the driver, and free heap pages to the operating system.
  void release();

  explicit Pool(Device device) : device_(device) {}

 private:
  void count(std::size_t bytes);

  Device device_;
  mutable std::mutex mutex_;
  std::multimap<std::size_t, void*> cached_;  // GPU blocks by size
  std::size_t in_use_bytes_ = 0, cached_bytes_ = 0, peak_bytes_ = 0;
};

}  // namespace sonde
