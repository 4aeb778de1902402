// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sonde/engine/array/shape.h"
#include "sonde/engine/base/index.h"

// Where the chunks of a chunked HDF5 data set are in its file, so that they can be fetched with pread and decoded by
// our own codecs. All kinds of index are read, each once, O(stored chunks).

namespace sonde {

class Hdf5Dataset;

/// One stored chunk.
struct ChunkEntry {
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
  std::uint64_t offset = nowhere;  ///< byte in the file; nowhere: never written
  std::uint32_t stored_bytes = 0;  ///< 0: never written (its elements have the fill value)
  std::uint32_t filter_mask = 0;   ///< bit k set: filter k of the pipeline was skipped

  [[nodiscard]] bool absent() const { return stored_bytes == 0; }
  friend bool operator==(const ChunkEntry&, const ChunkEntry&) = default;
};

/// A stored chunk and its number in C order over the grid of chunks.
struct PlacedChunk {
  Index number = 0;
  ChunkEntry entry;
};

/// All chunks of a data set in C order over the grid of chunks. Its memory follows the chunks that are stored, whatever
/// shape is declared.
class ChunkIndex {
 public:
  ChunkIndex() = default;
  /// Throws Error(bad_file) when a chunk appears twice.
  ChunkIndex(Shape shape, Shape chunk, std::vector<PlacedChunk> stored);

  [[nodiscard]] const Shape& chunk() const { return chunk_; }  ///< elements of one chunk
  [[nodiscard]] const Shape& grid() const { return grid_; }  ///< chunks along each dimension, the last perhaps partial
  [[nodiscard]] Index count() const { return grid_.count(); }  ///< stored or not
  [[nodiscard]] Index stored() const { return stored_; }

  /// The entry of chunk `number`; an absent one when it was never written.
  [[nodiscard]] ChunkEntry operator[](Index number) const;
  /// Position of the first element of chunk `number`.
  [[nodiscard]] Shape first_element(Index number) const;
  /// Calls visit(number, entry) for every stored chunk in order.
  template <class Visit>
  void for_each_stored(Visit&& visit) const {
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (!all_[i].absent()) visit(static_cast<Index>(i), all_[i]);
    for (const PlacedChunk& each : placed_) visit(each.number, each.entry);
  }
  /// The chunks whose bytes are not inside a file of this size.
  [[nodiscard]] std::vector<Index> outside(std::uint64_t file_bytes) const;

 private:
  Shape chunk_, grid_;
  Index stored_ = 0;
  std::vector<ChunkEntry> all_;      // one for each number, when most are stored
  std::vector<PlacedChunk> placed_;  // otherwise: the stored ones in order
};

/// The index of a chunked data set. Throws Error(bad_input) when it is not chunked, Error(bad_file) naming the file
/// when its index is damaged.
[[nodiscard]] ChunkIndex read_chunk_index(const Hdf5Dataset& dataset);

}  // namespace sonde
