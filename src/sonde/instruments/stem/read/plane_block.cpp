// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/plane_block.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/byte_order.h"

namespace sonde::stem {
namespace {

constexpr Index pixels_at_once = 64;  // so that a frame is written in runs of whole cache lines
constexpr Index frames_at_once = 32;  // whose cache lines of all these pixels stay in the first-level cache

/// Runs of one pixel each, `stride` bytes apart, into frames of `frame_pixels`.
template <class T>
void transpose(const std::byte* runs, std::size_t stride, Index pixels, Index frames, std::byte* to,
               Index frame_pixels) {
  for (Index first = 0; first < frames; first += frames_at_once) {
    const Index last = std::min(first + frames_at_once, frames);
    for (Index frame = first; frame < last; ++frame) {
      std::byte* pixel_to = to + static_cast<std::size_t>(frame * frame_pixels) * sizeof(T);
      const std::byte* from = runs + static_cast<std::size_t>(frame) * sizeof(T);
      for (Index pixel = 0; pixel < pixels; ++pixel, pixel_to += sizeof(T), from += stride)
        std::memcpy(pixel_to, from, sizeof(T));
    }
  }
}

class PlaneSource : public Source {
 public:
  PlaneSource(Acquisition acquisition, File file, std::uint64_t offset, bool big_endian)
      : file_(std::move(file)), offset_(offset), big_endian_(big_endian) {
    acquisition_ = std::move(acquisition);
    element_ = size_bytes(acquisition_.stored);
    frame_bytes_ = static_cast<std::size_t>(acquisition_.rows * acquisition_.cols) * element_;
  }

  [[nodiscard]] std::size_t stored_bytes(Index) const override { return frame_bytes_; }

  void read(Index first, Index last, RawBatch& batch) override {
    const Index count = last - first;
    batch.first = first;
    batch.pieces.resize(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < batch.pieces.size(); ++i) batch.pieces[i] = {i * frame_bytes_, frame_bytes_, 0};
    const std::size_t total = static_cast<std::size_t>(count) * frame_bytes_;
    if (batch.bytes.size() < total) batch.bytes.resize(total);
    // Batches that follow each other are served from a longer run of frames: the file is then read in longer pieces.
    // Single frames from anywhere are not worth one.
    const bool walking = first == next_ && count > 1;
    next_ = last;
    for (Index frame = first; frame < last;) {
      if (walking && !held(frame) && held_frames() > count) {
        held_first_ = frame;
        held_count_ = std::min(held_frames(), acquisition_.frames - frame);
        held_.resize(static_cast<std::size_t>(held_count_) * frame_bytes_);
        gather(held_first_, held_count_, held_.data());
      }
      std::byte* to = batch.bytes.data() + static_cast<std::size_t>(frame - first) * frame_bytes_;
      if (!held(frame)) return gather(frame, last - frame, to);
      const Index here = std::min(last, held_first_ + held_count_) - frame;
      std::memcpy(to, held_.data() + static_cast<std::size_t>(frame - held_first_) * frame_bytes_,
                  static_cast<std::size_t>(here) * frame_bytes_);
      frame += here;
    }
  }

  void decode(const RawBatch& batch, Index frame, DecodeScratch&, std::span<std::byte> elements) const override {
    std::memcpy(elements.data(), batch.frame_bytes(frame).data(), elements.size());
    if (big_endian_) swap_bytes(elements, word_bytes(acquisition_.stored));
  }

  /// The values of one block of pixels for the frames that are gathered at once, on each worker.
  [[nodiscard]] std::size_t reading_bytes(int workers) const override {
    const auto block = static_cast<std::size_t>(std::min(pixels_at_once, acquisition_.rows * acquisition_.cols));
    const std::size_t frames = std::max<std::size_t>(1, useful_cache_bytes() / frame_bytes_);
    return static_cast<std::size_t>(workers) * block * (frames * element_ + 64);
  }

  [[nodiscard]] std::size_t useful_cache_bytes() const override {
    // Pieces of 4 KiB: longer ones are hardly faster, shorter ones cost a request each.
    constexpr std::size_t piece_bytes = std::size_t{4} << 10;
    const auto frames = std::min(static_cast<std::size_t>(acquisition_.frames), piece_bytes / element_);
    return frames * frame_bytes_;
  }
  void set_cache_bytes(std::size_t bytes) override { cache_bytes_ = std::min(bytes, useful_cache_bytes()); }

 private:
  [[nodiscard]] Index held_frames() const { return static_cast<Index>(cache_bytes_ / frame_bytes_); }
  [[nodiscard]] bool held(Index frame) const { return frame >= held_first_ && frame < held_first_ + held_count_; }

  /// Frames [first, first + count) as they would be stored one after the other.
  void gather(Index first, Index count, std::byte* frames) const {
    const Index pixels = acquisition_.rows * acquisition_.cols;
    const Index blocks = (pixels + pixels_at_once - 1) / pixels_at_once;
    // Runs of a power of two would all lie in the same few lines of a cache.
    constexpr std::size_t padding_bytes = 64;
    const std::size_t stride = static_cast<std::size_t>(count) * element_ + padding_bytes;
    parallel_for(blocks, 1, [&](Index begin, Index end, Worker&) {
      std::vector<std::byte> runs(static_cast<std::size_t>(std::min(pixels_at_once, pixels)) * stride);
      for (Index block = begin; block < end; ++block) {
        const Index pixel = block * pixels_at_once, here = std::min(pixels_at_once, pixels - pixel);
        for (Index i = 0; i < here; ++i) {
          const auto at = static_cast<std::uint64_t>((pixel + i) * acquisition_.frames + first) * element_;
          file_.read_at(offset_ + at,
                        std::span(runs).subspan(static_cast<std::size_t>(i) * stride, stride - padding_bytes));
        }
        std::byte* to = frames + static_cast<std::size_t>(pixel) * element_;
        switch (element_) {
          case 1:
            transpose<std::uint8_t>(runs.data(), stride, here, count, to, pixels);
            break;
          case 2:
            transpose<std::uint16_t>(runs.data(), stride, here, count, to, pixels);
            break;
          case 4:
            transpose<std::uint32_t>(runs.data(), stride, here, count, to, pixels);
            break;
          default:
            transpose<std::uint64_t>(runs.data(), stride, here, count, to, pixels);
        }
      }
    });
  }

  File file_;
  std::uint64_t offset_;
  bool big_endian_;
  std::size_t element_ = 0, frame_bytes_ = 0;
  std::size_t cache_bytes_ = 0;  ///< nothing is held until set
  std::vector<std::byte> held_;  ///< frames from held_first_ on
  Index held_first_ = 0, held_count_ = 0;
  Index next_ = 0;  ///< the frame behind the last batch
};

}  // namespace

std::unique_ptr<Source> plane_source(Acquisition acquisition, File file, std::uint64_t offset, bool big_endian) {
  return std::make_unique<PlaneSource>(std::move(acquisition), std::move(file), offset, big_endian);
}

}  // namespace sonde::stem
