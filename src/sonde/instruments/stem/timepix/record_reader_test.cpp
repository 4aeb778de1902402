// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/record_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sonde/instruments/stem/timepix/test_words.h"
#include "sonde/instruments/stem/timepix/timepix_events.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using stem::testing::KnownHit;
using ::testing::HasSubstr;

/// One record, byte by byte: time = 16 arrival - fine.
std::vector<std::byte> record_of(std::uint32_t index, std::uint64_t arrival, unsigned overflow, unsigned fine,
                                 unsigned tot) {
  std::vector<std::byte> bytes;
  const auto put = [&](std::uint64_t value, int count) {
    for (int i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
  };
  put(index, 4);
  put(arrival, 8);
  put(overflow, 1);
  put(fine, 1);
  put(tot, 2);
  return bytes;
}

std::vector<std::byte> records_of(const std::vector<KnownHit>& hits, int cols = 256) {
  std::vector<std::byte> bytes;
  for (const KnownHit& hit : hits) {
    const auto arrival = static_cast<std::uint64_t>((hit.time + 15) / 16);
    const auto one = record_of(static_cast<std::uint32_t>(hit.x + hit.y * cols), arrival, 0,
                               static_cast<unsigned>(static_cast<std::int64_t>(arrival) * 16 - hit.time),
                               static_cast<unsigned>(hit.tot));
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return bytes;
}

struct RecordsRead {
  PacketBlock block;
  PacketCounts counts;
  std::optional<Ticks> latest;
};

RecordsRead read_records(const std::vector<std::byte>& bytes, Damage damage = Damage::stop,
                         const ChipLayout& layout = ChipLayout()) {
  RecordReader reader("a.t3p", layout, damage);
  RecordsRead read;
  for (std::size_t at = 0; at < bytes.size(); at += 48)
    reader.take(std::span(bytes).subspan(at, std::min<std::size_t>(48, bytes.size() - at)), read.block);
  reader.finish();
  read.counts = reader.counts();
  read.latest = reader.latest();
  return read;
}

TEST(RecordReader, HitsAreThoseThatWereWritten) {
  const std::vector<KnownHit> hits = stem::testing::random_hits(1000, 700, 5);
  const RecordsRead read = read_records(records_of(hits));
  ASSERT_EQ(read.block.hits.size(), hits.size());
  for (std::size_t i = 0; i < hits.size(); ++i) {
    EXPECT_EQ(read.block.hits[i].time, hits[i].time);
    EXPECT_EQ(read.block.hits[i].row, hits[i].y);
    EXPECT_EQ(read.block.hits[i].col, hits[i].x);
    EXPECT_EQ(read.block.hits[i].tot, hits[i].tot);
  }
  EXPECT_EQ(read.counts.hits, 1000U);
  EXPECT_EQ(read.counts.out_of_order, 0U);
  EXPECT_EQ(read.latest, hits.back().time);
}

TEST(RecordReader, ColumnsAreThoseOfTheLayout) {
  const ChipLayout two({{.number = 0}, {.number = 1, .x = 256}});
  const RecordsRead read = read_records(record_of(512 * 3 + 300, 10, 0, 2, 7), Damage::stop, two);
  EXPECT_EQ(read.block.hits.at(0).row, 3);
  EXPECT_EQ(read.block.hits.at(0).col, 300);
  EXPECT_EQ(read.block.hits.at(0).time, 158);
}

TEST(RecordReader, OneWrongTimeDoesNotMoveTheClock) {
  std::vector<KnownHit> hits = stem::testing::random_hits(10, 700, 5);
  const Ticks last = hits.back().time;
  hits.insert(hits.begin() + 4, {.time = 3'600 * ticks_per_s, .x = 1, .y = 1});
  EXPECT_EQ(read_records(records_of(hits)).latest, last);
  // Two that agree do: the beam was off for an hour.
  hits.push_back({.time = 3'600 * ticks_per_s + 5, .x = 1, .y = 1});
  hits.push_back({.time = 3'600 * ticks_per_s + 9, .x = 1, .y = 1});
  EXPECT_EQ(read_records(records_of(hits)).latest, 3'600 * ticks_per_s + 9);
}

TEST(RecordReader, OverflowsAreCounted) { EXPECT_EQ(read_records(record_of(5, 10, 1, 0, 1)).counts.overflows, 1U); }

TEST(RecordReader, DamageIsRefusedOrLeftOut) {
  const auto error = [](const std::vector<std::byte>& bytes) {
    return error_of(ErrorKind::bad_file, [&] { (void)read_records(bytes); });
  };
  EXPECT_THAT(error({}), HasSubstr("a.t3p: not a file of hits: it is empty"));
  std::vector<std::byte> bytes = record_of(65536, 10, 0, 0, 1);
  EXPECT_THAT(error(bytes), HasSubstr("a.t3p: damaged at byte 0: a hit in pixel 65536 of a detector of 256 x 256"));
  EXPECT_THAT(error(record_of(1, ~std::uint64_t{0}, 0, 0, 1)),
              HasSubstr("damaged at byte 0: a time of 18446744073709551615 steps of 25 ns"));
  const auto good = record_of(1, 10, 0, 0, 1);
  bytes.insert(bytes.end(), good.begin(), good.end());
  bytes.resize(bytes.size() + 5);
  EXPECT_EQ(read_records(bytes, Damage::skip).counts.hits, 1U);
  EXPECT_EQ(read_records(bytes, Damage::skip).counts.damaged_places, 2U);
  EXPECT_EQ(read_records(bytes, Damage::skip).counts.skipped_bytes, 21U);
  EXPECT_THAT(error({bytes.begin() + 16, bytes.end()}),
              HasSubstr("a.t3p: ends within a record: 5 bytes after 1 whole"));
}

/// Of a file of this name.
TimepixEvents events_of(const TemporaryFolder& folder, const std::string& name) {
  TimepixOptions options;
  options.dwell = "5us";
  options.scan_shape = "9x11";
  const ChipLayout layout;
  const FileSurvey survey = survey_file(folder.file(name), layout, options.damage);
  return find_events(folder.file(name), layout, choose_timing(folder.file(name), survey, options), options,
                     Budget(std::size_t{1} << 30, "test"));
}

TEST(RecordReader, EventsOfRecordsAreThoseOfPackets) {
  const TemporaryFolder folder;
  const std::vector<KnownHit> hits =
      stem::testing::out_of_order(stem::testing::random_hits(3000, 100, 8), 60 * stem::testing::ticks_us, 2);
  stem::testing::WordFile words;
  words.words(stem::testing::words_of(hits));
  words.save(folder.file("in.tpx3"));
  sonde::testing::write_bytes(folder.file("in.T3P"), [&] {
    std::vector<std::uint8_t> bytes;
    for (const std::byte byte : records_of(hits)) bytes.push_back(std::to_integer<std::uint8_t>(byte));
    return bytes;
  }());
  const TimepixEvents packets = events_of(folder, "in.tpx3"), records = events_of(folder, "in.T3P");
  ASSERT_EQ(records.index.count(), packets.index.count());
  ASSERT_GT(records.index.count(), 1000);
  const auto equal = [](const Array& a, const Array& b) {
    return a.dtype() == b.dtype() && a.shape() == b.shape() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(b.count()) * size_bytes(b.dtype())) == 0;
  };
  EXPECT_TRUE(equal(records.index, packets.index));
  EXPECT_TRUE(equal(records.offsets, packets.offsets));
  EXPECT_EQ(records.packets.out_of_order, packets.packets.out_of_order);
  EXPECT_EQ(records.packets.most_out_of_order, packets.packets.most_out_of_order);
}

}  // namespace
}  // namespace sonde::stem
