// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sonde/engine/array/array.h"

namespace sonde {
class ScratchFile;
}

namespace sonde::stem {

/// A list of numbers that grows in a file without a name, so that it may be longer than memory: the system keeps of it
/// what it has room for. Throws Error(io) when the disk is full.
class EventStore {
 public:
  EventStore();
  ~EventStore();
  void add(std::uint32_t event) {
    waiting_.push_back(event);
    if (waiting_.size() == block) write();
  }
  [[nodiscard]] std::uint64_t count() const { return written_ + waiting_.size(); }
  /// All of them as u32 (count), which keeps the file. Nothing may be added after it.
  [[nodiscard]] Array finish();

 private:
  static constexpr std::size_t block = std::size_t{1} << 18;
  void write();

  std::shared_ptr<ScratchFile> file_;  // made at the first need
  std::vector<std::uint32_t> waiting_;
  std::uint64_t written_ = 0;
};

}  // namespace sonde::stem
