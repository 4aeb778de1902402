// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/chunked_frames.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstring>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "sonde/engine/base/error.h"

namespace sonde {
namespace {

using Position = std::array<Index, Shape::max_rank>;
using Chunk = std::shared_ptr<const std::vector<std::byte>>;

/// The position of element `linear` in C order in an array of this shape.
Position position(const Shape& shape, Index linear) {
  Position at{};
  for (int i = shape.rank() - 1; i >= 0; --i) {
    at[static_cast<std::size_t>(i)] = linear % shape[i];
    linear /= shape[i];
  }
  return at;
}

Index linear(const Shape& shape, const Position& at) {
  Index index = 0;
  for (int i = 0; i < shape.rank(); ++i) index = index * shape[i] + at[static_cast<std::size_t>(i)];
  return index;
}

void repeat(std::span<const std::byte> element, std::span<std::byte> elements) {
  if (std::all_of(element.begin(), element.end(), [&](std::byte b) { return b == element[0]; })) {
    std::fill(elements.begin(), elements.end(), element[0]);
    return;
  }
  for (std::size_t i = 0; i < elements.size(); i += element.size())
    std::memcpy(&elements[i], element.data(), element.size());
}

}  // namespace

/// Decoded chunks, oldest dropped first: frames are read in order, so an old chunk is not needed again soon.
struct ChunkedFrames::Cache {
  Chunk find(Index chunk) {
    const std::lock_guard lock(mutex);
    const auto at = chunks.find(chunk);
    return at == chunks.end() ? nullptr : at->second;
  }
  bool takes(std::size_t chunk_bytes) {
    const std::lock_guard lock(mutex);
    return chunk_bytes <= limit_bytes;
  }
  void keep(Index chunk, Chunk decoded) {
    const std::lock_guard lock(mutex);
    const std::size_t size = decoded->size();
    if (size > limit_bytes || !chunks.emplace(chunk, std::move(decoded)).second) return;
    order.push_back(chunk);
    bytes += size;
    shrink();
  }
  void limit(std::size_t most_bytes) {
    const std::lock_guard lock(mutex);
    limit_bytes = most_bytes;
    shrink();
  }

 private:
  void shrink() {
    for (; bytes > limit_bytes; order.pop_front()) {
      bytes -= chunks.at(order.front())->size();
      chunks.erase(order.front());
    }
  }

