// SPDX-License-Identifier: Apache-2.0
// Private to the room: one batch of frames on its way to a device.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/device/pinned.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/io/codec/bitshuffle_chunks.h"
#include "sonde/instruments/stem/pass/batch_feed.h"
#include "sonde/instruments/stem/pass/pass.h"

namespace sonde::stem {

/// A table of frames and the bytes they are made of, in pinned memory and on the device. Chunks that the device decodes
/// go there as they are stored; the others (skipped filters, absent ones, blocks beyond a GPU's shared memory, other
/// packings) are decoded by the workers first.
class DeviceBatch {
 public:
  /// `packing` says how the device finds chunks stored; none: all are decoded on the CPU.
  DeviceBatch(Device device, const Source& source, const PassSettings& settings,
              std::optional<BitshuffleFormat> packing);

  /// Takes the positions order[plan.first ... plan.last) of a batch that was read. Counts frames, marks valid positions
  /// and lists frames that cannot be decoded in `result`.
  void fill(const TimedBatch& batch, std::span<const Index> order, PerWorker<DecodeScratch>& scratch,
            PassResult& result);
  /// Queues the upload, and lets `work` wait for it.
  void send(Stream& upload, Stream& work);
  /// Queues the way back of the faults. From now on finish() has something to wait for.
  void close(Stream& work);
  /// Waits for the device and looks at its faults. The CPU's decoder says what is wrong with a frame, in the same
  /// words as if it had been the first to read it. Throws that Error unless frames may stand as zeros.
  void finish(PassResult& result);

  [[nodiscard]] Index count() const { return static_cast<Index>(frames_.size()); }
  [[nodiscard]] const std::vector<Index>& positions() const { return positions_; }
  [[nodiscard]] std::size_t largest_block_bytes() const { return largest_block_bytes_; }

  // On the device: all bytes; for every frame its piece of them, its scan position, whether there is one, its fault.
  [[nodiscard]] View<const std::uint8_t, 1> device_bytes() const;
  [[nodiscard]] View<const ChunkPiece, 1> device_pieces() const { return table<ChunkPiece>(0); }
  [[nodiscard]] View<const Index, 1> device_positions() const { return table<Index>(positions_at_); }
  [[nodiscard]] View<const std::uint8_t, 1> device_present() const { return table<std::uint8_t>(present_at_); }
  [[nodiscard]] View<std::uint64_t, 1> device_faults();

 private:
  template <class T>
  [[nodiscard]] View<const T, 1> table(std::size_t at) const {
    return View<const T, 1>(reinterpret_cast<const T*>(static_cast<const std::byte*>(bytes_.data()) + at), count());
  }
  [[nodiscard]] std::optional<std::size_t> device_block_bytes(const RawBatch& raw, Index frame) const;
  void grow();
  void copy_pieces(const TimedBatch& batch, PerWorker<DecodeScratch>& scratch, PassResult& result);
  void explain(std::size_t i, std::uint64_t fault, PassResult& result) const;
  void note_failure(std::size_t i, const std::string& reason, PassResult& result) const;

  Device device_;
  const Source& source_;
  const PassSettings& settings_;
  std::optional<BitshuffleFormat> packing_;
  std::size_t element_bytes_, frame_bytes_;

  std::vector<Index> frames_, positions_;  // stored frame (-1: none) and scan position, in the order of the table
  std::vector<ChunkPiece> pieces_;
  std::size_t largest_block_bytes_ = 0;
  std::size_t positions_at_ = 0, present_at_ = 0, size_ = 0;  // pieces, positions, present, then the bytes
  PinnedBlock staging_, fault_staging_;
  Array bytes_, faults_;
  Event started_, uploaded_, done_;
  bool busy_ = false;
};

}  // namespace sonde::stem
