// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <future>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "sonde/engine/base/index.h"

namespace sonde {

/// Recently used plans: what an operation has prepared is kept until newer plans need its room, so that the next one of
/// an equal key is there at once. `Key` has operator== and holds all that a plan depends on (shapes, element types,
/// device, options), so that a kept plan is as good as a new one. `Plan` says its size, bytes(). Thread-safe. A search
/// compares keys one after another: for tens of plans, not for thousands.
template <class Key, class Plan>
class PlanCache {
 public:
  using Shared = std::shared_ptr<const Plan>;

  /// Together the kept plans hold `limit_bytes` at most; a larger one is handed out and not kept.
  explicit PlanCache(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// The plan of an equal key, or make(), which returns a Shared that is not null. Whoever asks for a key that is being
  /// made waits for it; other keys do not wait. What make() throws reaches all who wait, and the next call tries again.
  /// make() must not ask for its own key.
  template <class Make>
  [[nodiscard]] Shared get(const Key& key, Make&& make) {
    std::unique_lock lock(mutex_);
    for (auto kept = kept_.begin(); kept != kept_.end(); ++kept)
      if (kept->key == key) {
        kept_.splice(kept_.begin(), kept_, kept);
        const std::shared_future<Shared> plan = kept->plan;
        lock.unlock();
        return plan.get();
      }
    std::promise<Shared> promise;
    kept_.push_front({key, promise.get_future().share(), 0, ++made_});
    const Index number = made_;
    lock.unlock();
    try {
      Shared plan = make();
      promise.set_value(plan);
      keep(number, plan->bytes());
      return plan;
    } catch (...) {
      forget(number);
      promise.set_exception(std::current_exception());
      throw;
    }
  }

  /// How many plans were made, those whose make() threw included.
  [[nodiscard]] Index prepared() const {
    const std::lock_guard lock(mutex_);
    return made_;
  }
  /// Of the kept plans.
  [[nodiscard]] std::size_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }
  /// Keeps none of the plans that are made by now; those who have one keep it.
  void clear() {
    std::list<Kept> gone;
    const std::lock_guard lock(mutex_);
    for (auto kept = kept_.begin(); kept != kept_.end();) {
      const auto each = kept++;
      if (each->bytes > 0) drop(each, gone);
    }
  }

 private:
  struct Kept {
    Key key;
    std::shared_future<Shared> plan;
    std::size_t bytes;  // 0 while it is being made
    Index number;
  };
  using Place = typename std::list<Kept>::iterator;

  /// Of a plan that is being made: nothing drops those.
  Place place_of(Index number) {
    return std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.number == number; });
  }

  /// Plans end outside of the lock: `gone` is destroyed later.
  void drop(Place place, std::list<Kept>& gone) {
    bytes_ -= place->bytes;
    gone.splice(gone.begin(), kept_, place);
  }

  void keep(Index number, std::size_t bytes) {
    std::list<Kept> gone;
    const std::lock_guard lock(mutex_);
    const Place made = place_of(number);
    made->bytes = std::max<std::size_t>(bytes, 1);
    bytes_ += made->bytes;
    if (made->bytes > limit_bytes_) return drop(made, gone);
    for (auto newer = kept_.end(); bytes_ > limit_bytes_;) {
      const Place oldest = std::prev(newer);
      if (oldest == made || oldest->bytes == 0)
        newer = oldest;
      else
        drop(oldest, gone);
    }
  }

  void forget(Index number) {
    std::list<Kept> gone;
    const std::lock_guard lock(mutex_);
    drop(place_of(number), gone);
  }

  mutable std::mutex mutex_;
  std::list<Kept> kept_;  // the last used first
  std::size_t limit_bytes_, bytes_ = 0;
  Index made_ = 0;
};

}  // namespace sonde
