// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/frame_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/byte_order.h"

namespace sonde::stem {

FrameBlock::FrameBlock(File file, const FrameLayout& layout) : file_(std::move(file)), layout_(layout) {
  assert(layout.frame_bytes > 0);
  const std::uint64_t available = file_.size() < layout.offset ? 0 : file_.size() - layout.offset;
  if (available < layout.frame_bytes)
    throw Error(ErrorKind::bad_file, fmt::format("{}: a frame needs {} bytes from offset {} on, the file has {}",
                                                 file_.path(), layout.frame_bytes, layout.offset, available));
  // A gap larger than the file means one frame, and must not overflow the stride.
  layout_.gap_bytes = std::min<std::size_t>(layout_.gap_bytes, file_.size());
  frames_ = 1 + static_cast<Index>((available - layout.frame_bytes) / stride());
  const std::uint64_t used = static_cast<std::uint64_t>(frames_) * stride();  // with the last gap
  rest_bytes_ = available > used ? available - used : 0;
}

void FrameBlock::check_rest(const ReadOptions& options, Acquisition& acquisition) const {
  if (rest_bytes_ == 0) return;
  const std::string fact = fmt::format("frame {} has {} of {} bytes", frames_, rest_bytes_, layout_.frame_bytes);
  if (!options.allow_incomplete && !options.drop_extra)
    throw Error(ErrorKind::bad_file, fmt::format("{}: ends inside a frame: {}", file_.path(), fact))
        .hint("check the shape and the element type; " + setting("drop_extra") + " leaves the rest of the file out");
  acquisition.notes.push_back({"the end of the file is left out", fact});
}

bool FrameBlock::merged() const {
  constexpr std::size_t most_gap_bytes = std::size_t{64} << 10;  // cheaper to read along than to start anew
  return layout_.gap_bytes < most_gap_bytes;
}

void FrameBlock::read(Index first, Index last, RawBatch& batch) const {
  assert(0 <= first && first <= last && last <= frames_);
  const auto count = static_cast<std::size_t>(last - first);
  batch.first = first;
  batch.pieces.resize(count);
  const std::size_t step = stored_bytes();
  const std::size_t total = count == 0 ? 0 : (count - 1) * step + layout_.frame_bytes;
  if (batch.bytes.size() < total) batch.bytes.resize(total);
  for (std::size_t i = 0; i < count; ++i) batch.pieces[i] = {i * step, layout_.frame_bytes, 0};

  const std::uint64_t start = layout_.offset + static_cast<std::uint64_t>(first) * stride();
  if (merged()) return file_.read_at(start, std::span(batch.bytes).first(total));
  for (std::size_t i = 0; i < count; ++i)
    file_.read_at(start + i * stride(), std::span(batch.bytes).subspan(i * step, layout_.frame_bytes));
}

void FrameBlock::read_frame(Index frame, std::span<std::byte> bytes) const {
  assert(0 <= frame && frame < frames_ && bytes.size() == layout_.frame_bytes);
  file_.read_at(layout_.offset + static_cast<std::uint64_t>(frame) * stride(), bytes);
}

void apply_scan(Acquisition& acquisition, const ScanFacts& facts, const ReadOptions& options) {
  during("opening " + acquisition.path, [&] {
    const ScanShape shape = choose_scan_shape(facts, options);
    acquisition.frames = facts.frames;
    acquisition.scan = scan_order(shape, options);
    acquisition.scan_because = shape.because;
    acquisition.allow_incomplete = options.allow_incomplete;
    acquisition.sentinel = options.sentinel;
  });
}

namespace {

class PlainSource : public Source {
 public:
  PlainSource(Acquisition acquisition, FrameBlock block, bool big_endian)
      : block_(std::move(block)), big_endian_(big_endian) {
    acquisition_ = std::move(acquisition);
  }
  [[nodiscard]] std::size_t stored_bytes(Index) const override { return block_.stored_bytes(); }
  void read(Index first, Index last, RawBatch& batch) override { block_.read(first, last, batch); }
  void decode(const RawBatch& batch, Index frame, DecodeScratch&, std::span<std::byte> elements) const override {
    const auto bytes = batch.frame_bytes(frame);
    assert(bytes.size() == elements.size());
    std::memcpy(elements.data(), bytes.data(), elements.size());
    if (big_endian_) swap_bytes(elements, word_bytes(acquisition_.stored));
  }

 private:
  FrameBlock block_;
  bool big_endian_;
};

}  // namespace

std::unique_ptr<Source> plain_source(Acquisition acquisition, FrameBlock block, bool big_endian) {
  return std::make_unique<PlainSource>(std::move(acquisition), std::move(block), big_endian);
}

}  // namespace sonde::stem
