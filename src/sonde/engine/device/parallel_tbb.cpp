// SPDX-License-Identifier: Apache-2.0
// parallel_for on oneTBB. parallel_std.cpp is its twin for ThreadSanitizer.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <memory>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/device/device.h"
#include "sonde/engine/device/parallel.h"

namespace sonde {
namespace {

struct Threads {
  int count = 0;
  std::unique_ptr<tbb::global_control> limit;
  std::unique_ptr<tbb::task_arena> arena;

  void set(int threads) {
    count = threads > 0 ? threads : std::max(1, Device::cpu().info().compute_units);
    arena.reset();
    limit = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                  static_cast<std::size_t>(count));
    arena = std::make_unique<tbb::task_arena>(count);
  }
};

Threads& threads() {
  static Threads* shared = [] {
    auto* made = new Threads;  // never destroyed: worker threads may outlive static destructors
    made->set(0);
    return made;
  }();
  return *shared;
}

}  // namespace

void set_thread_count(int count) { threads().set(count); }
int thread_count() { return threads().count; }
int worker_limit() { return threads().count; }

void detail::run_parallel(Index count, Index grain, LoopBody body, void* context) {
  if (count <= 0) return;
  grain = std::max<Index>(1, grain);
  const Index pieces = (count + grain - 1) / grain;
  if (threads().count == 1) {
    // An arena of one thread has two places all the same: of two callers, a reader ahead of the work for instance, the
    // second would get an index beyond worker_limit().
    Worker alone;
    for (Index piece = 0; piece < pieces; ++piece) {
      CancelScope::check();
      body(context, piece * grain, std::min(count, (piece + 1) * grain), alone);
    }
    return;
  }
  const Cancel* const cancel = CancelScope::current();  // of this thread; the pieces run on others too
  RunFiles* const files = run_files();
  threads().arena->execute([&] {
    // Isolated: a worker that waits for this loop must not start a piece of an outer loop, whose scratch has its index.
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(
          tbb::blocked_range<Index>(0, pieces, 1),
          [&](const tbb::blocked_range<Index>& range) {
            const InRun joined(files);
            Worker worker{tbb::this_task_arena::current_thread_index()};
            const CancelScope scope(cancel);
            for (Index piece = range.begin(); piece < range.end(); ++piece) {
              CancelScope::check();
              body(context, piece * grain, std::min(count, (piece + 1) * grain), worker);
            }
          },
          tbb::simple_partitioner());
    });
  });
}

}  // namespace sonde
