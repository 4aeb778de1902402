// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/scan/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <unordered_map>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/math/random.h"
#include "sonde/instruments/ptycho/scan/order.h"

namespace sonde::ptycho {
namespace {

// Orders of one iteration that must not depend on each other; strata begin at the last.
constexpr std::uint32_t order_of_members = 0, order_of_batches = 1, order_of_stratum = 2;

std::vector<Index> numbers(Index count) {
  std::vector<Index> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

/// The members in a random order that depends only on the iteration and on `use`.
std::vector<Index> shuffled(std::span<const Index> members, const IterationKey& key, std::uint32_t use) {
  std::vector<Index> order =
      Random(key.seed, key.iteration << 32 | use).permutation(static_cast<Index>(members.size()));
  for (Index& place : order) place = members[static_cast<std::size_t>(place)];
  return order;
}

/// The batches of `from` in another order.
Batches reordered(const Batches& from, std::span<const Index> order) {
  Batches result;
  result.members.reserve(from.members.size());
  result.bounds.reserve(from.bounds.size());
  for (const Index batch : order) {
    const std::span<const Index> members = from[batch];
    result.members.insert(result.members.end(), members.begin(), members.end());
    result.bounds.push_back(static_cast<Index>(result.members.size()));
  }
  return result;
}

Batches in_random_order(const Batches& from, const IterationKey& key) {
  return reordered(from, shuffled(numbers(from.count()), key, order_of_batches));
}

/// `members` cut into pieces whose sizes differ by at most one.
Batches cut(std::vector<Index> members, Index batches) {
  Batches result;
  const auto count = static_cast<Index>(members.size());
  result.members = std::move(members);
  for (Index batch = 1; batch <= batches; ++batch) result.bounds.push_back(batch * count / batches);
  return result;
}

std::vector<Index> along_curve(std::span<const Index> active, std::span<const Placement> placements) {
  std::vector<Point> points;
  points.reserve(active.size());
  for (const Index position : active) {
    const Placement& at = placements[static_cast<std::size_t>(position)];
    points.push_back({static_cast<double>(at.row) + at.shift_row, static_cast<double>(at.col) + at.shift_col});
  }
  std::vector<Index> order = hilbert_order(points);
  for (Index& place : order) place = active[static_cast<std::size_t>(place)];
  return order;
}

/// Positions by cells of the support's size, so that conflicts are between neighbouring cells only.
class ConflictCells {
 public:
  explicit ConflictCells(const Box& support) : rows_(support.rows), cols_(support.cols) {}

  struct Entry {
    Index row, col, colour;
  };
  void add(const Placement& at, Index colour) { cells_[cell(at.row, at.col)].push_back({at.row, at.col, colour}); }
  /// Calls visit(colour) for every position whose cropped window overlaps that of `at`.
  template <class Visit>
  void for_conflicts(const Placement& at, Visit&& visit) const {
    for (const Index down : {-rows_, Index{0}, rows_})
      for (const Index across : {-cols_, Index{0}, cols_}) {
        const auto found = cells_.find(cell(at.row + down, at.col + across));
        if (found == cells_.end()) continue;
        for (const Entry& entry : found->second)
          if (std::abs(entry.row - at.row) < rows_ && std::abs(entry.col - at.col) < cols_) visit(entry.colour);
      }
  }

 private:
  /// Rounds down, also for windows that begin outside of the object.
  static Index floor_of(Index value, Index by) { return value >= 0 ? value / by : -((by - 1 - value) / by); }
  [[nodiscard]] std::uint64_t cell(Index row, Index col) const {
    return static_cast<std::uint64_t>(floor_of(row, rows_)) << 32 ^
           (static_cast<std::uint64_t>(floor_of(col, cols_)) & 0xffffffffu);
  }

  Index rows_, cols_;
  std::unordered_map<std::uint64_t, std::vector<Entry>> cells_;
};

}  // namespace

Batches sequential_batches(std::span<const Index> active, const IterationKey& key) {
  Batches result;
  result.members = shuffled(active, key, order_of_members);
  result.bounds = numbers(static_cast<Index>(active.size()) + 1);
  return result;
}

DisjointGroups::DisjointGroups(std::span<const Index> active, std::span<const Placement> placements,
                               const Box& support) {
  if (support.rows < 1 || support.cols < 1)
    throw Error(ErrorKind::bad_input, fmt::format("a probe support of {} x {} pixels", support.rows, support.cols));
  ConflictCells cells(support);
  std::vector<Index> colours, seen_by, sizes;
  colours.reserve(active.size());
  for (std::size_t i = 0; i < active.size(); ++i) {
    check_interrupt();
    const Placement& at = placements[static_cast<std::size_t>(active[i])];
    cells.for_conflicts(at, [&](Index colour) { seen_by[static_cast<std::size_t>(colour)] = static_cast<Index>(i); });
    std::size_t colour = 0;
    while (colour < seen_by.size() && seen_by[colour] == static_cast<Index>(i)) ++colour;
    if (colour == seen_by.size()) {
      seen_by.push_back(-1);
      sizes.push_back(0);
    }
    ++sizes[colour];
    colours.push_back(static_cast<Index>(colour));
    cells.add(at, static_cast<Index>(colour));
  }
  for (const Index size : sizes) groups_.bounds.push_back(groups_.bounds.back() + size);
  groups_.members.resize(active.size());
  std::vector<Index> next(groups_.bounds.begin(), groups_.bounds.end() - 1);
  for (std::size_t i = 0; i < active.size(); ++i)
    groups_.members[static_cast<std::size_t>(next[static_cast<std::size_t>(colours[i])]++)] = active[i];
}

Batches DisjointGroups::batches(const IterationKey& key) const {
  Batches result = groups_;
  result.members.clear();
  for (Index group = 0; group < groups_.count(); ++group) {
    const std::vector<Index> members =
        shuffled(groups_[group], key, order_of_stratum + static_cast<std::uint32_t>(group));
    result.members.insert(result.members.end(), members.begin(), members.end());
  }
  return in_random_order(result, key);
}

Batches overlapping_batches(std::span<const Index> active, std::span<const Placement> placements, Index size,
                            Spread spread, const IterationKey& key) {
  if (size < 1) throw Error(ErrorKind::bad_input, fmt::format("batches of {} positions", size));
  const auto count = static_cast<Index>(active.size());
  const Index batches = (count + size - 1) / size;
  if (batches == 0) return {};
  switch (spread) {
    case Spread::random:
      return cut(shuffled(active, key, order_of_members), batches);
    case Spread::compact:
      return in_random_order(cut(along_curve(active, placements), batches), key);
    case Spread::uniform:
      break;
  }
  // Dealt out like cards: of every `batches` neighbours on the curve, each batch gets one.
  const std::vector<Index> curve = along_curve(active, placements);
  std::vector<std::vector<Index>> hands(static_cast<std::size_t>(batches));
  std::uint32_t stratum = 0;
  for (Index first = 0; first < count; first += batches, ++stratum) {
    // The last stratum may be short; who gets a card then is drawn, too.
    const std::vector<Index> players = shuffled(numbers(batches), key, order_of_stratum + stratum);
    for (Index i = first; i < std::min(first + batches, count); ++i)
      hands[static_cast<std::size_t>(players[static_cast<std::size_t>(i - first)])].push_back(
          curve[static_cast<std::size_t>(i)]);
  }
  Batches result;
  for (const std::vector<Index>& hand : hands) {
    result.members.insert(result.members.end(), hand.begin(), hand.end());
    result.bounds.push_back(static_cast<Index>(result.members.size()));
  }
  return result;
}

}  // namespace sonde::ptycho
