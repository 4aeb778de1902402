// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sonde/engine/io/file.h"
#include "sonde/instruments/stem/read/scan_shape.h"
#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// Where frames lie in a file: frame n begins at offset + n * (frame_bytes + gap_bytes).
struct FrameLayout {
  std::uint64_t offset = 0;
  std::size_t frame_bytes = 0, gap_bytes = 0;  ///< the last frame needs no gap behind it
};

/// Frames of one size at equal distances in one file: what NPY, raw, MIB and BLO have in common.
class FrameBlock {
 public:
  /// Throws Error(bad_file) when the file does not hold one whole frame.
  FrameBlock(File file, const FrameLayout& layout);

  [[nodiscard]] const File& file() const { return file_; }
  /// Whole frames in the file.
  [[nodiscard]] Index frames() const { return frames_; }
  /// Bytes behind the last whole frame (and its gap).
  [[nodiscard]] std::uint64_t rest_bytes() const { return rest_bytes_; }
  /// Throws Error(bad_file) when the file ends inside a frame, unless the user accepts incomplete scans or drops what
  /// is too much: then it becomes a note.
  void check_rest(const ReadOptions& options, Acquisition& acquisition) const;

  /// As Source asks for them. Frames are read in one run when the gaps are small.
  [[nodiscard]] std::size_t stored_bytes() const { return merged() ? stride() : layout_.frame_bytes; }
  void read(Index first, Index last, RawBatch& batch) const;
  /// One frame, without its gap, into exactly its bytes.
  void read_frame(Index frame, std::span<std::byte> bytes) const;

 private:
  [[nodiscard]] std::size_t stride() const { return layout_.frame_bytes + layout_.gap_bytes; }
  [[nodiscard]] bool merged() const;

  File file_;
  FrameLayout layout_;
  Index frames_ = 0;
  std::uint64_t rest_bytes_ = 0;
};

/// Fills scan, scan_because, allow_incomplete and sentinel from what is known and what the user wants. Throws like
/// choose_scan_shape, naming the file.
void apply_scan(Acquisition& acquisition, const ScanFacts& facts, const ReadOptions& options);

/// A source of frames that need no decoding beyond their byte order.
[[nodiscard]] std::unique_ptr<Source> plain_source(Acquisition acquisition, FrameBlock block, bool big_endian);

}  // namespace sonde::stem
