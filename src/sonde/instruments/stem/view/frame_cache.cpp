// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/frame_cache.h"

namespace sonde::stem {

std::optional<Shown> FrameCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto place = places_.find(key);
  if (place == places_.end()) return std::nullopt;
  recent_.splice(recent_.begin(), recent_, place->second);
  Shown shown = recent_.front().shown;
  shown.frame.cached = true;
  shown.frame.compute_us = 0;
  return shown;
}

bool FrameCache::holds(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  return places_.contains(key);
}

void FrameCache::put(const std::string& key, const Shown& shown) {
  const std::size_t needed_bytes = shown.bytes();
  if (needed_bytes > limit_bytes_) return;
  const std::lock_guard lock(mutex_);
  if (places_.contains(key)) return;  // two clients made it at once: the numbers are the same
  while (bytes_ + needed_bytes > limit_bytes_) {
    bytes_ -= recent_.back().shown.bytes();
    places_.erase(recent_.back().key);
    recent_.pop_back();
  }
  recent_.push_front({key, shown});
  places_.emplace(key, recent_.begin());
  bytes_ += needed_bytes;
}

void FrameCache::erase(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto place = places_.find(key);
  if (place == places_.end()) return;
  bytes_ -= place->second->shown.bytes();
  recent_.erase(place->second);
  places_.erase(place);
}

std::size_t FrameCache::drop(const std::string& prefix) {
  const std::lock_guard lock(mutex_);
  std::size_t dropped = 0;
  for (auto each = recent_.begin(); each != recent_.end();) {
    if (!each->key.starts_with(prefix)) {
      ++each;
      continue;
    }
    dropped += each->shown.bytes();
    places_.erase(each->key);
    each = recent_.erase(each);
  }
  bytes_ -= dropped;
  return dropped;
}

std::size_t FrameCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace sonde::stem
