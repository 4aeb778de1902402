// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/ptycho/scan/placement.h"

namespace sonde::ptycho {

/// The batches of one iteration in the order in which they are worked on; every position of the iteration is in exactly
/// one. A pure function of what made it: the same for any number of threads and on every machine.
struct Batches {
  std::vector<Index> members;       ///< positions, batch after batch
  std::vector<Index> bounds = {0};  ///< batch b is members [bounds[b], bounds[b + 1])

  [[nodiscard]] Index count() const { return static_cast<Index>(bounds.size()) - 1; }
  [[nodiscard]] std::span<const Index> operator[](Index batch) const {
    const Index first = bounds[static_cast<std::size_t>(batch)], last = bounds[static_cast<std::size_t>(batch + 1)];
    return std::span<const Index>(members).subspan(static_cast<std::size_t>(first),
                                                   static_cast<std::size_t>(last - first));
  }
};

/// Which iteration of which run an order is for: all that it depends on, after any restart. Iterations below 2^32.
struct IterationKey {
  std::uint64_t seed = 0;
  std::uint64_t iteration = 0;
};

/// One position per batch in random order. `active` are the positions that take part, in all three functions.
[[nodiscard]] Batches sequential_batches(std::span<const Index> active, const IterationKey& key);

/// Batches of positions whose windows, cropped to `support` (a box inside the window, see probe_support.h), do not
/// overlap: group g of positions() holds all of colour g. Made once and again when positions have moved.
class DisjointGroups {
 public:
  /// Greedy colouring in the order of `active`: a raster of step s with a support of D pixels needs ceil(D / s)^2
  /// colours. Costs one look at every position within the support of each position, found through cells of its size.
  DisjointGroups(std::span<const Index> active, std::span<const Placement> placements, const Box& support);

  [[nodiscard]] const Batches& groups() const { return groups_; }
  /// The groups in random order, with their members in random order.
  [[nodiscard]] Batches batches(const IterationKey& key) const;

 private:
  Batches groups_;
};

/// How the members of an overlapping batch lie: anywhere, close together, or evenly over the scan.
enum class Spread { random, compact, uniform };

/// ceil(n / size) batches whose sizes differ by at most one. Random: drawn anew in each iteration. Compact: pieces of
/// the Hilbert curve, always the same, in random order. Uniform: each batch takes one position, drawn anew, from each
/// of the pieces that the curve falls into. Throws Error(bad_input) for a size below 1.
[[nodiscard]] Batches overlapping_batches(std::span<const Index> active, std::span<const Placement> placements,
                                          Index size, Spread spread, const IterationKey& key);

}  // namespace sonde::ptycho
