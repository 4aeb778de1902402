// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "sonde/instruments/stem/timepix/packet_reader.h"

namespace sonde::stem {

/// Decodes a file of records of 16 bytes, as riCOM reads them (.t3p): u32 index = row * columns + column of the
/// detector, u64 time of arrival in 25 ns, u8 overflow, u8 fine time in 1.5625 ns, which is subtracted, u16 time over
/// threshold in 25 ns; little-endian, without gaps. Time is absolute, and there are no edges. Records that say that a
/// counter overflowed are hits like others, and counted. A time a second or more after all before needs a second record
/// that agrees with it before it moves the clock. Not thread-safe.
class RecordReader final : public HitReader {
 public:
  /// `name` stands for the file in messages; the layout must outlive the reader.
  RecordReader(std::string name, const ChipLayout& layout, Damage damage)
      : name_(std::move(name)), layout_(layout), damage_(damage) {}

  /// Whole records, but for the last bytes of the file. Throws Error(bad_file) for a pixel outside of the detector and
  /// a time beyond 2^55, unless they are to be skipped.
  void take(std::span<const std::byte> bytes, PacketBlock& block) override;
  /// Throws Error(bad_file) for an empty file, and for one that ends within a record, unless that is to be skipped.
  void finish() override;
  [[nodiscard]] std::optional<Ticks> latest() const override { return latest_; }

 private:
  void saw(Ticks time);

  std::string name_;
  const ChipLayout& layout_;
  Damage damage_;
  std::uint64_t offset_ = 0;  // of the next byte
  std::size_t left_over_ = 0;
  std::optional<Ticks> latest_, proposed_;
};

/// The reader of a file: records where its name ends with .t3p, else packets.
[[nodiscard]] std::unique_ptr<HitReader> open_hits(const std::string& path, const ChipLayout& layout, Damage damage);

}  // namespace sonde::stem
