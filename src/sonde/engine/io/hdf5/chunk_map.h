// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/io/chunk_index.h"
#include "sonde/engine/io/hdf5/layout.h"

namespace sonde::hdf5 {

/// Chunks of a data set as its index lists them. Indexes of a linear kind count chunks over the largest shape, perhaps
/// with the unlimited dimension first; trees name positions. Both become numbers in C order over the grid of the shape.
class ChunkMap {
 public:
  ChunkMap(const Description& data, const Image& image);

  [[nodiscard]] const Description& data() const { return data_; }
  [[nodiscard]] const Image& image() const { return image_; }
  [[nodiscard]] std::size_t rank() const { return grid_.size(); }
  [[nodiscard]] std::uint64_t chunk_bytes() const { return chunk_bytes_; }
  /// Chunks along a dimension now.
  [[nodiscard]] std::uint64_t grid(std::size_t dimension) const { return grid_[dimension]; }

  /// The chunk at these numbers along the dimensions; a Fault outside of the grid.
  void place(std::span<const std::uint64_t> scaled, std::uint64_t address, std::uint64_t stored_bytes,
             std::uint32_t filter_mask);
  /// The chunk `number` of a linear index; nothing happens for those that the shape does not reach.
  void place_linear(std::uint64_t number, std::uint64_t address, std::uint64_t stored_bytes, std::uint32_t filter_mask);
  /// How many chunks a linear index counts at most.
  [[nodiscard]] std::uint64_t linear_count() const;

  [[nodiscard]] std::vector<PlacedChunk> take() && { return std::move(chunks_); }

 private:
  const Description& data_;
  const Image& image_;
  std::uint64_t chunk_bytes_ = 1;
  std::vector<std::uint64_t> grid_, largest_;
  std::vector<std::size_t> order_;  ///< of the dimensions in a linear index, slowest first
  std::vector<PlacedChunk> chunks_;
};

/// The chunks of a data set, in the order of its index.
[[nodiscard]] std::vector<PlacedChunk> read_chunk_map(const OpenFile& file, const Description& data);

// One kind of index each, from the address in the layout, which is not undefined.
void read_chunk_tree(ChunkMap& map, Widths widths);        ///< version 1 (III.A.1)
void read_chunk_tree_2(ChunkMap& map, Widths widths);      ///< version 2 (III.A.2)
void read_fixed_array(ChunkMap& map, Widths widths);       ///< VII.B
void read_extensible_array(ChunkMap& map, Widths widths);  ///< VII.C

}  // namespace sonde::hdf5
