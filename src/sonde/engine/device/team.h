// SPDX-License-Identifier: Apache-2.0
// Threads that work together on a GPU, and one thread of the CPU that plays them. Device logic is a template over the
// team, so that the same lines run in a kernel (team_cuda.h) and in a test. Every loop of a team leaves the order of
// its steps open; the serial team runs them forwards or backwards, which brings steps to light that depend on each
// other.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "sonde/engine/base/index.h"

#ifdef __CUDACC__
#define SONDE_DEVICE __device__
#else
#define SONDE_DEVICE
#endif

namespace sonde {

/// Integer updates of memory that several threads share; their order does not matter.
SONDE_DEVICE inline void shared_add(std::uint64_t* to, std::uint64_t value) {
#ifdef __CUDA_ARCH__
  atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
#else
  *to += value;
#endif
}
SONDE_DEVICE inline void shared_max(std::uint64_t* to, std::uint64_t value) {
#ifdef __CUDA_ARCH__
  atomicMax(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
#else
  if (value > *to) *to = value;
#endif
}
SONDE_DEVICE inline void shared_min(std::uint64_t* to, std::uint64_t value) {
#ifdef __CUDA_ARCH__
  atomicMin(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
#else
  if (value < *to) *to = value;
#endif
}

/// The larger of two numbers; not a number when one of them is none.
SONDE_DEVICE inline double larger(double most, double value) { return value > most || value != value ? value : most; }

/// Eight bytes at once; the address is a multiple of eight.
SONDE_DEVICE inline std::uint64_t load_word(const std::uint8_t* from) {
#ifdef __CUDA_ARCH__
  return *reinterpret_cast<const unsigned long long*>(from);
#else
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
#endif
}
SONDE_DEVICE inline void store_word(std::uint8_t* to, std::uint64_t word) {
#ifdef __CUDA_ARCH__
  *reinterpret_cast<unsigned long long*>(to) = word;
#else
  std::memcpy(to, &word, sizeof word);
#endif
}

/// Which way the serial teams run their loops.
enum class StepOrder { forwards, backwards };

/// A warp played by one thread.
class SerialWarp {
 public:
  explicit SerialWarp(StepOrder order = StepOrder::forwards) : order_(order) {}

  /// body(i) for every i in [0, n), in no order that may be relied on; all is done, and seen by all lanes, on return.
  template <class Body>
  void each(std::uint32_t n, Body&& body) const {
    for (std::uint32_t i = 0; i < n; ++i) body(order_ == StepOrder::forwards ? i : n - 1 - i);
  }
  /// Whether body(i) holds for any i in [0, n).
  template <class Body>
  bool any(std::uint32_t n, Body&& body) const {
    bool found = false;
    each(n, [&](std::uint32_t i) { found |= body(i); });
    return found;
  }
  /// The sum of body(i) over i in [0, n).
  template <class Body>
  std::uint64_t sum(std::uint32_t n, Body&& body) const {
    std::uint64_t total = 0;
    each(n, [&](std::uint32_t i) { total += body(i); });
    return total;
  }
  /// body() by one lane.
  template <class Body>
  void once(Body&& body) const {
    body();
  }

 private:
  StepOrder order_;
};

/// A thread block of `warps` warps with `scratch_bytes` of shared memory, played by one thread.
class SerialBlock {
 public:
  SerialBlock(Index index, Index count, std::uint32_t warps, std::size_t scratch_bytes, StepOrder order)
      : index_(index), count_(count), warps_(warps), order_(order), scratch_((scratch_bytes + 7) / 8) {}

  /// Which of count() blocks this is.
  [[nodiscard]] Index index() const { return index_; }
  [[nodiscard]] Index count() const { return count_; }
  /// Shared memory, at a multiple of eight bytes (sixteen on a GPU).
  [[nodiscard]] std::uint8_t* scratch() { return reinterpret_cast<std::uint8_t*>(scratch_.data()); }

  template <class Body>
  void each(Index n, Body&& body) const {
    for (Index i = 0; i < n; ++i) body(order_ == StepOrder::forwards ? i : n - 1 - i);
  }
  /// body() once, seen by all threads on return.
  template <class Body>
  void once(Body&& body) const {
    body();
  }
  /// body(warp, w, warps) for every warp w of the block.
  template <class Body>
  void each_warp(Body&& body) const {
    const SerialWarp warp(order_);
    for (std::uint32_t w = 0; w < warps_; ++w) body(warp, order_ == StepOrder::forwards ? w : warps_ - 1 - w, warps_);
  }
  /// body(i, partial) for every i in [0, n) adds to its partial sums, integers or floating-point numbers; all threads
  /// get the sums. On a GPU the order of additions depends only on n and the block's size.
  template <int Count, class Sum, class Body>
  void sums(Index n, Sum (&result)[Count], Body&& body) const {
    for (Sum& each_sum : result) each_sum = 0;
    each(n, [&](Index i) { body(i, result); });
  }
  /// The largest body(i) over i in [0, n), or zero; all threads get it.
  template <class Body>
  double largest(Index n, Body&& body) const {
    double most = 0;
    each(n, [&](Index i) { most = larger(most, body(i)); });
    return most;
  }

 private:
  Index index_, count_;
  std::uint32_t warps_;
  StepOrder order_;
  std::vector<std::uint64_t> scratch_;  // exactly as large as asked for: a sanitiser sees every byte beyond
};

/// How many blocks of which size run a body.
struct LaunchSize {
  Index blocks = 0;
  std::uint32_t warps = 8;
  std::size_t scratch_bytes = 0;
};

/// body(block) for all blocks, one after another on this thread: the twin of cuda::launch (team_cuda.h).
template <class Body>
void run_serially(const LaunchSize& size, const Body& body, StepOrder order = StepOrder::forwards) {
  for (Index i = 0; i < size.blocks; ++i) {
    SerialBlock block(order == StepOrder::forwards ? i : size.blocks - 1 - i, size.blocks, size.warps,
                      size.scratch_bytes, order);
    body(block);
  }
}

}  // namespace sonde
