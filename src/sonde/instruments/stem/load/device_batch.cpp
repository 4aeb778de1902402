// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/device_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "sonde/engine/base/error.h"

namespace sonde::stem {

DeviceBatch::DeviceBatch(Device device, const Source& source, const PassSettings& settings,
                         std::optional<BitshuffleFormat> packing)
    : device_(device),
      source_(source),
      settings_(settings),
      packing_(packing),
      element_bytes_(size_bytes(source.acquisition().stored)),
      frame_bytes_(static_cast<std::size_t>(settings.detector.pixels()) * element_bytes_),
      started_(device),
      uploaded_(device),
      done_(device) {}

View<const std::uint8_t, 1> DeviceBatch::device_bytes() const { return bytes_.view<std::uint8_t, 1>(); }

View<std::uint64_t, 1> DeviceBatch::device_faults() {
  View<std::uint64_t, 1> faults = faults_.view<std::uint64_t, 1>();
  faults.extent[0] = count();
  return faults;
}

/// The size of the largest block of a stored frame when the device can decode it.
std::optional<std::size_t> DeviceBatch::device_block_bytes(const RawBatch& raw, Index frame) const {
  const RawBatch::Piece& piece = raw.piece(frame);
  if (!packing_ || piece.size == 0 || piece.filter_mask != 0) return std::nullopt;
  std::size_t block_bytes = packing_->block_elements * element_bytes_;
  if (packing_->codec == BitshuffleCodec::lz4) {  // the header decides
    const auto chunk = raw.frame_bytes(frame);
    block_bytes = 0;
    for (std::size_t i = 8; i < 12 && i < chunk.size(); ++i)
      block_bytes = block_bytes << 8 | std::to_integer<std::size_t>(chunk[i]);
  }
  if (block_bytes == 0) block_bytes = default_block_elements(element_bytes_) * element_bytes_;
  block_bytes = std::min(block_bytes, frame_bytes_);
  if (!can_decode_blocks(device_, block_bytes)) return std::nullopt;
  return block_bytes;
}

void DeviceBatch::fill(const TimedBatch& batch, std::span<const Index> order, PerWorker<DecodeScratch>& scratch,
                       PassResult& result) {
  const std::size_t count = order.size();
  positions_.assign(order.begin(), order.end());
  frames_.assign(count, -1);
  pieces_.assign(count, ChunkPiece());
  largest_block_bytes_ = 0;
  const ChunkForm form = packing_ && packing_->codec == BitshuffleCodec::lz4 ? ChunkForm::lz4 : ChunkForm::planes;

  positions_at_ = count * sizeof(ChunkPiece);
  present_at_ = positions_at_ + count * sizeof(Index);
  size_ = (present_at_ + count + 63) / 64 * 64;
  std::vector<Index> stored;
  for (std::size_t i = 0; i < count; ++i) {
    ChunkPiece& piece = pieces_[i];
    piece.offset = size_;
    piece.form = ChunkForm::absent;
    settings_.scan.frames_of(positions_[i], stored);
    result.valid[static_cast<std::size_t>(positions_[i])] = stored.empty() ? 0 : 1;
    if (stored.empty()) continue;
    frames_[i] = stored.front();
    ++result.frames;
    if (const auto block_bytes = device_block_bytes(batch.holding(stored.front()), stored.front())) {
      largest_block_bytes_ = std::max(largest_block_bytes_, *block_bytes);
      piece.form = form;
      piece.bytes = batch.holding(stored.front()).piece(stored.front()).size;
    } else {
      piece.form = ChunkForm::plain;
      piece.bytes = frame_bytes_;
    }
    size_ += (piece.bytes + 15) / 16 * 16;  // the workers decode to aligned elements
  }
  grow();
  copy_pieces(batch, scratch, result);
}

void DeviceBatch::grow() {
  if (staging_.size() < size_) {
    const std::size_t bytes = size_ + size_ / 8;  // batches differ a little
    staging_ = PinnedBlock();
    bytes_.free();
    staging_ = PinnedBlock(device_, bytes);
    bytes_ = Array(device_, {static_cast<Index>(bytes)}, DType::u8);
  }
  if (fault_staging_.size() < frames_.size() * sizeof(std::uint64_t)) {
    fault_staging_ = PinnedBlock(device_, frames_.size() * sizeof(std::uint64_t));
    faults_ = Array(device_, {count()}, DType::u64);
  }
}

void DeviceBatch::copy_pieces(const TimedBatch& batch, PerWorker<DecodeScratch>& scratch, PassResult& result) {
  std::byte* to = staging_.data();
  std::memcpy(to, pieces_.data(), pieces_.size() * sizeof(ChunkPiece));
  std::memcpy(to + positions_at_, positions_.data(), positions_.size() * sizeof(Index));
  std::mutex failed_mutex;
  parallel_for(count(), 16, [&](Index first, Index last, Worker& worker) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
      const Index frame = frames_[i];
      to[present_at_ + i] = static_cast<std::byte>(frame < 0 ? 0 : 1);
      if (frame < 0) continue;
      const RawBatch& raw = batch.holding(frame);
      std::byte* bytes = to + pieces_[i].offset;
      if (pieces_[i].form != ChunkForm::plain) {
        std::memcpy(bytes, raw.frame_bytes(frame).data(), pieces_[i].bytes);
        continue;
      }
      try {
        source_.decode(raw, frame, scratch[worker], {bytes, frame_bytes_});
      } catch (const Error& error) {
        if (settings_.on_error == OnError::fail) throw;
        std::memset(bytes, 0, frame_bytes_);
        const std::lock_guard lock(failed_mutex);
        note_failure(i, failure_reason(error), result);
      }
    }
  });
}

