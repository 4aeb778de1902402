// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/side_by_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include "sonde/engine/base/text.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/report/progress.h"

namespace sonde::ptycho {

Choice<Index> choose_at_once(Index tries, Index threads, Index most, std::size_t host_bytes,
                             const std::function<std::size_t(Index)>& bytes_of) {
  const Index wanted = most > 0 ? std::min(most, threads) : threads, from = std::min(tries, wanted);
  Index at_once = from;
  while (at_once > 1 && bytes_of(at_once) > host_bytes) --at_once;
  const auto bytes = [](std::size_t count) { return format_bytes(static_cast<double>(count)); };
  if (at_once < from)
    return {at_once,
            fmt::format("{} need {}, {} may be used", at_once + 1, bytes(bytes_of(at_once + 1)), bytes(host_bytes))};
  if (at_once == tries) return {at_once, "no more are left"};
  if (at_once == most) return {at_once, "asked for"};
  return {at_once, threads == 1 ? "one thread computes" : fmt::format("one for each of {} threads", threads)};
}

void side_by_side(Index count, Index at_once, const std::function<void(Index)>& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  const auto all_of = [&](Index first, Index last, Index lanes) {
    std::atomic<Index> next{first};
    parallel_for(lanes, 1, [&](Index, Index, Worker&) {
      // Stages of several would draw over each other.
      const ProgressScope silent([](const Progress&) {});
      for (Index i = next++; i < last && !failed; i = next++) {
        // An exception that left the loop would end the loops inside the others without their notice.
        try {
          work(i);
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!failed.exchange(true)) failure = std::current_exception();
        }
      }
    });
  };
  at_once = std::max<Index>(1, at_once);
  for (Index first = 0; first < count && !failed;) {
    const Index left = count - first, now = left < at_once ? left : left - left % at_once;
    all_of(first, first + now, std::min(at_once, now));
    first += now;
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace sonde::ptycho
