// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/chunk_index.h"

#include <algorithm>
#include <array>

#include "sonde/engine/io/hdf5/fault.h"

namespace sonde {

ChunkIndex::ChunkIndex(Shape shape, Shape chunk, std::vector<PlacedChunk> stored)
    : chunk_(chunk), stored_(static_cast<Index>(stored.size())) {
  for (int i = 0; i < shape.rank(); ++i) grid_.append(shape[i] / chunk[i] + (shape[i] % chunk[i] != 0 ? 1 : 0));
  const auto before = [](const PlacedChunk& a, const PlacedChunk& b) { return a.number < b.number; };
  if (!std::is_sorted(stored.begin(), stored.end(), before)) std::sort(stored.begin(), stored.end(), before);
  const auto twice = std::adjacent_find(
      stored.begin(), stored.end(), [](const PlacedChunk& a, const PlacedChunk& b) { return a.number == b.number; });
  if (twice != stored.end()) hdf5::damaged(fmt::format("chunk {} appears twice", twice->number));
  // A file may declare any number of chunks; only those that it stores cost memory.
  constexpr Index few = 4096, most_per_stored = 4;
  if (count() / most_per_stored > stored_ + few) {
    placed_ = std::move(stored);
    return;
  }
  all_.resize(static_cast<std::size_t>(count()));
  for (const PlacedChunk& each : stored) all_[static_cast<std::size_t>(each.number)] = each.entry;
}

ChunkEntry ChunkIndex::operator[](Index number) const {
  if (!all_.empty()) return all_[static_cast<std::size_t>(number)];
  const auto found = std::lower_bound(placed_.begin(), placed_.end(), number,
                                      [](const PlacedChunk& each, Index wanted) { return each.number < wanted; });
  return found != placed_.end() && found->number == number ? found->entry : ChunkEntry{};
}

Shape ChunkIndex::first_element(Index number) const {
  std::array<Index, Shape::max_rank> position{};
  for (int i = grid_.rank() - 1; i >= 0; --i) {
    position[static_cast<std::size_t>(i)] = number % grid_[i] * chunk_[i];
    number /= grid_[i];
  }
  Shape first;
  for (int i = 0; i < grid_.rank(); ++i) first.append(position[static_cast<std::size_t>(i)]);
  return first;
}

std::vector<Index> ChunkIndex::outside(std::uint64_t file_bytes) const {
  std::vector<Index> numbers;
  for_each_stored([&](Index number, const ChunkEntry& entry) {
    if (entry.offset > file_bytes || entry.stored_bytes > file_bytes - entry.offset) numbers.push_back(number);
  });
  return numbers;
}

}  // namespace sonde
