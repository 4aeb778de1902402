// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include "sonde/engine/device/device.h"

namespace sonde {

/// Host memory for copies to and from `device`: page-locked for a GPU, so that they are fast and asynchronous; from the
/// Pool for the CPU. Making it is slow (a few milliseconds per 10 MiB), so make it once. Movable.
class PinnedBlock {
 public:
  PinnedBlock() = default;
  /// Throws Error(budget) when the host refuses.
  PinnedBlock(Device device, std::size_t bytes);
  PinnedBlock(PinnedBlock&& other) noexcept { *this = std::move(other); }
  PinnedBlock& operator=(PinnedBlock&& other) noexcept;
  ~PinnedBlock();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  Device device_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace sonde
