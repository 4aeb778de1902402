// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/packet_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "sonde/instruments/stem/timepix/test_words.h"
#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using namespace testing;
using sonde::testing::error_of;
using ::testing::HasSubstr;

struct Whole {
  PacketBlock block;
  PacketCounts counts;
};

/// `piece` bytes at a time, 0: all at once.
Whole read(std::span<const std::byte> bytes, const ChipLayout& layout = {}, Damage damage = Damage::stop,
           std::size_t piece = 0) {
  PacketReader reader("in.tpx3", layout, damage);
  Whole whole;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t size = piece == 0 ? bytes.size() : std::min(piece, bytes.size() - at);
    reader.take(bytes.subspan(at, size), whole.block);
    at += size;
  }
  reader.finish();
  whole.counts = reader.counts();
  return whole;
}

std::string error_in(std::span<const std::byte> bytes, Damage damage = Damage::stop) {
  return error_of(ErrorKind::bad_file, [&] { (void)read(bytes, {}, damage); });
}

void expect_hits(const std::vector<Hit>& found, const std::vector<KnownHit>& known) {
  ASSERT_EQ(found.size(), known.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    ASSERT_EQ(found[i].time, known[i].time) << i;
    ASSERT_EQ(found[i].row, known[i].y) << i;
    ASSERT_EQ(found[i].col, known[i].x) << i;
    ASSERT_EQ(found[i].tot, known[i].tot) << i;
  }
}

TEST(PacketReader, EveryPixelComesBack) {
  std::vector<KnownHit> hits;
  for (int y = 0; y < 256; ++y)
    for (int x = 0; x < 256; ++x) hits.push_back({1000 + 3 * y * 256 + x, x, y, 1 + (x * 7 + y) % 1023});
  WordFile file;
  file.words(words_of(hits), 8191);
  expect_hits(read(file.bytes()).block.hits, hits);
}

TEST(PacketReader, HitsComeBackThroughWraps) {
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    const auto hits = random_hits(3000, 2e7, seed);  // 94 s
    WordFile file;
    file.words(words_of(hits), 77);
    expect_hits(read(file.bytes()).block.hits, hits);
  }
}

// A word of the manual's layout, put together by hand: double column 5, super pixel 2, pixel 6; ToA 3, ToT 9, FToA 2,
// SPIDR 1.
TEST(PacketReader, AWordByHand) {
  WordFile file;
  file.chunk({std::uint64_t{0xb} << 60 | std::uint64_t{5 << 9 | 2 << 3 | 6} << 44 | std::uint64_t{3} << 30 |
              std::uint64_t{9} << 20 | std::uint64_t{2} << 16 | 1});
  const Whole whole = read(file.bytes());
  ASSERT_EQ(whole.block.hits.size(), 1U);
  EXPECT_EQ(whole.block.hits[0].col, 11);
  EXPECT_EQ(whole.block.hits[0].row, 10);
  EXPECT_EQ(whole.block.hits[0].tot, 9);
  EXPECT_EQ(whole.block.hits[0].time, (16384 + 3) * 16 - 2);  // 1.5625 ns
}

TEST(PacketReader, EdgesComeBackToTheSixthOfATick) {
  std::mt19937_64 random(11);
  std::vector<std::uint64_t> words;
  std::vector<std::int64_t> times;
  const unsigned kinds[] = {0xf, 0xa, 0xe, 0xb};
  std::int64_t time = 0;
  for (int i = 0; i < 4000; ++i) {  // 500 s: more than four periods
    time += static_cast<std::int64_t>(random() % 960'000'000);
    times.push_back(time);
    words.push_back(edge_word(time, kinds[i % 4], static_cast<std::uint64_t>(i)));
  }
  WordFile file;
  file.words(words);
  const Whole whole = read(file.bytes());
  ASSERT_EQ(whole.block.edges.size(), times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    ASSERT_EQ(whole.block.edges[i].time, times[i]) << i;
    ASSERT_EQ(static_cast<int>(whole.block.edges[i].channel), static_cast<int>(i % 4));
  }
  EXPECT_THAT(whole.counts.edges, ::testing::Each(1000U));
}

TEST(PacketReader, FineTimeOfOldFirmwareIsOne) {
  WordFile file;
  const std::uint64_t zero = edge_word(1200) & ~(std::uint64_t{15} << 5), large = zero | std::uint64_t{13} << 5;
  file.chunk({zero, large, edge_word(1211)});
  const Whole whole = read(file.bytes());
  EXPECT_EQ(whole.block.edges[0].time, 1200);
  EXPECT_EQ(whole.block.edges[1].time, 1200);
  EXPECT_EQ(whole.block.edges[2].time, 1211);
  EXPECT_EQ(whole.counts.bad_fine, 1U);
}

TEST(PacketReader, PiecesDoNotMatter) {
  const auto hits = random_hits(700, 300, 5);
  WordFile file;
  file.words(words_of(hits), 33);
  file.chunk({});
  file.words({edge_word(7)}, 1);
  for (const std::size_t piece : {std::size_t{8}, std::size_t{24}, std::size_t{1000}}) {
    const Whole whole = read(file.bytes(), {}, Damage::stop, piece);
    expect_hits(whole.block.hits, hits);
    EXPECT_EQ(whole.block.edges.size(), 1U);
    EXPECT_EQ(whole.counts.chunks, 24U);
  }
}

