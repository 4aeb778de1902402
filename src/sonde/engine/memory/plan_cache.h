// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "sonde/engine/base/index.h"

namespace sonde {

/// Plans that were used recently, within a byte limit. Thread-safe.
///
/// Key holds all that a plan depends on (device, shapes, element types, options) and nothing else, and compares with
/// ==. Plan has `static Plan prepare(const Key&)` and `std::size_t bytes() const`. Several threads that ask for one key
/// wait for one preparation; other keys are prepared meanwhile. A plan that leaves the cache lives on with those who
/// hold it. The search is linear: caches hold tens of plans, and a plan is fetched once per run, not once per call.
template <class Key, class Plan>
class PlanCache {
 public:
  explicit PlanCache(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// The plan of this key, prepared when it is not there; what Plan::prepare throws passes through to all who wait for
  /// it, and the next call tries again. Plans used least recently leave while the limit is passed, never the one asked
  /// for.
  [[nodiscard]] std::shared_ptr<const Plan> get(const Key& key) {
    std::promise<std::shared_ptr<const Plan>> promise;
    {
      std::unique_lock lock(mutex_);
      for (auto entry = entries_.begin(); entry != entries_.end(); ++entry)
        if (entry->key == key) {
          entries_.splice(entries_.begin(), entries_, entry);
          const Future waiting = entry->plan;
          lock.unlock();
          return waiting.get();
        }
      entries_.push_front({key, promise.get_future().share(), 0});
      ++prepared_;
    }
    try {
      auto plan = std::make_shared<const Plan>(Plan::prepare(key));
      promise.set_value(plan);
      settle(key, plan->bytes());
      return plan;
    } catch (...) {
      promise.set_exception(std::current_exception());
      const std::lock_guard lock(mutex_);
      entries_.remove_if([&](const Entry& entry) { return entry.key == key; });
      throw;
    }
  }

  /// How many plans were prepared since the beginning, failed attempts included: a second call of equal key adds none.
  [[nodiscard]] Index prepared() const {
    const std::lock_guard lock(mutex_);
    return prepared_;
  }
  [[nodiscard]] std::size_t bytes() const {
    const std::lock_guard lock(mutex_);
    return total_bytes();
  }

 private:
  using Future = std::shared_future<std::shared_ptr<const Plan>>;
  struct Entry {
    Key key;
    Future plan;
    std::size_t bytes;  // 0 while it is being prepared
  };

  [[nodiscard]] std::size_t total_bytes() const {
    std::size_t total = 0;
    for (const Entry& entry : entries_) total += entry.bytes;
    return total;
  }

  /// Notes the size of a plan that is ready, and lets others go.
  void settle(const Key& key, std::size_t bytes) {
    std::list<Entry> leaving;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    for (Entry& entry : entries_)
      if (entry.key == key) entry.bytes = bytes;
    for (auto entry = entries_.end(); total_bytes() > limit_bytes_ && entry != entries_.begin();) {
      const auto candidate = --entry;
      if (candidate->bytes == 0 || candidate->key == key) continue;
      ++entry;
      leaving.splice(leaving.begin(), entries_, candidate);
    }
  }

  mutable std::mutex mutex_;
  std::size_t limit_bytes_;
  Index prepared_ = 0;
  std::list<Entry> entries_;  // used most recently first
};

}  // namespace sonde
