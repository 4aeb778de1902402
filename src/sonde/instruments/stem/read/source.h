// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/engine/io/codec/bitshuffle.h"
#include "sonde/engine/io/hdf5/filters.h"
#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {

/// How to read a file when the file itself does not say it; one struct for all formats. Empty fields mean "ask the
/// file".
struct ReadOptions {
  std::optional<Index> scan_rows,
      scan_cols;                ///< --scan-shape Ry,Rx; one of them may be left to the frame count ("auto")
  bool scan_shape_auto = true;  ///< false when both are given
  bool flip_rows = false, flip_cols = false;  ///< --scan-flip
  bool transpose_scan = false;
  bool allow_incomplete = false, drop_extra = false;
  bool ignore_mask = false;
  std::optional<std::uint64_t> sentinel;  ///< --sentinel VALUE, for formats that declare none
  std::string dataset;                    ///< object path inside HDF5 and Zarr
  // raw files only
  std::vector<Index> raw_shape;  ///< --shape Ry,Rx,Qy,Qx
  std::string raw_dtype;         ///< u1 u2 u4 i2 f4 f8
  bool raw_big_endian = false;
  /// What the readers' own lists (where chunks are) may take.
  std::size_t memory_bytes = std::numeric_limits<std::size_t>::max();
  std::size_t raw_offset = 0, raw_gap = 0;  ///< bytes before the first frame; bytes after each frame
  std::string preset;                       ///< "" or "empad"
};

/// Consecutive stored frames as they lie in the file. Made once by the pipeline and reused, so that reading allocates
/// only when a batch is larger than any before.
struct RawBatch {
  struct Piece {
    std::size_t offset = 0;         ///< into `bytes`
    std::size_t size = 0;           ///< bytes of this frame; 0: the frame is absent (fill value)
    std::uint32_t filter_mask = 0;  ///< HDF5: bit 0 set means that the filter was skipped
  };
  Index first = 0;            ///< stored frame of pieces[0]
  std::vector<Piece> pieces;  ///< one per frame
  std::vector<std::byte> bytes;

  [[nodiscard]] const Piece& piece(Index frame) const { return pieces[static_cast<std::size_t>(frame - first)]; }
  [[nodiscard]] std::span<const std::byte> frame_bytes(Index frame) const {
    return std::span(bytes).subspan(piece(frame).offset, piece(frame).size);
  }
};

/// Scratch of one worker while decoding.
struct DecodeScratch {
  BitshuffleScratch bitshuffle;
  hdf5::FilterScratch filters;
  std::vector<std::byte> adapted;  ///< elements before a change of type or orientation
};

/// An opened and validated scan: the reader thread fetches bytes, any worker decodes frames from them.
/// The one run-time interface of the room; a new format is one class and one line in open.cpp.
class Source {
 public:
  virtual ~Source() = default;

  [[nodiscard]] const Acquisition& acquisition() const { return acquisition_; }

  /// Bytes that stored frame `frame` takes in a RawBatch; known before reading, so that batches are sized exactly.
  [[nodiscard]] virtual std::size_t stored_bytes(Index frame) const = 0;

  /// Fills `batch` with stored frames [first, last). One thread at a time. Throws Error(bad_file) or Error(io) naming
  /// file and offset.
  virtual void read(Index first, Index last, RawBatch& batch) = 0;

  /// Writes the rows x cols elements of one frame, native byte order, row after row, into `elements` (exactly
  /// rows * cols * size_bytes(stored) bytes). Thread-safe. Throws Error(bad_file) naming file, frame, block and offset.
  virtual void decode(const RawBatch& batch, Index frame, DecodeScratch& scratch,
                      std::span<std::byte> elements) const = 0;

  /// False for a frame of the scan that was never taken: it counts as absent, and nothing is stored of it.
  [[nodiscard]] virtual bool has_frame(Index frame) const {
    static_cast<void>(frame);
    return true;
  }

  /// Whether frames are stored as lists of electrons: events() has them, and decode() counts them by pixel.
  [[nodiscard]] virtual bool has_events() const { return false; }
  /// The pixels, row * cols + col, of one frame of a batch, each as often as it counted, in any order. Thread-safe;
  /// valid as long as the batch. Throws Error(bad_file) naming file and frame when one is outside of the detector.
  [[nodiscard]] virtual std::span<const std::uint32_t> events(const RawBatch& batch, Index frame) const {
    static_cast<void>(batch);
    static_cast<void>(frame);
    return {};
  }

  /// Set when the bytes of every frame are one whole bitshuffle chunk of that frame: bit-plane imaging works on them.
  [[nodiscard]] virtual std::optional<BitshuffleFormat> packing() const { return std::nullopt; }

  /// Bytes that read() needs on so many workers besides the batch, for formats whose chunks hold more than a frame.
  [[nodiscard]] virtual std::size_t reading_bytes(int workers) const {
    static_cast<void>(workers);
    return 0;
  }
  /// Bytes of decoded chunks that such a format would keep between calls of read() so that it decodes none twice, and
  /// how much it may keep: nothing until set.
  [[nodiscard]] virtual std::size_t useful_cache_bytes() const { return 0; }
  virtual void set_cache_bytes(std::size_t bytes) { static_cast<void>(bytes); }

  /// Bytes of frames that the source itself keeps in memory (most keep none), and letting go of them.
  [[nodiscard]] virtual std::size_t held_bytes() const { return 0; }
  virtual void release() {}

 protected:
  Acquisition acquisition_;
};

/// Recognises the format by content, validates everything that can be validated without decoding, and reports all
/// problems of the file set together. Throws Error(bad_file), Error(not_supported) for formats that are recognised but
/// not read.
[[nodiscard]] std::unique_ptr<Source> open_source(const std::string& path, const ReadOptions& options);

}  // namespace sonde::stem
