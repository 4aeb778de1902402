// SPDX-License-Identifier: Apache-2.0
// parallel_for on std::thread, for ThreadSanitizer: it reports false races inside oneTBB, and suppressions for those
// also hide true races in the bodies. Nested loops run serially.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
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

using Work = std::function<void(int index)>;

/// A thread that waits for work between loops: starting one for each loop took most of the time of a sanitised test.
class Helper {
 public:
  Helper() = default;
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
  void begin(const Work& work, int index) {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    index_ = index;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return work_ == nullptr; });
  }
  ~Helper() {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return work_ != nullptr || ending_; });
      if (work_ == nullptr) return;
      lock.unlock();
      (*work_)(index_);
      lock.lock();
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const Work* work_ = nullptr;
  int index_ = 0;
  bool ending_ = false;
  std::jthread thread_{[this] { run(); }};  // last: it uses the others, and ends before they do
};

/// Those that no loop uses. Loops of several threads each take their own.
class IdleHelpers {
 public:
  std::unique_ptr<Helper> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<Helper>();
    auto taken = std::move(idle_.back());
    idle_.pop_back();
    return taken;
  }
  void give_back(std::unique_ptr<Helper> helper) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(helper));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Helper>> idle_;
};

IdleHelpers& idle_helpers() {
  static IdleHelpers helpers;
  return helpers;
}

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
  const Work work = [&](int index) {
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
  std::vector<std::unique_ptr<Helper>> others;
  const Index helpers = std::min<Index>(thread_count(), pieces) - 1;
  for (Index i = 0; i < helpers; ++i) {
    others.push_back(idle_helpers().take());
    others.back()->begin(work, static_cast<int>(i + 1));
  }
  work(0);
  for (auto& other : others) {
    other->wait();
    idle_helpers().give_back(std::move(other));
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace sonde
