// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sonde/instruments/stem/timepix/packet_reader.h"
#include "sonde/instruments/stem/timepix/packets.h"

namespace sonde::stem {

/// Puts hits and edges, which a file has nearly in order of time, into that order: they wait until those are certain to
/// have come that may be before them. What is before something that was released already is late: counted and left out.
///
/// At most `most_waiting` hits wait, whatever their times are: of more, the first half is released early; of as many
/// edges, all. Memory: 16 bytes for each, twice.
class TimeOrder {
 public:
  static constexpr std::size_t most_hits = std::size_t{1} << 22;

  explicit TimeOrder(std::size_t most_waiting = most_hits);

  /// Takes what came of a piece of the file, in its order.
  void add(const PacketBlock& block);
  /// Releases hits before `hits_until` and edges before `edges_until`, or what is too much.
  void release(Ticks hits_until, Ticks edges_until);

  /// What the last release() gave, in ascending order; of one time, in the order of the file.
  [[nodiscard]] const std::vector<Hit>& hits() const { return hits_; }
  [[nodiscard]] const std::vector<TdcEdge>& edges() const { return edges_; }
  /// Hits that were not released.
  [[nodiscard]] std::uint64_t waiting() const { return waiting_hits_.size(); }

  [[nodiscard]] std::uint64_t late_hits() const { return late_hits_; }
  [[nodiscard]] std::uint64_t late_edges() const { return late_edges_; }

 private:
  std::vector<Hit> waiting_hits_, hits_, scratch_;
  std::vector<TdcEdge> waiting_edges_, edges_;
  std::size_t most_waiting_;
  Ticks released_hits_, released_edges_;
  std::uint64_t late_hits_ = 0, late_edges_ = 0;
};

/// Sorts by time; of one time the order is kept. Costs one pass to see that nothing is to be done, else one for each 11
/// bits of the time between the first and the last. `scratch` is of any size.
void sort_by_time(std::vector<Hit>& hits, std::vector<Hit>& scratch);

}  // namespace sonde::stem
