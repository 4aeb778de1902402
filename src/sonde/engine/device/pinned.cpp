// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/device/pinned.h"

#include "sonde/engine/device/device_kernels.h"
#include "sonde/engine/device/pool.h"

namespace sonde {

PinnedBlock::PinnedBlock(Device device, std::size_t bytes) : device_(device), size_(bytes) {
  if (bytes == 0) return;
  if constexpr (built_with_cuda) {
    if (!device.is_cpu()) {
      data_ = static_cast<std::byte*>(cuda::allocate_pinned(device.info().ordinal, bytes));
      return;
    }
  }
  data_ = static_cast<std::byte*>(Pool::of(Device::cpu()).allocate(bytes));
}

PinnedBlock& PinnedBlock::operator=(PinnedBlock&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

PinnedBlock::~PinnedBlock() {
  if (data_ == nullptr) return;
  if constexpr (built_with_cuda) {
    if (!device_.is_cpu()) {
      cuda::deallocate_pinned(data_);
      return;
    }
  }
  Pool::of(Device::cpu()).deallocate(data_, size_);
}

}  // namespace sonde
