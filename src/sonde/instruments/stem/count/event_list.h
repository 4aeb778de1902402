// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"

namespace sonde::stem {

/// The electrons of a scan, one list of pixels after another (compressed sparse rows): those of position p = scan row *
/// scan_cols + scan column are the entries [offsets[p], offsets[p + 1]). A position may have had several frames, or
/// several electrons in one pixel: the pixel is then in its list as often. Counting writes the pixels of a frame in
/// ascending order; readers may not rely on any.
struct EventList {
  Index scan_rows = 0, scan_cols = 0;
  Index rows = 0, cols = 0;              ///< of a frame; rows * cols <= 2^32
  std::vector<std::uint64_t> offsets{};  ///< (positions + 1)
  std::vector<std::uint32_t> index{};    ///< (event) row * cols + col
  std::vector<std::uint32_t> frames{};   ///< (position) how many frames its events come from; 0 where there is none
  std::string parameters = "{}";         ///< how events were found, JSON

  [[nodiscard]] Index positions() const { return scan_rows * scan_cols; }
  [[nodiscard]] Index events() const { return static_cast<Index>(index.size()); }
  [[nodiscard]] std::span<const std::uint32_t> of(Index position) const {
    const auto p = static_cast<std::size_t>(position);
    return std::span(index).subspan(offsets[p], offsets[p + 1] - offsets[p]);
  }
  [[nodiscard]] std::size_t bytes() const;
};

/// Events of positions in the order in which they were visited.
struct EventParts {
  std::vector<Index> positions{};     ///< (part)
  std::vector<std::uint64_t> ends{};  ///< (part) where its events end in `index`
  std::vector<std::uint32_t> index{};

  /// Ends the part of a position, whose events were appended to `index`.
  void end(Index position);
  void append(const EventParts& more);
};

/// Fills offsets, index and frames of a list whose shapes are set: each part is one frame. Parts of one position follow
/// each other in the order in which they are given; what is the same whatever the order of the others.
void gather(const EventParts& parts, EventList& list);

/// Throws Error(bad_file) "FILE: damaged: FACT" where an event is outside of the frame, or belongs to a position
/// without frames.
void require_sound(const std::string& path, const EventList& list);

}  // namespace sonde::stem
