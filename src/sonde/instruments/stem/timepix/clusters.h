// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/timepix/packets.h"

namespace sonde::stem {

/// The hits that one electron made.
struct Electron {
  Ticks time = 0;           ///< of its first hit
  std::uint32_t pixel = 0;  ///< nearest to the centroid of its hits, weighted by time over threshold
  std::uint32_t hits = 1;
};

/// Joins hits into electrons. Two hits belong to one electron when their pixels are the same or touch, at an edge or a
/// corner, and their times are at most `window` apart; and so do those that others join in this way (connected
/// components). Their order within the file, and among hits of one time, does not matter. An electron that would last
/// longer than 16 windows is cut there, so that pixels that never rest do not join everything.
///
/// Centroid: sum(w x) / sum(w) with w the time over threshold, at least 1, exact in whole numbers; a half goes up.
/// Cost: nine look-ups a hit. Memory: 16 bytes a pixel, and 48 for each electron of the last 16 windows.
class Clusterer {
 public:
  static constexpr Ticks longest_windows = 16;

  /// `window` of 0: every hit is an electron.
  Clusterer(Index rows, Index cols, Ticks window);
  [[nodiscard]] static std::size_t bytes(Index rows, Index cols);

  /// Hits in ascending order of time, none of them before those of an earlier call.
  void take(std::span<const Hit> hits);
  /// Electrons in ascending order of time: all that no hit from `now` on can belong to, but those after one that may
  /// still grow. Appended.
  void give(Ticks now, std::vector<Electron>& electrons);

  /// Hits that were kept from an electron that would have lasted longer.
  [[nodiscard]] std::uint64_t cut() const { return cut_; }

 private:
  struct Node {
    std::uint32_t parent = 0, hits = 0;
    Ticks first = 0, last = 0;
    std::uint64_t weight = 0, by_row = 0, by_col = 0;
  };
  // The latest hit of a pixel, and the node it was counted in.
  struct Latest {
    Ticks time;
    std::uint32_t node;
  };

  Node& node(std::uint32_t id) { return nodes_[id - first_id_]; }  // ids count modulo 2^32
  std::uint32_t root_of(std::uint32_t id);
  std::uint32_t joined(std::uint32_t a, std::uint32_t b);

  Index cols_, stride_;
  Ticks window_;
  std::vector<Latest> latest_;  // with a border, so that every pixel has eight neighbours
  std::vector<Node> nodes_;
  std::uint32_t first_id_ = 0;
  std::uint64_t cut_ = 0;
};

}  // namespace sonde::stem
