// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/array/shape.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/io/hdf5.h"

// Where the chunks of a chunked HDF5 data set lie in its file, so that they can be fetched with pread and decoded by
// our own codecs. The library answers this question with one walk of its tree per chunk; here the tree of version 1
// (what detectors and h5py's default write) is read once, O(chunks). Layouts of version 4 (libver='latest') are left
// to the library.

namespace sonde {

/// One stored chunk.
struct ChunkEntry {
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
  std::uint64_t offset = nowhere;  ///< byte in the file; nowhere: never written, or known to the library alone
  std::uint32_t stored_bytes = 0;  ///< 0: never written (its elements have the fill value)
  std::uint32_t filter_mask = 0;   ///< bit k set: filter k of the pipeline was skipped

  [[nodiscard]] bool absent() const { return stored_bytes == 0; }
  friend bool operator==(const ChunkEntry&, const ChunkEntry&) = default;
};

/// All chunks of a data set in C order over the grid of chunks.
struct ChunkIndex {
  Shape chunk;  ///< elements of one chunk
  Shape grid;   ///< chunks along each dimension, the last ones perhaps incomplete
  std::vector<ChunkEntry> entries;
  bool has_offsets = true;  ///< false: bytes come from Hdf5Dataset::read_chunk, filter masks too
  std::string because;      ///< which way the index was made, and why

  /// Position of the first element of chunk `number`.
  [[nodiscard]] Shape first_element(Index number) const;
  /// The chunks whose bytes do not lie inside a file of this size.
  [[nodiscard]] std::vector<Index> outside(std::uint64_t file_bytes) const;
};

/// All chunks of such a data set, none of them written yet. Throws Error(not_supported) above 2^28 chunks.
[[nodiscard]] ChunkIndex empty_chunk_index(const Shape& shape, const Shape& chunk);

/// Reads exactly bytes.size() bytes at `offset` of a file; false when they are not all there.
using ReadAt = std::function<bool(std::uint64_t offset, std::span<std::byte> bytes)>;

/// What the walk has to know of a data set.
struct ChunkedLayout {
  Shape shape, chunk;
  std::size_t element_bytes = 0;
  std::uint64_t header_address = 0;  ///< of the object header, relative to the file's base address
};

/// Walks the version-1 tree of a data set. Nothing when the file uses another kind of index (a newer layout, addresses
/// that are not 8 bytes). Throws Error(bad_file) when the structure contradicts itself; never reads outside [0,
/// file_bytes), never visits a node twice without noticing, and needs memory only for the chunks of the layout.
/// Source: HDF5 File Format Specification 3.0, sections II.A, III.A.1, IV.A.
[[nodiscard]] std::optional<ChunkIndex> walk_chunk_tree(const ReadAt& read_at, std::uint64_t file_bytes,
                                                        const ChunkedLayout& layout);

/// The index by the library alone: stored sizes of all chunks, no offsets. Costs about 0.3 us per chunk.
[[nodiscard]] ChunkIndex ask_chunk_sizes(const Hdf5Dataset& dataset);

/// The index of a chunked data set by the fastest way that the file allows. Throws Error(bad_input) when it is not
/// chunked, Error(bad_file) naming file and data set when its tree is broken.
[[nodiscard]] ChunkIndex read_chunk_index(const Hdf5Dataset& dataset);

}  // namespace sonde
