// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/frame_files.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace sonde::stem {

FrameFiles::FrameFiles(std::vector<Part> parts) : parts_(std::move(parts)) {
  firsts_.push_back(0);
  for (const Part& part : parts_) {
    firsts_.push_back(firsts_.back() + part.frames);
    stored_bytes_ = std::max(stored_bytes_, part.layout.frame_bytes + part.layout.gap_bytes);
  }
  assert(firsts_.back() > 0);
}

FrameBlock& FrameFiles::open(std::size_t part) {
  if (!block_ || open_part_ != part) {
    block_.reset();
    block_.emplace(File(parts_[part].path), parts_[part].layout);
    open_part_ = part;
  }
  return *block_;
}

void FrameFiles::read(Index first, Index last, RawBatch& batch) {
  const auto part_of = [&](Index frame) {
    return static_cast<std::size_t>(std::upper_bound(firsts_.begin(), firsts_.end(), frame) - firsts_.begin()) - 1;
  };
  const std::size_t part = part_of(first);
  if (last <= firsts_[part + 1]) {
    open(part).read(first - firsts_[part], last - firsts_[part], batch);
    batch.first = first;
    return;
  }
  batch.first = first;
  batch.pieces.clear();
  std::size_t used = 0;
  for (Index frame = first; frame < last;) {
    const std::size_t here = part_of(frame);
    const Index end = std::min(last, firsts_[here + 1]);
    open(here).read(frame - firsts_[here], end - firsts_[here], scratch_);
    std::size_t bytes = 0;
    for (const RawBatch::Piece& piece : scratch_.pieces) {
      batch.pieces.push_back({used + piece.offset, piece.size, 0});
      bytes = std::max(bytes, piece.offset + piece.size);
    }
    if (batch.bytes.size() < used + bytes) batch.bytes.resize(used + bytes);
    std::memcpy(batch.bytes.data() + used, scratch_.bytes.data(), bytes);
    used += bytes;
    frame = end;
  }
}

}  // namespace sonde::stem
