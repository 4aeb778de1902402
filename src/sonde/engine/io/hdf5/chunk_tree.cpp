// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>

#include "sonde/engine/io/hdf5/chunk_map.h"

namespace sonde::hdf5 {
namespace {

/// Levels fall by one from node to node, so that depth is bounded, and a node reached twice is noticed.
class ChunkTreeReader {
 public:
  ChunkTreeReader(ChunkMap& map, Widths widths) : map_(map), widths_(widths), key_bytes_(8 + 8 * (map.rank() + 1)) {}

  void read_node(std::uint64_t address, std::optional<unsigned> expected_level) {
    // Most nodes have at most 64 children (the default) and fit into one read of a page.
    const std::uint64_t room = map_.image().room(address);
    if (room == 0) map_.image().require(address, 1);
    if (!seen_.insert(address).second) damaged(fmt::format("the node at address {} appears twice", address));
    Bytes bytes = map_.image().read_once(address, std::min<std::uint64_t>(room, 4096));
    Cursor head(bytes, widths_);
    if (!head.take_if("TREE") || head.byte() != 1)
      damaged(fmt::format("there is no node of a chunk tree at address {}", address));
    const unsigned level = head.byte();
    const std::uint64_t entries = head.take<std::uint16_t>();
    head.skip(2 * std::uint64_t{widths_.address});  // siblings
    if (expected_level && level != *expected_level)
      damaged(fmt::format("the node at address {} is on level {}, expected {}", address, level, *expected_level));
    if (entries == 0 && expected_level) damaged(fmt::format("the node at address {} is empty", address));

    const std::uint64_t head_bytes = head.taken(), needed = head_bytes + entries * (key_bytes_ + widths_.address);
    if (needed > bytes.size()) bytes = map_.image().read_once(address, needed);
    Cursor cursor(ByteSpan(bytes).subspan(head_bytes), widths_);
    for (std::uint64_t i = 0; i < entries; ++i) {
      const ByteSpan key = cursor.take_bytes(key_bytes_);
      const std::uint64_t child = cursor.address();
      if (child == undefined_address)
        damaged(fmt::format("the node at address {} has a child without address", address));
      if (level > 0)
        read_node(child, level - 1);
      else
        place(key, child);
    }
  }

 private:
  void place(ByteSpan key, std::uint64_t address) {
    Cursor cursor(key);
    const auto stored = cursor.take<std::uint32_t>(), mask = cursor.take<std::uint32_t>();
    std::array<std::uint64_t, Shape::max_rank> scaled{};
    for (std::size_t i = 0; i < map_.rank(); ++i) {
      const std::uint64_t element = cursor.take<std::uint64_t>(), extent = map_.data().layout.chunk[i];
      if (element % extent != 0)
        damaged(
            fmt::format("a chunk begins at element {} of dimension {}, which has chunks of {}", element, i, extent));
      scaled[i] = element / extent;
    }
    map_.place(std::span(scaled).first(map_.rank()), address, stored, mask);
  }

  ChunkMap& map_;
  Widths widths_;
  std::uint64_t key_bytes_;
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace

void read_chunk_tree(ChunkMap& map, Widths widths) {
  ChunkTreeReader(map, widths).read_node(map.data().layout.address, std::nullopt);
}

}  // namespace sonde::hdf5
