// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/instruments/stem/timepix/chip_layout.h"
#include "sonde/instruments/stem/timepix/clock.h"
#include "sonde/instruments/stem/timepix/packets.h"

namespace sonde::stem {

/// What is done where a file has no chunk, or only the first part of one.
enum class Damage { stop, skip };

/// What a file held.
struct PacketCounts {
  std::uint64_t chunks = 0, hits = 0;
  std::uint64_t integrated = 0;  ///< hits of the mode that sums time over threshold: they have no time of their own
  std::array<std::uint64_t, tdc_channels> edges{};  ///< by TdcChannel
  std::uint64_t other_edges = 0;                    ///< of no known channel
  std::uint64_t overflows = 0;                      ///< records that say that a counter overflowed; used like others
  std::uint64_t bad_fine = 0;                       ///< edges whose fine part is none of 0 to 12; taken as 1
  std::uint64_t global = 0, control = 0, ends = 0;
  std::map<unsigned, std::uint64_t> unknown;            ///< by type: bits 60 to 63
  std::map<unsigned, std::uint64_t> of_chip;            ///< hits by chip
  std::uint64_t out_of_order = 0;                       ///< hits that come after a later one
  Ticks most_out_of_order = 0;                          ///< by how much at most
  std::uint64_t damaged_places = 0, skipped_bytes = 0;  ///< Damage::skip

  [[nodiscard]] std::uint64_t all_edges() const;
};

/// What came of some bytes of a file, in their order.
struct PacketBlock {
  std::vector<Hit> hits{};
  std::vector<TdcEdge> edges{};
  void clear() {
    hits.clear();
    edges.clear();
  }
};

/// Decodes a file of hits piece by piece.
class HitReader {
 public:
  virtual ~HitReader() = default;
  /// The next bytes, a multiple of 16 but for the last ones of the file. What is found is appended. Throws
  /// Error(bad_file) for what is damaged.
  virtual void take(std::span<const std::byte> bytes, PacketBlock& block) = 0;
  /// After the last bytes. Throws Error(bad_file) for a file that was cut off.
  virtual void finish() = 0;
  /// The latest time so far that can be trusted; nothing before the first one.
  [[nodiscard]] virtual std::optional<Ticks> latest() const = 0;
  [[nodiscard]] const PacketCounts& counts() const { return counts_; }

 protected:
  PacketCounts counts_;
};

/// Decodes a TPX3 file: chunks of one chip each, of at most 65535 bytes, whose words are hits, edges of
/// the TDC, global time and messages. Nothing that the file declares decides how much is allocated: a word becomes one
/// hit or edge at most. Not thread-safe.
class PacketReader final : public HitReader {
 public:
  /// `name` stands for the file in messages; the layout must outlive the reader.
  PacketReader(std::string name, const ChipLayout& layout, Damage damage)
      : name_(std::move(name)), layout_(layout), damage_(damage) {}

  /// The next bytes: whole words (8 bytes), but for the last ones of the file. What is found is appended. Throws
  /// Error(bad_file) for a file that does not begin with a chunk, chunks of chips that the layout does not have, and,
  /// unless they are to be skipped, where no chunk begins after another.
  void take(std::span<const std::byte> bytes, PacketBlock& block) override;
  /// After the last bytes. Throws Error(bad_file) for a file that ends within a chunk, unless that is to be skipped.
  void finish() override;
  [[nodiscard]] std::optional<Ticks> latest() const override {
    return clock_.started() ? std::optional(clock_.latest()) : std::nullopt;
  }
  [[nodiscard]] const WrapClock& clock() const { return clock_; }

 private:
  void begin_chunk(std::uint64_t word, std::uint64_t offset);
  void damage_at(std::uint64_t offset, const std::string& fact);
  void take_words(std::span<const std::byte> words, PacketBlock& block);
  void take_edge(std::uint64_t word, PacketBlock& block);

  std::string name_;
  const ChipLayout& layout_;
  Damage damage_;
  WrapClock clock_;
  std::uint64_t offset_ = 0;                // of the next byte
  std::uint64_t chunk_at_ = 0;              // where the last chunk begins
  std::size_t chunk_bytes_ = 0, left_ = 0;  // of that chunk, and of them to come
  bool lost_ = false;                       // looking for the next chunk
  unsigned chip_ = 0;
  ChipLayout::Place place_{};
};

}  // namespace sonde::stem
