// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/device/pool.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/device_kernels.h"

namespace sonde {
namespace {

constexpr std::size_t alignment_bytes = 64;
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
constexpr std::size_t map_threshold_bytes = std::size_t{4} << 20;

std::size_t round_up(std::size_t value, std::size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// Maps a little more than asked for and gives the ends back, so that the block starts on a huge page.
void* map_block(std::size_t bytes) {
  const std::size_t wanted = round_up(bytes, huge_page_bytes);
  const std::size_t mapped = wanted + huge_page_bytes;
  void* raw = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(raw);
  const std::size_t before = round_up(address, huge_page_bytes) - address, after = mapped - before - wanted;
  std::byte* block = static_cast<std::byte*>(raw) + before;
  if (before > 0) munmap(raw, before);
  if (after > 0) munmap(block + wanted, after);
  // 4 KiB pages cost 1 to 2 GB/s at first touch; huge pages reach the memory's own rate.
  madvise(block, wanted, MADV_HUGEPAGE);
  return block;
}

void* allocate_host(std::size_t bytes) {
  if (bytes >= map_threshold_bytes) return map_block(bytes);
  return ::operator new (round_up(bytes, alignment_bytes), std::align_val_t{alignment_bytes}, std::nothrow);
}

void deallocate_host(void* pointer, std::size_t bytes) noexcept {
  if (bytes >= map_threshold_bytes)
    munmap(pointer, round_up(bytes, huge_page_bytes));
  else
    ::operator delete (pointer, std::align_val_t{alignment_bytes});
}

}  // namespace

Pool& Pool::of(Device device) {
  // Never destroyed: arrays with static lifetime may be freed after any destructor order we could choose.
  static auto* pools = [] {
    auto* all = new std::vector<std::unique_ptr<Pool>>;
    for (Device each : Device::all()) all->push_back(std::make_unique<Pool>(each));
    return all;
  }();
  for (const auto& pool : *pools)
    if (pool->device_ == device) return *pool;
  throw Error(ErrorKind::internal, "a device without a pool");
}

void Pool::count(std::size_t bytes) {
  in_use_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, in_use_bytes_);
}

void* Pool::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* block = nullptr;
  if (device_.is_cpu()) {
    block = allocate_host(bytes);
  } else if constexpr (built_with_cuda) {
    const std::lock_guard lock(mutex_);
    const auto found = cached_.find(bytes);
    if (found != cached_.end()) {
      block = found->second;
      cached_bytes_ -= found->first;
      cached_.erase(found);
    }
  }
  if constexpr (built_with_cuda)
    if (block == nullptr && !device_.is_cpu()) {
      block = cuda::allocate(device_.info().ordinal, bytes);
      if (block == nullptr) {
        release();
        block = cuda::allocate(device_.info().ordinal, bytes);
      }
    }
  if (block == nullptr)
    throw Error(ErrorKind::budget,
                fmt::format("{} refused {}; {} are free", device_.name(), format_bytes(static_cast<double>(bytes)),
                            format_bytes(static_cast<double>(device_.memory_free()))))
        .hint("lower " + setting("memory") + ", or bin with " + setting("det_bin") + " or " + setting("scan_bin"));
  const std::lock_guard lock(mutex_);
  count(bytes);
  return block;
}

void Pool::deallocate(void* pointer, std::size_t bytes) noexcept {
  if (pointer == nullptr) return;
  if (device_.is_cpu()) deallocate_host(pointer, bytes);
  const std::lock_guard lock(mutex_);
  in_use_bytes_ -= bytes;
  if (!device_.is_cpu()) {
    cached_.emplace(bytes, pointer);
    cached_bytes_ += bytes;
  }
}

std::size_t Pool::in_use_bytes() const {
  const std::lock_guard lock(mutex_);
  return in_use_bytes_;
}

std::size_t Pool::cached_bytes() const {
  const std::lock_guard lock(mutex_);
  return cached_bytes_;
}

std::size_t Pool::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_bytes_;
}

void Pool::reset_peak() {
  const std::lock_guard lock(mutex_);
  peak_bytes_ = in_use_bytes_;
}

void Pool::release() {
  if (device_.is_cpu()) {
    malloc_trim(0);
    return;
  }
  if constexpr (built_with_cuda) {
    const std::lock_guard lock(mutex_);
    for (const auto& [bytes, block] : cached_) cuda::deallocate(device_.info().ordinal, block);
    cached_.clear();
    cached_bytes_ = 0;
  }
}

}  // namespace sonde