void DeviceBatch::send(Stream& upload, Stream& work) {
  started_.record(work);
  upload.copy(bytes_.data(), staging_.data(), size_);
  uploaded_.record(upload);
  uploaded_.hold(work);
}

void DeviceBatch::close(Stream& work) {
  work.copy(fault_staging_.data(), faults_.data(), frames_.size() * sizeof(std::uint64_t));
  done_.record(work);
  busy_ = true;
}

void DeviceBatch::finish(PassResult& result) {
  if (!busy_) return;
  busy_ = false;
  result.seconds.decode += done_.seconds_since(started_);
  for (std::size_t i = 0; i < frames_.size(); ++i) {
    std::uint64_t fault = 0;
    std::memcpy(&fault, fault_staging_.data() + i * sizeof fault, sizeof fault);
    if (fault != no_chunk_fault) explain(i, fault, result);
  }
}

void DeviceBatch::explain(std::size_t i, std::uint64_t fault, PassResult& result) const {
  RawBatch alone;
  alone.first = frames_[i];
  alone.pieces = {{0, pieces_[i].bytes, 0}};
  const std::byte* bytes = staging_.data() + pieces_[i].offset;
  alone.bytes.assign(bytes, bytes + pieces_[i].bytes);
  std::vector<std::byte> elements(frame_bytes_);
  DecodeScratch scratch;
  try {
    source_.decode(alone, alone.first, scratch, elements);
  } catch (const Error& error) {
    if (settings_.on_error == OnError::fail) throw;
    return note_failure(i, failure_reason(error), result);
  }
  throw Error(ErrorKind::bad_file,
              fmt::format("{}: frame {}: {}; the decoder of {} is stricter than that of the CPU",
                          source_.acquisition().path, alone.first, chunk_fault_text(fault), device_.name()))
      .hint(setting("device", "cpu") + " reads this frame");
}

void DeviceBatch::note_failure(std::size_t i, const std::string& reason, PassResult& result) const {
  result.failed.push_back({frames_[i], reason});
  result.valid[static_cast<std::size_t>(positions_[i])] = 0;
}

}  // namespace sonde::stem
