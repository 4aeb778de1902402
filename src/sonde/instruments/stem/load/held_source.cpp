// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/held_source.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "sonde/engine/base/interrupt.h"

namespace sonde::stem {
namespace {

class HeldSource : public Source {
 public:
  HeldSource(std::unique_ptr<Source> inner, const Schedule& schedule) : inner_(std::move(inner)) {
    acquisition_ = inner_->acquisition();
    for (const Batch& batch : schedule.batches)
      for (const FrameRange& range : batch.reads) {
        check_interrupt();
        RawBatch& raw = held_.emplace_back();
        inner_->read(range.first, range.last, raw);
        raw.bytes.shrink_to_fit();
      }
  }

  [[nodiscard]] std::size_t stored_bytes(Index frame) const override { return inner_->stored_bytes(frame); }
  [[nodiscard]] std::optional<BitshuffleFormat> packing() const override { return inner_->packing(); }
  [[nodiscard]] bool has_frame(Index frame) const override { return inner_->has_frame(frame); }
  [[nodiscard]] bool has_events() const override { return inner_->has_events(); }
  [[nodiscard]] std::span<const std::uint32_t> events(const RawBatch& batch, Index frame) const override {
    return inner_->events(batch, frame);
  }

  [[nodiscard]] std::size_t held_bytes() const override {
    std::size_t sum = 0;
    for (const RawBatch& batch : held_)
      sum += batch.bytes.capacity() + batch.pieces.capacity() * sizeof(RawBatch::Piece);
    return sum;
  }

  void release() override { held_ = {}; }

  void read(Index first, Index last, RawBatch& batch) override {
    batch.first = first;
    batch.pieces.clear();
    std::size_t total = 0;
    for (Index frame = first; frame < last; ++frame) total += find(frame).piece(frame).size;
    batch.bytes.resize(total);
    std::size_t offset = 0;
    for (Index frame = first; frame < last; ++frame) {
      const RawBatch& from = find(frame);
      RawBatch::Piece piece = from.piece(frame);
      std::memcpy(batch.bytes.data() + offset, from.bytes.data() + piece.offset, piece.size);
      piece.offset = offset;
      offset += piece.size;
      batch.pieces.push_back(piece);
    }
  }

  void decode(const RawBatch& batch, Index frame, DecodeScratch& scratch,
              std::span<std::byte> elements) const override {
    inner_->decode(batch, frame, scratch, elements);
  }

 private:
  /// The held batch that has a frame; frames outside of the schedule were never promised.
  [[nodiscard]] const RawBatch& find(Index frame) const {
    auto after = std::upper_bound(held_.begin(), held_.end(), frame,
                                  [](Index f, const RawBatch& batch) { return f < batch.first; });
    return *--after;
  }

  std::unique_ptr<Source> inner_;
  std::vector<RawBatch> held_;  // ascending
};

}  // namespace

std::unique_ptr<Source> hold_in_memory(std::unique_ptr<Source> source, const Schedule& schedule) {
  return std::make_unique<HeldSource>(std::move(source), schedule);
}

}  // namespace sonde::stem
