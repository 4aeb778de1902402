// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sonde/instruments/stem/read/frame_block.h"

namespace sonde::stem {

/// Frames of one size that continue from file to file. One file is open at a time: an acquisition may have a thousand.
class FrameFiles {
 public:
  struct Part {
    std::string path;
    FrameLayout layout;
    Index frames = 0;
  };

  /// Files in order; `frames` of each is what is used of it. There is at least one frame.
  explicit FrameFiles(std::vector<Part> parts);

  [[nodiscard]] Index frames() const { return firsts_.back(); }
  /// As Source asks for them; the largest of all files.
  [[nodiscard]] std::size_t stored_bytes() const { return stored_bytes_; }
  void read(Index first, Index last, RawBatch& batch);

 private:
  FrameBlock& open(std::size_t part);

  std::vector<Part> parts_;
  std::vector<Index> firsts_;  ///< frame that each part begins with, and the total
  std::size_t stored_bytes_ = 0;
  std::optional<FrameBlock> block_;
  std::size_t open_part_ = 0;
  RawBatch scratch_;  ///< for batches that reach over the end of a file
};

}  // namespace sonde::stem
