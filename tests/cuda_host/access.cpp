// SPDX-License-Identifier: Apache-2.0
// .cu files are compiled with -fsanitize=thread, so that the compiler calls a function at each access to memory. Those
// functions are not ThreadSanitizer's but these, which ask the machine whether the access is right.
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tests/cuda_host/machine.h"

namespace {

inline void touch(const void* address, std::size_t bytes, cuda_host::Access access, const void* from) {
  if (cuda_host::Machine* const machine = cuda_host::Machine::at_work(); machine != nullptr)
    machine->touch(address, bytes, access, from);
}

/// A GPU has no accesses that are not at a multiple of their size.
inline void touch_aligned(const void* address, std::size_t bytes, cuda_host::Access access, const void* from) {
  cuda_host::Machine* const machine = cuda_host::Machine::at_work();
  if (machine == nullptr) return;
  if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0)
    machine->fail("has a wrong access: its address is no multiple of its size");
  machine->touch(address, bytes, access, from);
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the compiler's names
extern "C" {
#define SONDE_ACCESS(bytes)                                                               \
  void __tsan_read##bytes(void* address) {                                                \
    touch_aligned(address, bytes, cuda_host::Access::read, __builtin_return_address(0));  \
  }                                                                                       \
  void __tsan_write##bytes(void* address) {                                               \
    touch_aligned(address, bytes, cuda_host::Access::write, __builtin_return_address(0)); \
  }                                                                                       \
  void __tsan_unaligned_read##bytes(void* address) {                                      \
    touch(address, bytes, cuda_host::Access::read, __builtin_return_address(0));          \
  }                                                                                       \
  void __tsan_unaligned_write##bytes(void* address) {                                     \
    touch(address, bytes, cuda_host::Access::write, __builtin_return_address(0));         \
  }
SONDE_ACCESS(1)
SONDE_ACCESS(2)
SONDE_ACCESS(4)
SONDE_ACCESS(8)
SONDE_ACCESS(16)
#undef SONDE_ACCESS

void __tsan_init() {}
void __tsan_func_entry(void* /*caller*/) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void** /*object*/, void* /*table*/) {}
void __tsan_vptr_read(void** /*object*/) {}
void __tsan_read_range(void* address, std::size_t bytes) {
  touch(address, bytes, cuda_host::Access::read, __builtin_return_address(0));
}
void __tsan_write_range(void* address, std::size_t bytes) {
  touch(address, bytes, cuda_host::Access::write, __builtin_return_address(0));
}

// The atomic operations of host code in these files (reference counts of std::shared_ptr and their like).
#define SONDE_ATOMIC(bits, Type)                                                                                  \
  Type __tsan_atomic##bits##_load(const volatile Type* at, int) { return __atomic_load_n(at, __ATOMIC_SEQ_CST); } \
  void __tsan_atomic##bits##_store(volatile Type* at, Type value, int) {                                          \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                                \
  }                                                                                                               \
  Type __tsan_atomic##bits##_exchange(volatile Type* at, Type value, int) {                                       \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                               \
  Type __tsan_atomic##bits##_fetch_add(volatile Type* at, Type value, int) {                                      \
    return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                               \
  Type __tsan_atomic##bits##_fetch_sub(volatile Type* at, Type value, int) {                                      \
    return __atomic_fetch_sub(at, value, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                               \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile Type* at, Type* expected, Type value, int, int) {    \
    return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
  }                                                                                                               \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile Type* at, Type* expected, Type value, int, int) {      \
    return __atomic_compare_exchange_n(at, expected, value, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);            \
  }
SONDE_ATOMIC(8, std::uint8_t)
SONDE_ATOMIC(32, std::uint32_t)
SONDE_ATOMIC(64, std::uint64_t)
#undef SONDE_ATOMIC
void __tsan_atomic_thread_fence(int) { std::atomic_thread_fence(std::memory_order_seq_cst); }
void __tsan_atomic_signal_fence(int) { std::atomic_signal_fence(std::memory_order_seq_cst); }
}
// NOLINTEND(readability-identifier-naming)
