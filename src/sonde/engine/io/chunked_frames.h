// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sonde/engine/array/shape.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/device/parallel.h"

namespace sonde {

/// An array that is stored in chunks of any shape, seen as frames: its last two dimensions are a frame, those before
/// are counted in C order. The format decodes chunks; this decides which, on which core, and keeps those that hold more
/// frames than were asked for. read() is thread-safe as far as the format's decoder is.
class ChunkedFrames {
 public:
  /// Sizes `elements` to chunk_bytes() and writes the chunk with this number in C order over the grid of chunks; false,
  /// and nothing is touched, when the chunk was never written. Called on several workers at a time.
  using Decode = std::function<bool(Index chunk, Worker& worker, std::vector<std::byte>& elements)>;

  /// `shape` and `chunk` of equal rank, at least 2; `fill` is one element of chunks that were never written.
  ChunkedFrames(Shape shape, Shape chunk, std::vector<std::byte> fill);
  ChunkedFrames(ChunkedFrames&&) noexcept;
  ChunkedFrames& operator=(ChunkedFrames&&) noexcept;
  ~ChunkedFrames();

  [[nodiscard]] const Shape& grid() const { return grid_; }  ///< chunks per dimension
  [[nodiscard]] Index frames() const { return shape_.first(leading()).count(); }
  [[nodiscard]] std::size_t chunk_bytes() const;  ///< decoded

  /// Decoded bytes of the chunks that reading the frames in order is in the middle of at any time. A cache of this size
  /// makes it decode every chunk once; 0 when a chunk holds a single frame.
  [[nodiscard]] std::size_t useful_cache_bytes() const;
  /// From now on so much is kept for later reads, 0 being nothing, as until this is called. From useful_cache_bytes()
  /// on it is decoded chunks that hold more frames than were asked for, the oldest dropped first. With less, chunks
  /// would be dropped just before they are needed again: reads in order then decode as many frames ahead as fit, so
  /// that a chunk is decoded once for each time that its frames exceed the limit.
  void set_cache_bytes(std::size_t bytes) const;

  /// Frames [first, last), dense. Takes chunk_bytes() on every worker besides what is kept.
  void read(Index first, Index last, const Decode& decode, std::span<std::byte> elements) const;

 private:
  struct Cache;
  struct Ahead;
  struct Wanted;
  void read_now(Index first, Index last, const Decode& decode, std::span<std::byte> elements) const;
  [[nodiscard]] int leading() const { return shape_.rank() - 2; }
  void copy_chunk(Index chunk, const Wanted& wanted, Worker& worker) const;
  void copy_lines(Index chunk, std::span<const std::pair<Index, Index>> frames, std::span<const std::byte> decoded,
                  const Wanted& wanted) const;

  Shape shape_, chunk_, grid_;
  std::vector<std::byte> fill_;
  std::unique_ptr<Cache> cache_;
  std::unique_ptr<Ahead> ahead_;
};

}  // namespace sonde
