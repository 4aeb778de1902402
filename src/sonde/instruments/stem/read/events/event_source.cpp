// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/events/event_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/instruments/stem/read/file_cursor.h"
#include "sonde/instruments/stem/read/scan_shape.h"

namespace sonde::stem {
namespace {

/// The narrowest type that holds as many electrons in one pixel as any position has.
DType type_for(const StoredEvents& events) {
  std::uint64_t most = 0;
  for (std::size_t p = 0; p + 1 < events.offsets.size(); ++p)
    most = std::max(most, events.offsets[p + 1] - events.offsets[p]);
  if (most > max_value(DType::u32))
    throw Error(ErrorKind::not_supported,
                fmt::format("{}: {} events at one position, more than 32 bits count", events.path, most));
  return most <= max_value(DType::u8) ? DType::u8 : most <= max_value(DType::u16) ? DType::u16 : DType::u32;
}

class EventSource final : public Source {
 public:
  EventSource(std::unique_ptr<StoredEvents> events, const ReadOptions& options) : events_(std::move(events)) {
    if (options.sentinel)
      throw Error(ErrorKind::usage, fmt::format("{}: {} is a value that means no data; lists of electrons have none",
                                                events_->path, setting("sentinel")))
          .hint("leave it out");
    acquisition_.path = events_->path;
    acquisition_.format = events_->format;
    acquisition_.files = {events_->path};
    acquisition_.frames = events_->positions();
    acquisition_.rows = events_->rows;
    acquisition_.cols = events_->cols;
    acquisition_.stored = type_for(*events_);
    acquisition_.allow_incomplete = options.allow_incomplete;
    ScanFacts facts;
    facts.frames = acquisition_.frames;
    facts.attribute = StatedGrid{events_->scan_rows, events_->scan_cols, 0, events_->scan_because};
    const ScanShape shape = choose_scan_shape(facts, options);
    acquisition_.scan = scan_order(shape, options);
    acquisition_.scan_because = shape.because;
    acquisition_.original_metadata = std::move(events_->metadata);
    const auto absent = std::count(events_->frames.begin(), events_->frames.end(), 0u);
    acquisition_.notes.push_back({fmt::format("frames: lists of {} electrons", events_->offsets.back()),
                                  fmt::format("the file holds events; {} positions have no frame", absent)});
  }

  [[nodiscard]] std::size_t stored_bytes(Index frame) const override {
    const auto f = static_cast<std::size_t>(frame);
    return static_cast<std::size_t>(events_->offsets[f + 1] - events_->offsets[f]) * sizeof(std::uint32_t);
  }

  [[nodiscard]] bool has_frame(Index frame) const override {
    return events_->frames[static_cast<std::size_t>(frame)] != 0;
  }

  void read(Index first, Index last, RawBatch& batch) override {
    batch.first = first;
    batch.pieces.clear();
    std::size_t total = 0;
    for (Index frame = first; frame < last; ++frame) {
      batch.pieces.push_back({total, stored_bytes(frame), 0});
      total += stored_bytes(frame);
    }
    if (batch.bytes.size() < total) batch.bytes.resize(total);  // never shrinks: growing again would clear the bytes
    events_->read(first, last, {reinterpret_cast<std::uint32_t*>(batch.bytes.data()), total / sizeof(std::uint32_t)});
  }

  [[nodiscard]] bool has_events() const override { return true; }
  [[nodiscard]] std::span<const std::uint32_t> events(const RawBatch& batch, Index frame) const override {
    const std::span<const std::byte> bytes = batch.frame_bytes(frame);
    // Pieces are whole numbers of these, from the start of an allocation on.
    const std::span list(reinterpret_cast<const std::uint32_t*>(bytes.data()), bytes.size() / sizeof(std::uint32_t));
    std::uint32_t most = 0;
    for (const std::uint32_t pixel : list) most = std::max(most, pixel);
    if (!list.empty() && most >= static_cast<std::uint64_t>(acquisition_.rows * acquisition_.cols))
      throw damaged(acquisition_.path, fmt::format("an event of position {} is in pixel {} of a frame of {} x {}",
                                                   frame, most, acquisition_.rows, acquisition_.cols));
    return list;
  }

  void decode(const RawBatch& batch, Index frame, DecodeScratch&, std::span<std::byte> elements) const override {
    const std::span<const std::uint32_t> list = events(batch, frame);
    std::memset(elements.data(), 0, elements.size());
    const auto count = [&](auto* pixels) {
      for (const std::uint32_t pixel : list) ++pixels[pixel];
    };
    switch (acquisition_.stored) {
      case DType::u8:
        return count(reinterpret_cast<std::uint8_t*>(elements.data()));
      case DType::u16:
        return count(reinterpret_cast<std::uint16_t*>(elements.data()));
      default:
        return count(reinterpret_cast<std::uint32_t*>(elements.data()));
    }
  }

 private:
  std::unique_ptr<StoredEvents> events_;
};

}  // namespace

std::unique_ptr<Source> open_events(std::unique_ptr<StoredEvents> events, const ReadOptions& options) {
  return std::make_unique<EventSource>(std::move(events), options);
}

}  // namespace sonde::stem
