// SPDX-License-Identifier: Apache-2.0
// parallel_for on std::thread, for ThreadSanitizer: it reports false races inside oneTBB, and suppressions for those
// also hide true races in the bodies. Threads are started per loop; nested loops run serially.
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/device/device.h"
#include "sonde/engine/device/parallel.h"

namespace sonde {
namespace {

std::atomic<int> chosen_count{0};
thread_local const Worker* current_worker = nullptr;  // set while a body runs, to notice nesting

}  // namespace

void set_thread_count(int count) { chosen_count = count; }

int thread_count() {
  const int chosen = chosen_count;
  return chosen > 0 ? chosen : std::max(1, Device::cpu().info().compute_units);
}

int worker_limit() { return thread_count(); }

void detail::run_parallel(Index count, Index grain, LoopBody body, void* context) {
  if (count <= 0) return;
  grain = std::max<Index>(1, grain);
  const Index pieces = (count + grain - 1) / grain;
  if (current_worker != nullptr) {
    Worker worker = *current_worker;
    for (Index piece = 0; piece < pieces; ++piece) {
      CancelScope::check();
      body(context, piece * grain, std::min(count, (piece + 1) * grain), worker);
    }
    return;
  }

  std::atomic<Index> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  std::mutex mutex;
  const Cancel* const cancel = CancelScope::current();  // of this thread; the pieces run on others too
  RunFiles* const files = run_files();
  const auto work = [&](int index) {
    const InRun joined(files);
    Worker worker{index};
    const CancelScope scope(cancel);
    current_worker = &worker;
    for (Index piece = next++; piece < pieces && !failed; piece = next++) {
      try {
        CancelScope::check();
        body(context, piece * grain, std::min(count, (piece + 1) * grain), worker);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failed.exchange(true)) failure = std::current_exception();
      }
    }
    current_worker = nullptr;
  };
  {
    std::vector<std::jthread> others;
    const Index helpers = std::min<Index>(thread_count(), pieces) - 1;
    for (Index i = 0; i < helpers; ++i) others.emplace_back(work, static_cast<int>(i + 1));
    work(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace sonde
