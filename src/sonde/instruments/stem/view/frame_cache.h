// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/panel/frame.h"

namespace sonde::stem {

/// A frame, and how it came about when it is an image of a detector.
struct Shown {
  panel::Frame frame;
  Index area = 0;
  std::string path, because;
  std::uint64_t mask_hash = 0;
  std::shared_ptr<const Array> exact{};  ///< what exports keep, where what is shown is made of it

  [[nodiscard]] std::size_t bytes() const { return frame.payload.size() + (exact ? exact->allocated_bytes() : 0); }
};

/// Frames that were made before, the least recently used of them let go when they exceed the limit. Keys name
/// everything that decides the numbers. Thread-safe; a hit copies a pointer to the payload.
class FrameCache {
 public:
  explicit FrameCache(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// Marked as cached.
  [[nodiscard]] std::optional<Shown> find(const std::string& key);
  [[nodiscard]] bool holds(const std::string& key) const;
  void put(const std::string& key, const Shown& shown);
  void erase(const std::string& key);
  /// Lets go of all whose key begins with `prefix`. Returns their bytes.
  std::size_t drop(const std::string& prefix);
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Held {
    std::string key;
    Shown shown;
  };

  std::size_t limit_bytes_;
  mutable std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::list<Held> recent_;  // most recently used first
  std::unordered_map<std::string, std::list<Held>::iterator> places_;
};

}  // namespace sonde::stem
