// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sonde {

/// What work will hold, by what it is for, before it begins: a pure function of sizes, which dry runs show and budgets
/// are asked for. Not all of it is held at the same time: who makes the plan says what is the most.
struct MemoryPlan {
  struct Line {
    std::string what;
    std::size_t bytes = 0;
    std::string how;  ///< the product that gives the bytes, or what they are for
  };
  std::vector<Line> lines{};
  std::size_t loading_bytes = 0, lasting_bytes = 0;  ///< held while inputs are read; while the work goes on
  std::size_t peak_bytes = 0;                        ///< the most at one time
  std::size_t shared_bytes = 0;       ///< of the peak: what several such works at the same time share, their input
  std::size_t disk_bytes = 0;         ///< in the scratch folder; no part of the peak
  std::size_t head_room_percent = 0;  ///< of the peak: what a budget must have beside it

  /// Adds a line and returns its bytes.
  std::size_t add(std::string what, std::size_t bytes, std::string how);
  /// These bytes with the head-room.
  [[nodiscard]] std::size_t with_head_room(std::size_t bytes) const {
    return bytes + bytes / 100 * head_room_percent + bytes % 100 * head_room_percent / 100;
  }
  [[nodiscard]] std::size_t needed_bytes() const { return with_head_room(peak_bytes); }
  /// The peak of several such works at the same time.
  [[nodiscard]] std::size_t peak_bytes_of(std::size_t at_once) const {
    return shared_bytes + at_once * (peak_bytes - shared_bytes);
  }
  /// A table for people, one line each, ending in the peak.
  [[nodiscard]] std::string text() const;
};

}  // namespace sonde
