// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/panel/payload.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <new>

namespace sonde::panel {
namespace {

constexpr std::size_t smallest_mapped = std::size_t{32} << 10;  // below that a heap block costs less than its pages
constexpr std::size_t most_kept = std::size_t{16} << 20;
constexpr std::size_t page_bytes = 4096;

/// Whole pages, in four sizes per power of two: blocks of similar frames fit each other, and a quarter is wasted at
/// most, of addresses only: pages that nobody touches take no memory.
std::size_t block_bytes(std::size_t bytes) {
  const std::size_t step = std::max(page_bytes, std::bit_floor(bytes) / 4);
  return (bytes + step - 1) / step * step;
}

class Payloads {
 public:
  void* take(std::size_t block) {
    {
      const std::lock_guard lock(mutex_);
      memory_.in_use += block;
      if (const auto found = free_.find(block); found != free_.end()) {
        void* kept = found->second;
        free_.erase(found);
        memory_.kept -= block;
        return kept;
      }
    }
    void* mapped = mmap(nullptr, block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped != MAP_FAILED) return mapped;
    const std::lock_guard lock(mutex_);
    memory_.in_use -= block;
    throw std::bad_alloc();
  }

  void give(void* pointer, std::size_t block) noexcept {
    {
      const std::lock_guard lock(mutex_);
      memory_.in_use -= block;
      if (memory_.kept + block <= most_kept) try {
          free_.emplace(block, pointer);
          memory_.kept += block;
          return;
        } catch (const std::bad_alloc&) {  // no room to remember it: it goes back
        }
    }
    munmap(pointer, block);
  }

  [[nodiscard]] PayloadMemory memory() const {
    const std::lock_guard lock(mutex_);
    return memory_;
  }

 private:
  mutable std::mutex mutex_;
  std::multimap<std::size_t, void*> free_;
  PayloadMemory memory_;
};

Payloads& payloads() {
  static auto* shared = new Payloads;  // never destroyed: frames may outlive static destructors
  return *shared;
}

}  // namespace

std::shared_ptr<void> new_payload(std::size_t bytes) {
  if (bytes < smallest_mapped) return {::operator new(bytes), [](void* block) { ::operator delete(block); }};
  const std::size_t block = block_bytes(bytes);
  return {payloads().take(block), [block](void* pointer) { payloads().give(pointer, block); }};
}

PayloadMemory payload_memory() { return payloads().memory(); }

}  // namespace sonde::panel