  std::size_t limit_bytes = 0, bytes = 0;
  std::mutex mutex;
  std::unordered_map<Index, Chunk> chunks;
  std::deque<Index> order;
};

/// Whole frames that were decoded before they were asked for, where there is less room than chunks in the middle of
/// being read take.
struct ChunkedFrames::Ahead {
  std::size_t limit_bytes = 0;  ///< 0: chunks are kept instead
  /// One reader at a time goes ahead, others read what they want. No lock, because decoding is done on several threads,
  /// and one that waits for the others may come here again.
  std::atomic_flag in_use;
  Index first = 0, last = 0;  ///< of the frames that are there
  Index expected = 0;         ///< the end of the read before: only reads in order go ahead
  std::vector<std::byte> elements;
};

/// The frames that are being read, and where they go.
struct ChunkedFrames::Wanted {
  Index first = 0, last = 0;
  std::span<std::byte> elements;
  const Decode& decode;
  PerWorker<std::vector<std::byte>>& scratch;
};

ChunkedFrames::ChunkedFrames(Shape shape, Shape chunk, std::vector<std::byte> fill)
    : shape_(shape),
      chunk_(chunk),
      fill_(std::move(fill)),
      cache_(std::make_unique<Cache>()),
      ahead_(std::make_unique<Ahead>()) {
  for (int i = 0; i < shape.rank(); ++i) grid_.append(shape[i] / chunk[i] + (shape[i] % chunk[i] != 0 ? 1 : 0));
}

ChunkedFrames::ChunkedFrames(ChunkedFrames&&) noexcept = default;
ChunkedFrames& ChunkedFrames::operator=(ChunkedFrames&&) noexcept = default;
ChunkedFrames::~ChunkedFrames() = default;

std::size_t ChunkedFrames::chunk_bytes() const { return static_cast<std::size_t>(chunk_.count()) * fill_.size(); }

std::size_t ChunkedFrames::useful_cache_bytes() const {
  // In C order the first scan dimension along which a chunk is longer than one stays within the same chunks until all
  // of the dimensions behind it are through.
  for (int i = 0; i < leading(); ++i)
    if (chunk_[i] > 1) return static_cast<std::size_t>(grid_.last(shape_.rank() - 1 - i).count()) * chunk_bytes();
  return 0;
}

void ChunkedFrames::set_cache_bytes(std::size_t bytes) const {
  const bool chunks_fit = bytes >= useful_cache_bytes();
  cache_->limit(chunks_fit ? bytes : 0);
  ahead_->limit_bytes = chunks_fit ? 0 : bytes;
  ahead_->first = ahead_->last = 0;
  ahead_->elements = {};
}

void ChunkedFrames::copy_lines(Index chunk, std::span<const std::pair<Index, Index>> frames,
                               std::span<const std::byte> decoded, const Wanted& wanted) const {
  const std::size_t each = fill_.size();
  const auto row_at = static_cast<std::size_t>(leading()), col_at = row_at + 1;
  const Position at = position(grid_, chunk);
  const Index chunk_rows = chunk_[leading()], chunk_cols = chunk_[leading() + 1];
  const Index frame_rows = shape_[leading()], frame_cols = shape_[leading() + 1];
  const Index row = at[row_at] * chunk_rows, col = at[col_at] * chunk_cols;
  const Index rows = std::min(chunk_rows, frame_rows - row), cols = std::min(chunk_cols, frame_cols - col);
  const std::size_t line_bytes = static_cast<std::size_t>(cols) * each;
  for (const auto& [inner, frame] : frames)
    for (Index r = 0; r < rows; ++r) {
      const Index to = ((frame - wanted.first) * frame_rows + row + r) * frame_cols + col;
      const std::span line = wanted.elements.subspan(static_cast<std::size_t>(to) * each, line_bytes);
      const Index from = (inner * chunk_rows + r) * chunk_cols;
      if (decoded.empty())
        repeat(fill_, line);
      else
        std::memcpy(line.data(), decoded.data() + static_cast<std::size_t>(from) * each, line_bytes);
    }
}

void ChunkedFrames::copy_chunk(Index chunk, const Wanted& wanted, Worker& worker) const {
  const Shape frame_grid = shape_.first(leading()), chunk_frames = chunk_.first(leading());
  const Position at = position(grid_, chunk);
  /// The frame that is the chunk's `inner`-th one, or -1 for padding beyond the edge and for frames not asked for.
  const auto frame_of = [&](Index inner) {
    Position frame = position(chunk_frames, inner);
    for (int i = 0; i < leading(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      frame[k] += at[k] * chunk_frames[i];
      if (frame[k] >= frame_grid[i]) return Index{-1};
    }
    const Index index = linear(frame_grid, frame);
    return index >= wanted.first && index < wanted.last ? index : Index{-1};
  };
  std::vector<std::pair<Index, Index>> frames;  // in the chunk, in the array
  for (Index inner = 0; inner < chunk_frames.count(); ++inner)
    if (const Index frame = frame_of(inner); frame >= 0) frames.emplace_back(inner, frame);

  if (const Chunk kept = cache_->find(chunk)) return copy_lines(chunk, frames, *kept, wanted);
  const bool keeps = static_cast<Index>(frames.size()) < chunk_frames.count() && cache_->takes(chunk_bytes());
  if (keeps) {
    auto decoded = std::make_shared<std::vector<std::byte>>();
    if (!wanted.decode(chunk, worker, *decoded)) return copy_lines(chunk, frames, {}, wanted);
    copy_lines(chunk, frames, *decoded, wanted);
    return cache_->keep(chunk, std::move(decoded));
  }
  std::vector<std::byte>& scratch = wanted.scratch[worker];
  copy_lines(chunk, frames,
             wanted.decode(chunk, worker, scratch) ? std::span<const std::byte>(scratch) : std::span<const std::byte>(),
             wanted);
}

void ChunkedFrames::read(Index first, Index last, const Decode& decode, std::span<std::byte> elements) const {
  const Index frame_elements = shape_.last(2).count();
  assert(0 <= first && first <= last && last <= frames());
  assert(elements.size() == static_cast<std::size_t>((last - first) * frame_elements) * fill_.size());
  if (frame_elements == 0) return;

  const std::size_t frame_bytes = static_cast<std::size_t>(frame_elements) * fill_.size();
  if (ahead_->limit_bytes == 0 || ahead_->in_use.test_and_set()) return read_now(first, last, decode, elements);
  const std::unique_ptr<Ahead, void (*)(Ahead*)> release(ahead_.get(), [](Ahead* ahead) { ahead->in_use.clear(); });
  const Index room = static_cast<Index>(ahead_->limit_bytes / frame_bytes);
  const bool in_order = first == std::exchange(ahead_->expected, last);
  const bool there = ahead_->first <= first && last <= ahead_->last;
  if (!there && (!in_order || room < 2 * (last - first))) return read_now(first, last, decode, elements);
  if (!there) {
    ahead_->last = ahead_->first = first;  // nothing, until they are all there
    ahead_->elements.resize(static_cast<std::size_t>(std::min(room, frames() - first)) * frame_bytes);
    const Index end = first + static_cast<Index>(ahead_->elements.size() / frame_bytes);
    try {
      read_now(first, end, decode, ahead_->elements);
    } catch (const Error&) {  // of frames that were not asked for, perhaps
      return read_now(first, last, decode, elements);
    }
    ahead_->last = end;
  }
  std::memcpy(elements.data(), &ahead_->elements[static_cast<std::size_t>(first - ahead_->first) * frame_bytes],
              elements.size());
}

void ChunkedFrames::read_now(Index first, Index last, const Decode& decode, std::span<std::byte> elements) const {
  // Chunks along the detector dimensions of one scan chunk are consecutive in the grid.
  const Shape scan = shape_.first(leading()), scan_grid = grid_.first(leading());
  const Index chunks_per_frame = grid_.last(2).count();
  std::vector<Index> scan_chunks;
  for (Index frame = first; frame < last; ++frame) {
    Position at = position(scan, frame);
    for (int i = 0; i < leading(); ++i) at[static_cast<std::size_t>(i)] /= chunk_[i];
    scan_chunks.push_back(linear(scan_grid, at));
  }
  std::sort(scan_chunks.begin(), scan_chunks.end());
  scan_chunks.erase(std::unique(scan_chunks.begin(), scan_chunks.end()), scan_chunks.end());

  PerWorker<std::vector<std::byte>> scratch;
  const Wanted wanted{first, last, elements, decode, scratch};
  const Index tasks = static_cast<Index>(scan_chunks.size()) * chunks_per_frame;
  parallel_for(tasks, 1, [&](Index begin, Index end, Worker& worker) {
    for (Index task = begin; task < end; ++task)
      copy_chunk(
          scan_chunks[static_cast<std::size_t>(task / chunks_per_frame)] * chunks_per_frame + task % chunks_per_frame,
          wanted, worker);
  });
}

}  // namespace sonde
