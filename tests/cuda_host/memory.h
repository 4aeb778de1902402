// SPDX-License-Identifier: Apache-2.0
// What the threads of the device may touch, and the shadow of what they touched: who wrote and who read last.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuda_host {

/// The thread that does an access, and when.
struct Moment {
  std::uint32_t block = 0;    ///< counts the blocks that were ever played: 0 is none
  std::uint32_t barrier = 0;  ///< how often the block has come together
  std::uint32_t meeting = 0;  ///< how often the thread has come together with lanes of its warp
  std::uint16_t thread = 0;
  std::uint16_t touched = 0;  ///< of the shadow: which bytes, and marks

  [[nodiscard]] std::uint16_t warp() const { return thread / 32; }
};

/// The last accesses to a few bytes.
struct Shadow {
  Moment write, read;
};

enum class Access : std::uint8_t { read, write, atomic };

/// What is wrong with an access; nullptr when nothing is.
using Wrong = const char*;

/// Device memory: one range of addresses, of which blocks are given out with a gap behind each. Host code that touches
/// it while no work runs is stopped by the processor.
namespace device_memory {
extern const std::uintptr_t arena_begin;  ///< where the range begins
inline constexpr std::size_t arena_bytes = std::size_t{64} << 30;
[[nodiscard]] inline bool contains(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) - arena_begin < arena_bytes;
}
/// Filled with 0xff, so that what is read before it is written is no number. nullptr when nothing is left.
[[nodiscard]] void* allocate(std::size_t bytes);
/// Whether this was a block.
[[nodiscard]] bool deallocate(void* block);
[[nodiscard]] std::size_t total_bytes();
[[nodiscard]] std::size_t used_bytes();
/// Whether the bytes are in one block.
[[nodiscard]] bool covers(const void* address, std::size_t bytes);
/// `first_block` is that of the launch: what earlier ones did is ordered before it.
[[nodiscard]] Wrong check(const void* address, std::size_t bytes, Access access, const Moment& now,
                          std::uint32_t first_block);
/// While an Open exists, the host may touch device memory: the work of streams is done so. Otherwise it may not as long
/// as there are at most 32 MiB.
class Open {
 public:
  Open();
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  ~Open();
};
}  // namespace device_memory

/// Page-locked memory of the host, which kernels may touch too.
namespace pinned_memory {
[[nodiscard]] void* allocate(std::size_t bytes);
[[nodiscard]] bool deallocate(void* block);
[[nodiscard]] bool covers(const void* address, std::size_t bytes);
}  // namespace pinned_memory

/// The constants of the program: what the loader has made read-only.
[[nodiscard]] bool is_constant(const void* address);

/// Shared memory of one thread of the host: its thread-local variables, of which the words after __shared__ are some.
class SharedMemory {
 public:
  SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();
  [[nodiscard]] bool contains(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - begin_ < end_ - begin_;
  }
  /// How much of the dynamic part the launch has asked for.
  void set_dynamic_bytes(std::size_t bytes) { dynamic_bytes_ = bytes; }
  [[nodiscard]] Wrong check(const void* address, std::size_t bytes, Access access, const Moment& now);

 private:
  struct Word;
  [[nodiscard]] std::size_t shadow_bytes() const;

  std::uintptr_t begin_ = 0, end_ = 0;
  std::size_t dynamic_bytes_ = 0;
  Word* shadow_ = nullptr;
};

/// As much dynamic shared memory as a block may have (compute capability 9.0).
inline constexpr std::size_t most_shared_bytes = 227 << 10;

}  // namespace cuda_host
