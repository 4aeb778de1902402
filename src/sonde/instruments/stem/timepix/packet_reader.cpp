// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/packet_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/io/byte_order.h"

namespace sonde::stem {
namespace {

constexpr std::size_t word_size = 8;

std::optional<TdcChannel> channel_of(std::uint64_t word) {
  switch (packet::bits(word, 56, 4)) {
    case 0xf:
      return TdcChannel::tdc1_rise;
    case 0xa:
      return TdcChannel::tdc1_fall;
    case 0xe:
      return TdcChannel::tdc2_rise;
    case 0xb:
      return TdcChannel::tdc2_fall;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::uint64_t PacketCounts::all_edges() const { return std::accumulate(edges.begin(), edges.end(), std::uint64_t{0}); }

void PacketReader::take(std::span<const std::byte> bytes, PacketBlock& block) {
  while (bytes.size() >= word_size) {
    const std::size_t taken = left_ > 0 ? std::min(left_, bytes.size() / word_size * word_size) : word_size;
    if (left_ > 0) {
      take_words(bytes.first(taken), block);
      left_ -= taken;
    } else {
      begin_chunk(load_little<std::uint64_t>(bytes.data()), offset_);
    }
    offset_ += taken;
    bytes = bytes.subspan(taken);
  }
  if (bytes.empty()) return;
  if (left_ == 0) damage_at(offset_, fmt::format("{} bytes are left; expected a chunk of 8 or more", bytes.size()));
  counts_.skipped_bytes += bytes.size();  // of a chunk that is cut off, which finish() reports
  offset_ += bytes.size();
}

void PacketReader::finish() {
  if (offset_ == 0)
    throw Error(ErrorKind::bad_file, name_ + ": not a TPX3 file: it is empty")
        .hint("expected chunks that begin with TPX3");
  if (left_ == 0) return;
  if (damage_ == Damage::stop)
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: ends within a chunk: the one at byte {} has {} of {} bytes, after {} whole chunks",
                            name_, chunk_at_, offset_ - chunk_at_ - word_size, chunk_bytes_, counts_.chunks - 1))
        .hint("give " + setting("damage", "skip") + " to use what is there");
  ++counts_.damaged_places;
  left_ = 0;
}

void PacketReader::damage_at(std::uint64_t offset, const std::string& fact) {
  if (lost_) return;
  if (damage_ == Damage::stop)
    throw Error(ErrorKind::bad_file, fmt::format("{}: damaged at byte {}: {}", name_, offset, fact))
        .hint("give " + setting("damage", "skip") + " to leave out what is before the next chunk");
  ++counts_.damaged_places;
  lost_ = true;
}

void PacketReader::begin_chunk(std::uint64_t word, std::uint64_t offset) {
  const bool marked = packet::bits(word, 0, 32) == chunk_mark;
  if (!marked && offset == 0)
    throw Error(ErrorKind::bad_file, name_ + ": not a TPX3 file: it does not begin with a chunk")
        .hint("expected the raw data of a Timepix3 detector, in chunks that begin with TPX3");
  const std::size_t size = packet::bits(word, 48, 16);
  if (!marked) {
    damage_at(offset, "no chunk begins there");
  } else if (size % word_size != 0) {
    damage_at(offset, fmt::format("a chunk of {} bytes; expected a multiple of 8", size));
  } else {
    const auto chip = static_cast<unsigned>(packet::bits(word, 32, 8));
    const ChipLayout::Place* place = layout_.find(chip);
    if (place == nullptr) {
      Error error(ErrorKind::bad_file,
                  fmt::format("{}: a chunk of chip {} at byte {}, which the layout does not have ({} chip{})", name_,
                              chip, offset, layout_.chips().size(), layout_.chips().size() == 1 ? "" : "s"));
      throw std::move(error).hint(
          "describe the detector with a table [[chip]] for each of its chips in a file, and give " + setting("chips"));
    }
    lost_ = false;
    ++counts_.chunks;
    chip_ = chip;
    place_ = *place;
    chunk_at_ = offset;
    chunk_bytes_ = left_ = size;
    return;
  }
  counts_.skipped_bytes += word_size;
}

void PacketReader::take_words(std::span<const std::byte> words, PacketBlock& block) {
  const ChipLayout::Place place = place_;
  WrapClock clock = clock_;  // in registers, which calls by reference would prevent
  std::uint64_t hits = 0, out_of_order = 0;
  Ticks most = counts_.most_out_of_order;
  for (std::size_t at = 0; at < words.size(); at += word_size) {
    const std::uint64_t word = load_little<std::uint64_t>(words.data() + at);
    if (packet::type(word) == packet::hit) [[likely]] {
      const Ticks before = clock.started() ? clock.latest() : std::numeric_limits<Ticks>::min();
      const Ticks time = clock.hit(packet::hit_time(word));
      if (time < before) {
        ++out_of_order;
        most = std::max(most, before - time);
      }
      ++hits;
      const int column = packet::column(word), row = packet::row(word);
      block.hits.push_back({time, place.y_of(column, row), place.x_of(column, row), packet::tot(word)});
      continue;
    }
    clock_ = clock;
    switch (packet::type(word)) {
      case packet::tdc:
        take_edge(word, block);
        break;
      case packet::integrated:
        ++counts_.integrated;
        break;
      case packet::global:
        ++counts_.global;
        if (packet::bits(word, 56, 4) == 4) clock_.global_low(packet::global_low(word));
        if (packet::bits(word, 56, 4) == 5) clock_.global_high(packet::global_high(word));
        break;
      case packet::control:
        ++counts_.control;
        break;
      case packet::end:
        ++counts_.ends;
        break;
      default:
        ++counts_.unknown[packet::type(word)];
    }
    clock = clock_;
  }
  clock_ = clock;
  counts_.hits += hits;
  counts_.out_of_order += out_of_order;
  counts_.most_out_of_order = most;
  if (hits > 0) counts_.of_chip[chip_] += hits;
}

void PacketReader::take_edge(std::uint64_t word, PacketBlock& block) {
  const std::optional<TdcChannel> channel = channel_of(word);
  if (!channel) {
    ++counts_.other_edges;
    return;
  }
  unsigned fine = std::max(packet::edge_fine(word), 1U);  // old firmware writes 0
  if (fine > 12) {
    ++counts_.bad_fine;
    fine = 1;
  }
  ++counts_.edges[static_cast<std::size_t>(*channel)];
  const Ticks time = clock_.edge(packet::edge_time(word));
  block.edges.push_back({time * fine_per_tick + static_cast<FineTicks>(fine - 1), *channel});
}

}  // namespace sonde::stem
