// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/record_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/byte_order.h"

namespace sonde::stem {
namespace {

constexpr std::size_t record_size = 16;
// 28 years of 25 ns: fine ticks of it are far from 2^63.
constexpr std::uint64_t last_arrival = std::uint64_t{1} << 55;

}  // namespace

void RecordReader::saw(Ticks time) {
  if (!latest_) {
    latest_ = time;
  } else if (time - *latest_ < WrapClock::slack) {
    latest_ = std::max(*latest_, time);
    if (time >= *latest_) proposed_.reset();
  } else if (proposed_ && std::abs(time - *proposed_) < WrapClock::slack) {
    latest_ = std::max(time, *proposed_);
    proposed_.reset();
  } else {
    proposed_ = time;
  }
}

void RecordReader::take(std::span<const std::byte> bytes, PacketBlock& block) {
  for (; bytes.size() >= record_size; bytes = bytes.subspan(record_size), offset_ += record_size) {
    const std::byte* const at = bytes.data();
    const auto index = load_little<std::uint32_t>(at);
    const auto arrival = load_little<std::uint64_t>(at + 4);
    const auto pixels = static_cast<std::uint64_t>(layout_.rows() * layout_.cols());
    if (index >= pixels || arrival > last_arrival) {
      if (damage_ == Damage::stop)
        throw Error(ErrorKind::bad_file,
                    index >= pixels
                        ? fmt::format("{}: damaged at byte {}: a hit in pixel {} of a detector of {} x {}", name_,
                                      offset_, index, layout_.rows(), layout_.cols())
                        : fmt::format("{}: damaged at byte {}: a time of {} steps of 25 ns", name_, offset_, arrival))
            .hint("describe a larger detector with " + setting("chips") + ", or give " + setting("damage", "skip") +
                  " to leave such records out");
      ++counts_.damaged_places;
      counts_.skipped_bytes += record_size;
      continue;
    }
    const Ticks time = static_cast<Ticks>(arrival) * 16 - static_cast<Ticks>(std::to_integer<int>(at[13]));
    if (latest_ && time < *latest_) {
      ++counts_.out_of_order;
      counts_.most_out_of_order = std::max(counts_.most_out_of_order, *latest_ - time);
    }
    saw(time);
    ++counts_.hits;
    ++counts_.of_chip[0];
    if (at[12] != std::byte{0}) ++counts_.overflows;
    const auto cols = static_cast<std::uint32_t>(layout_.cols());
    block.hits.push_back({time, static_cast<std::uint16_t>(index / cols), static_cast<std::uint16_t>(index % cols),
                          load_little<std::uint16_t>(at + 14)});
  }
  left_over_ = bytes.size();
  offset_ += bytes.size();
}

void RecordReader::finish() {
  if (offset_ == 0)
    throw Error(ErrorKind::bad_file, name_ + ": not a file of hits: it is empty")
        .hint("expected records of 16 bytes (.t3p)");
  if (left_over_ == 0) return;
  if (damage_ == Damage::stop)
    throw Error(ErrorKind::bad_file, fmt::format("{}: ends within a record: {} bytes after {} whole ones", name_,
                                                 left_over_, offset_ / record_size))
        .hint("give " + setting("damage", "skip") + " to use what is there");
  ++counts_.damaged_places;
  counts_.skipped_bytes += left_over_;
}

std::unique_ptr<HitReader> open_hits(const std::string& path, const ChipLayout& layout, Damage damage) {
  if (to_lower(path).ends_with(".t3p")) return std::make_unique<RecordReader>(path, layout, damage);
  return std::make_unique<PacketReader>(path, layout, damage);
}

}  // namespace sonde::stem
