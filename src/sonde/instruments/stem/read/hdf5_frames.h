// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/io/chunk_index.h"
#include "sonde/engine/io/chunked_frames.h"
#include "sonde/engine/io/codec/bitshuffle.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/hdf5/filters.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// An HDF5 data set seen as consecutive frames: its last two dimensions are the detector, the one or two before count
/// frames. Chooses the fastest way to the frames that the file allows, and knows every byte range before reading.
class Hdf5Frames {
 public:
  /// How frames come out of the file.
  enum class Way {
    chunks,     ///< one frame per chunk, packed or not: fetched as stored, decoded by the workers
    block,      ///< contiguous and plain: fetched as stored
    assembled,  ///< chunks of another shape: decoded on all cores and put together while reading (ChunkedFrames)
    boxes,      ///< anything else: virtual data sets, elements of other types
  };

  /// Throws Error(not_supported) for elements that are no plain numbers, for other numbers of dimensions and for
  /// filters that nothing here can undo, Error(bad_file) for a broken index and for more frames than the file can hold,
  /// Error(budget) when the list of chunks is larger than `memory_bytes`.
  explicit Hdf5Frames(Hdf5Dataset dataset, std::size_t memory_bytes = std::numeric_limits<std::size_t>::max());

  /// What the data set says of itself. Its file may be closed already.
  [[nodiscard]] const Hdf5DatasetInfo& info() const { return dataset_.info(); }
  [[nodiscard]] const std::string& file_path() const { return dataset_.file_path(); }
  [[nodiscard]] const std::string& path() const { return dataset_.path(); }
  [[nodiscard]] Index frames() const { return frames_; }
  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] Way way() const { return way_; }
  [[nodiscard]] std::size_t frame_bytes() const { return frame_bytes_; }
  /// Frames that were never written; they have the fill value.
  [[nodiscard]] Index absent_frames() const;
  /// Set when the bytes of every frame are one bitshuffle chunk.
  [[nodiscard]] std::optional<BitshuffleFormat> packing() const;

  /// Adds an Error(bad_file) with the first byte range that does not lie inside the file.
  void check_ranges(Problems& problems) const;

  /// Bytes that read() takes on so many workers besides the batch, and what a cache of decoded chunks is good for.
  [[nodiscard]] std::size_t reading_bytes(int workers) const;
  [[nodiscard]] std::size_t useful_cache_bytes() const { return chunked_ ? chunked_->useful_cache_bytes() : 0; }
  void set_cache_bytes(std::size_t bytes) const {
    if (chunked_) chunked_->set_cache_bytes(bytes);
  }

  /// Bytes that a frame takes in a batch.
  [[nodiscard]] std::size_t stored_bytes(Index frame) const;
  /// Fetches frames [first, last) to the places that `pieces` name in `bytes`, and sets their filter masks.
  void read(Index first, Index last, std::span<RawBatch::Piece> pieces, std::span<std::byte> bytes);
  /// Closes the file until the next read.
  void rest() { file_.reset(); }
  /// From the fetched bytes of one frame to its elements in native byte order. Thread-safe.
  void decode(Index frame, const RawBatch::Piece& piece, std::span<const std::byte> bytes, DecodeScratch& scratch,
              std::span<std::byte> elements) const;

 private:
  void choose_way();
  void check_declared(std::size_t memory_bytes) const;
  const File& file();
  void read_chunks(Index first, std::span<RawBatch::Piece> pieces, std::span<std::byte> bytes);
  void assemble(Index first, Index last, std::span<std::byte> bytes);
  [[nodiscard]] std::uint32_t mask_of(Index number, const ChunkEntry& entry) const;
  void read_boxes(Index first, Index last, std::span<std::byte> bytes) const;
  void unpack(std::span<const std::byte> bytes, std::uint32_t filter_mask, DecodeScratch& scratch,
              std::span<std::byte> elements) const;
  void fill(std::span<std::byte> elements) const;
  [[nodiscard]] std::string what() const { return dataset_.file_path() + ", " + dataset_.path(); }

  Hdf5Dataset dataset_;
  Index frames_ = 0, rows_ = 0, cols_ = 0;
  DType dtype_ = DType::u16;
  std::size_t frame_bytes_ = 0;
  Way way_ = Way::boxes;
  bool packed_ = false;  ///< chunks went through filter 32008 only
  BitshuffleFormat format_;
  std::optional<hdf5::Pipeline> pipeline_;  ///< the filters of chunks, when there are any
  ChunkIndex index_;
  std::optional<ChunkedFrames> chunked_;  ///< Way::assembled
  std::uint64_t file_bytes_ = 0;          ///< size of the file, for the ways that fetch bytes themselves
  std::unique_ptr<File> file_;            ///< open while its frames are being read
};

}  // namespace sonde::stem