TEST(PacketReader, ChipsAreWhereTheLayoutSays) {
  const ChipLayout layout({{.number = 0, .x = 0, .y = 300}, {.number = 3, .x = 260, .y = 0, .quarter_turns = 1}});
  WordFile file;
  file.chunk({hit_word({100, 10, 3, 1})}, 3);
  file.chunk({hit_word({200, 10, 3, 1})}, 0);
  const Whole whole = read(file.bytes(), layout);
  ASSERT_EQ(whole.block.hits.size(), 2U);
  EXPECT_EQ(whole.block.hits[0].col, 260 + 252);
  EXPECT_EQ(whole.block.hits[0].row, 10);
  EXPECT_EQ(whole.block.hits[1].col, 10);
  EXPECT_EQ(whole.block.hits[1].row, 303);
  EXPECT_EQ(whole.counts.of_chip, (std::map<unsigned, std::uint64_t>{{0, 1}, {3, 1}}));
}

TEST(PacketReader, OtherWordsAreCounted) {
  WordFile file;
  const auto of_type = [](std::uint64_t type) { return type << 60 | 12345; };
  std::vector<std::uint64_t> words = {of_type(0x5), of_type(0x7), of_type(0x7), of_type(0x2),
                                      of_type(0xc), of_type(0xc), of_type(0xa), std::uint64_t{0x61} << 56};
  for (const std::uint64_t word : global_words(1 << 20)) words.push_back(word);
  file.chunk(words);
  const PacketCounts counts = read(file.bytes()).counts;
  EXPECT_EQ(counts.control, 1U);
  EXPECT_EQ(counts.ends, 2U);
  EXPECT_EQ(counts.global, 2U);
  EXPECT_EQ(counts.integrated, 1U);
  EXPECT_EQ(counts.other_edges, 1U);
  EXPECT_EQ(counts.unknown, (std::map<unsigned, std::uint64_t>{{0x2, 1}, {0xc, 2}}));
  EXPECT_EQ(counts.hits, 0U);
}

TEST(PacketReader, OutOfOrderHitsAreCountedWithTheirDistance) {
  WordFile file;
  file.chunk(words_of({{1000, 1, 1}, {400, 1, 1}, {2000, 1, 1}, {1999, 1, 1}, {2000, 1, 1}}));
  const PacketCounts counts = read(file.bytes()).counts;
  EXPECT_EQ(counts.out_of_order, 2U);
  EXPECT_EQ(counts.most_out_of_order, 600);
}

TEST(PacketReader, ForeignFilesAreNamed) {
  EXPECT_THAT(error_in({}), HasSubstr("in.tpx3: not a TPX3 file: it is empty"));
  const std::vector<std::byte> zeros(64);
  EXPECT_THAT(error_in(zeros), HasSubstr("in.tpx3: not a TPX3 file: it does not begin with a chunk"));
  EXPECT_THAT(error_in(zeros, Damage::skip), HasSubstr("in.tpx3: not a TPX3 file: it does not begin with a chunk"));
  EXPECT_THAT(error_in(std::span(zeros).first(3)), HasSubstr("in.tpx3: damaged at byte 0: 3 bytes are left"));
}

TEST(PacketReader, AChunkThatIsCutOffIsAnError) {
  WordFile file;
  file.words(words_of(random_hits(25, 100, 1)), 10);
  file.raw().resize(8 + 80 + 8 + 80 + 8 + 20);
  const std::string told = error_in(file.bytes());
  EXPECT_THAT(told, HasSubstr("in.tpx3: ends within a chunk: the one at byte 176 has 20 of 40 bytes, after 2 whole "
                              "chunks"));
  EXPECT_THAT(told, HasSubstr("hint: give --damage skip to use what is there"));
  const Whole whole = read(file.bytes(), {}, Damage::skip);
  EXPECT_EQ(whole.block.hits.size(), 22U);
  EXPECT_EQ(whole.counts.damaged_places, 1U);
  EXPECT_EQ(whole.counts.skipped_bytes, 4U);
}

TEST(PacketReader, DamageIsAnErrorOrSkippedToTheNextChunk) {
  const auto hits = random_hits(30, 100, 1);
  WordFile file;
  file.words(words_of(hits), 10);
  file.raw()[88] = std::byte{0x55};  // the mark of the second chunk
  EXPECT_THAT(error_in(file.bytes()),
              HasSubstr("in.tpx3: damaged at byte 88: no chunk begins there\nhint: give --damage "
                        "skip to leave out what is before the next chunk"));
  const Whole whole = read(file.bytes(), {}, Damage::skip);
  ASSERT_EQ(whole.block.hits.size(), 20U);
  EXPECT_EQ(whole.block.hits[10].time, hits[20].time);
  EXPECT_EQ(whole.counts.damaged_places, 1U);
  EXPECT_EQ(whole.counts.skipped_bytes, 88U);
  file.raw()[88] = std::byte{0x54};
  file.raw()[88 + 6] = std::byte{81};  // its size
  EXPECT_THAT(error_in(file.bytes()), HasSubstr("in.tpx3: damaged at byte 88: a chunk of 81 bytes; expected a multiple "
                                                "of 8"));
}

TEST(PacketReader, AChipOutsideTheLayoutIsAnError) {
  WordFile file;
  file.chunk({hit_word({1, 2, 3})}, 0);
  file.chunk({hit_word({1, 2, 3})}, 4);
  for (const Damage damage : {Damage::stop, Damage::skip}) {
    const std::string told = error_in(file.bytes(), damage);
    EXPECT_THAT(told, HasSubstr("in.tpx3: a chunk of chip 4 at byte 16, which the layout does not have (1 chip)"));
    EXPECT_THAT(told, HasSubstr("give --chips"));
  }
}

}  // namespace
}  // namespace sonde::stem
