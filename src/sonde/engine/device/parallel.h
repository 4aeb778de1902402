// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde {

/// Who runs a piece of a parallel loop: 0 <= index < worker_limit(). No two pieces run with one index at the same time.
struct Worker {
  int index = 0;
};

/// How many threads compute; set once by the application from --threads, before the first loop. 0 means all cores that
/// this process may use.
void set_thread_count(int threads);
[[nodiscard]] int thread_count();
/// One more than the largest worker index that can occur.
[[nodiscard]] int worker_limit();

namespace detail {
using LoopBody = void (*)(void* context, Index first, Index last, Worker& worker);
void run_parallel(Index count, Index grain, LoopBody body, void* context);
}  // namespace detail

/// Calls body(first, last, worker) on pieces [k grain, (k+1) grain) of [0, count). The pieces do not depend on the
/// number of threads, so sums kept per piece are reproducible. The only way to use several cores for computing. May
/// nest. The first exception of a body reaches the caller; pieces not yet started are then left out. So are those of
/// work that is cancelled (CancelScope): then the loop throws Error(interrupted), and what it was writing is
/// unfinished.
template <class Body>
void parallel_for(Index count, Index grain, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  detail::run_parallel(
      count, grain,
      [](void* context, Index first, Index last, Worker& worker) {
        (*static_cast<Plain*>(context))(first, last, worker);
      },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

/// Scratch for each worker, made before the loop so that the loop allocates nothing. Elements sit on separate cache
/// lines.
template <class T>
class PerWorker {
 public:
  /// Each element is made by make().
  template <class Make>
  explicit PerWorker(Make make) {
    slots_.reserve(static_cast<std::size_t>(worker_limit()));
    for (int i = 0; i < worker_limit(); ++i) slots_.push_back(std::make_unique<T>(make()));
  }
  PerWorker() : PerWorker([] { return T(); }) {}

  T& operator[](const Worker& worker) { return *slots_[static_cast<std::size_t>(worker.index)]; }
  auto begin() { return slots_.begin(); }
  auto end() { return slots_.end(); }

 private:
  std::vector<std::unique_ptr<T>> slots_;
};

}  // namespace sonde
