// SPDX-License-Identifier: Apache-2.0
// Generator E: electrons known by pixel and time, written as words of a file by test_words.h; what comes back is
// compared with positions counted in whole numbers.
#include "sonde/instruments/stem/timepix/timepix_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "sonde/instruments/stem/timepix/test_words.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using namespace testing;
using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::HasSubstr;

constexpr std::int64_t tick = 6;  // in 260.41666 ps

struct Electrons {
  std::vector<std::int64_t> time;  // of the first hit, 1.5625 ns
  std::vector<int> x, y;
  std::vector<KnownHit> hits;
};

/// Electrons that no other one touches within 200 ns: each makes a blob of one to four hits within 60 ns about one that
/// has most of the time over threshold, so that its pixel is the centroid.
Electrons known_electrons(std::size_t count, double mean_ticks, std::uint32_t seed, std::int64_t start = 0) {
  std::mt19937 random(seed);
  std::exponential_distribution<double> wait(1 / mean_ticks);
  std::uniform_int_distribution<int> place(1, 254), more(0, 3), late(0, 38);
  Electrons electrons;
  double time = static_cast<double>(start);
  std::size_t recent = 0;
  while (electrons.time.size() < count) {
    time += wait(random);
    const int x = place(random), y = place(random);
    const auto first = static_cast<std::int64_t>(time);
    while (recent < electrons.time.size() && electrons.time[recent] < first - 200) ++recent;
    bool touches = false;
    for (std::size_t i = recent; i < electrons.time.size(); ++i)
      touches = touches || (std::abs(electrons.x[i] - x) <= 3 && std::abs(electrons.y[i] - y) <= 3);
    if (touches) continue;
    electrons.time.push_back(first);
    electrons.x.push_back(x);
    electrons.y.push_back(y);
    electrons.hits.push_back({first, x, y, 300});
    const int neighbours = more(random);
    for (int i = 0; i < neighbours; ++i)
      electrons.hits.push_back({first + late(random), x + (i < 2 ? 1 : -1), y + (i == 1 ? 1 : 0), 20});
  }
  return electrons;
}

using Lists = std::map<Index, std::multiset<std::uint32_t>>;  // pixels by position

Lists lists_of(const TimepixEvents& events) {
  Lists lists;
  const auto offsets = events.offsets.view<std::uint64_t, 1>();
  const auto index = events.index.view<std::uint32_t, 1>();
  for (Index p = 0; p + 1 < events.offsets.count(); ++p)
    for (std::uint64_t e = offsets(p); e < offsets(p + 1); ++e) lists[p].insert(index(static_cast<Index>(e)));
  return lists;
}

TimepixEvents find(const std::string& path, const TimepixOptions& options, const ChipLayout& layout = {}) {
  options.check();
  const ScanTiming timing = choose_timing(path, survey_file(path, layout, options.damage), options);
  return find_events(path, layout, timing, options, Budget(std::size_t{1} << 30, "test"));
}

void save(const std::string& path, const std::vector<KnownHit>& hits, std::size_t chunk = 500) {
  WordFile file;
  file.words(words_of(hits), chunk);
  file.save(path);
}

constexpr Index scan_rows = 13, scan_cols = 29;

// 4 hits a position; the first electron begins the scan.
TEST(FindEvents, RoundTripIsExact) {
  const TemporaryFolder folder;
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    const Electrons known = known_electrons(2000, 160, seed);
    save(folder.file("in.tpx3"), out_of_order(known.hits, 100 * ticks_us, seed));
    const TimepixEvents events = find(folder.file("in.tpx3"), {.dwell = "1us", .scan_shape = "13x29"});
    Lists expected;
    std::uint64_t after = 0;
    for (std::size_t i = 0; i < known.time.size(); ++i) {
      const std::int64_t position = (known.time[i] - known.time[0]) / ticks_us;
      if (position < scan_rows * scan_cols)
        expected[position].insert(static_cast<std::uint32_t>(known.y[i] * 256 + known.x[i]));
      else
        ++after;
    }
    EXPECT_EQ(lists_of(events), expected) << seed;
    EXPECT_EQ(events.electrons, known.time.size());
    EXPECT_EQ(events.after, after);
    EXPECT_GT(after, 0U);
    EXPECT_EQ(events.before + events.flyback + events.late_hits + events.stray_hits, 0U);
    EXPECT_EQ(events.packets.hits, known.hits.size());
    EXPECT_EQ(events.reached, scan_rows * scan_cols);
  }
}

// 60 s of hits: the clock of hits wraps twice.
TEST(FindEvents, RoundTripThroughWraps) {
  const TemporaryFolder folder;
  const Electrons known = known_electrons(3000, 1.3e7, 5, 40'000'000);
  save(folder.file("in.tpx3"), known.hits);
  const TimepixEvents events = find(folder.file("in.tpx3"), {.dwell = "0.2s", .scan_shape = "29x13"});
  Lists expected;
  for (std::size_t i = 0; i < known.time.size(); ++i)
    if (const std::int64_t position = (known.time[i] - known.time[0]) / 128'000'000; position < 29 * 13)
      expected[position].insert(static_cast<std::uint32_t>(known.y[i] * 256 + known.x[i]));
  EXPECT_EQ(lists_of(events), expected);
  EXPECT_GT(events.duration_s, 55);
}

/// Lines of `cols` positions and as much flyback as six more, each line begun by an edge, which comes into the file
/// with hits of up to 50 us later.
struct LineScan {
  Electrons known;
  std::vector<std::int64_t> edges;
};
LineScan line_scan(std::uint32_t seed, Index rows, unsigned kind, const std::string& path) {
  std::mt19937 random(seed);
  LineScan scan{known_electrons(4000, 80, seed), {}};
  std::int64_t edge = 20 * fine_us + 5;
  for (Index row = 0; row < rows; ++row) {
    scan.edges.push_back(edge);
    edge += 35 * fine_us + static_cast<std::int64_t>(random() % 200);  // the period varies by 50 ns
  }
  std::vector<std::pair<std::int64_t, std::uint64_t>> words;
  for (const KnownHit& hit : scan.known.hits)
    words.emplace_back(hit.time + static_cast<std::int64_t>(random() % 32'000), hit_word(hit));
  for (const std::int64_t one : scan.edges)
    words.emplace_back(one / tick + static_cast<std::int64_t>(random() % 32'000), edge_word(one, kind));
  std::stable_sort(words.begin(), words.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::uint64_t> all;
  for (const auto& [_, word] : words) all.push_back(word);
  WordFile file;
  file.words(all, 700);
  file.save(path);
  return scan;
}

struct Counted {
  Lists lists;
  std::uint64_t before = 0, flyback = 0, after = 0;
};
Counted by_definition(const LineScan& scan, Index cols, std::int64_t dwell, std::int64_t delay) {
  Counted counted;
  const auto rows = static_cast<Index>(scan.edges.size());
  for (std::size_t i = 0; i < scan.known.time.size(); ++i) {
    const std::int64_t time = scan.known.time[i] * tick;
    Index row = -1;
    while (row + 1 < rows && scan.edges[static_cast<std::size_t>(row + 1)] + delay <= time) ++row;
    if (row < 0) {
      ++counted.before;
      continue;
    }
    const std::int64_t col = (time - scan.edges[static_cast<std::size_t>(row)] - delay) / dwell;
    if (col < cols)
      counted.lists[row * cols + col].insert(static_cast<std::uint32_t>(scan.known.y[i] * 256 + scan.known.x[i]));
    else
      ++(row == rows - 1 ? counted.after : counted.flyback);
  }
  return counted;
}

TEST(FindEvents, LinesFollowTheEdges) {
  const TemporaryFolder folder;
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    const LineScan scan = line_scan(seed, scan_rows, 0xf, folder.file("in.tpx3"));
    const TimepixEvents events = find(folder.file("in.tpx3"), {.dwell = "1us", .scan_shape = "13x29"});
    ASSERT_TRUE(events.timing.by_lines);
    const Counted expected = by_definition(scan, scan_cols, fine_us, 0);
    EXPECT_EQ(lists_of(events), expected.lists) << seed;
    EXPECT_EQ(events.before, expected.before);
    EXPECT_EQ(events.flyback, expected.flyback);
    EXPECT_EQ(events.after, expected.after);
    EXPECT_GT(events.flyback, 0U);
    EXPECT_EQ(events.trigger_edges, static_cast<std::uint64_t>(scan_rows));
    EXPECT_NEAR(events.line_s, 35e-6, 50e-9);
  }
}

TEST(FindEvents, ADelayMovesLinesEitherWay) {
  const TemporaryFolder folder;
  const LineScan scan = line_scan(4, scan_rows, 0xb, folder.file("in.tpx3"));  // falls of TDC2
  for (const std::int64_t delay : {std::int64_t{4}, std::int64_t{-9}}) {
    const TimepixEvents events = find(folder.file("in.tpx3"), {.dwell = "1us",
                                                               .scan_shape = "13x29",
                                                               .lines = LineTrigger::tdc2,
                                                               .edge = Slope::fall,
                                                               .delay = std::to_string(delay) + "us"});
    const Counted expected = by_definition(scan, scan_cols, fine_us, delay * fine_us);
    EXPECT_EQ(lists_of(events), expected.lists) << delay;
    EXPECT_EQ(events.flyback, expected.flyback);
  }
}

TEST(FindEvents, TheFirstEdgeStartsASteadyScan) {
  const TemporaryFolder folder;
  const LineScan scan = line_scan(6, 1, 0xf, folder.file("in.tpx3"));
  const TimepixEvents events = find(folder.file("in.tpx3"), {.dwell = "700ns", .scan_shape = "5x60"});
  EXPECT_FALSE(events.timing.by_lines);
  Lists expected;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < scan.known.time.size(); ++i) {
    const std::int64_t since = scan.known.time[i] * tick - scan.edges[0];
    if (since < 0)
      ++before;
    else if (since / 2688 < 300)
      expected[since / 2688].insert(static_cast<std::uint32_t>(scan.known.y[i] * 256 + scan.known.x[i]));
  }
  EXPECT_EQ(lists_of(events), expected);
  EXPECT_EQ(events.before, before);
  EXPECT_GT(before, 0U);
}

TEST(FindEvents, WithoutClusteringEveryHitIsAnEvent) {
  const TemporaryFolder folder;
  const auto hits = random_hits(300'000, 10, 8);  // more than fit into the first part of the list
  save(folder.file("in.tpx3"), out_of_order(hits, 64'000, 3), 8000);
  const TimepixEvents events =
      find(folder.file("in.tpx3"), {.dwell = "25us", .scan_shape = "13x29", .cluster_time = "0"});
  Lists expected;
  std::vector<std::uint64_t> pattern(65536);
  for (const KnownHit& hit : hits)
    if (const std::int64_t position = (hit.time - hits[0].time) / 16'000; position < scan_rows * scan_cols) {
      const auto pixel = static_cast<std::uint32_t>(hit.y * 256 + hit.x);
      expected[position].insert(pixel);
      ++pattern[pixel];
    }
  EXPECT_TRUE(lists_of(events) == expected);
  EXPECT_GT(events.index.count(), Index{1} << 18);
  EXPECT_TRUE(std::equal(pattern.begin(), pattern.end(), events.pattern.view<std::uint64_t, 2>().data));
  EXPECT_EQ(events.of_hits[0], events.electrons);
}

TEST(FindEvents, ChipsThatTakeTurnsAreOneDetector) {
  const TemporaryFolder folder;
  const ChipLayout layout({{.number = 0, .x = 0, .y = 0}, {.number = 1, .x = 256, .y = 40}});
  const auto hits = random_hits(4000, 60, 12);
  std::array<std::vector<std::uint64_t>, 2> words;
  WordFile file;
  Lists expected;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const int chip = hits[i].x % 2;
    words[static_cast<std::size_t>(chip)].push_back(hit_word(hits[i]));
    if (const std::int64_t position = (hits[i].time - hits[0].time) / ticks_us; position < 200)
      expected[position].insert(static_cast<std::uint32_t>((hits[i].y + 40 * chip) * 512 + hits[i].x + 256 * chip));
    if (i % 300 == 299)  // 28 us
      for (int c : {1, 0}) file.words(std::exchange(words[static_cast<std::size_t>(c)], {}), 1000, c);
  }
  file.save(folder.file("in.tpx3"));
  const TimepixEvents events =
      find(folder.file("in.tpx3"), {.dwell = "1us", .scan_shape = "10x20", .cluster_time = "0"}, layout);
  EXPECT_EQ(lists_of(events), expected);
  EXPECT_EQ(events.rows, 296);
  EXPECT_EQ(events.cols, 512);
}

TEST(FindEvents, FramesSayWhatTheFileReaches) {
  const TemporaryFolder folder;
  save(folder.file("in.tpx3"), {{1000, 2, 3, 1}, {1000 + 5 * ticks_us + 1, 20, 3, 1}});
  const TimepixEvents events = find(folder.file("in.tpx3"), {.dwell = "1us", .scan_shape = "2x4"});
  EXPECT_EQ(events.reached, 6);
  const auto frames = events.frames.view<std::uint32_t, 1>();
  for (Index p = 0; p < 8; ++p) EXPECT_EQ(frames(p), p < 6 ? 1U : 0U);
}

TEST(FindEvents, HitsFurtherOutOfOrderThanAllowedAreCounted) {
  const TemporaryFolder folder;
  std::vector<KnownHit> hits = random_hits(600'000, 2, 4);  // of several blocks
  const KnownHit late{hits[0].time + 10, 7, 7, 1};
  hits.push_back(late);
  save(folder.file("in.tpx3"), hits, 8000);
  const TimepixEvents events = find(folder.file("in.tpx3"), {.dwell = "10us", .scan_shape = "13x29"});
  EXPECT_EQ(events.late_hits, 1U);
}

TEST(FindEvents, ADamagedTimeIsLeftOut) {
  const TemporaryFolder folder;
  std::vector<KnownHit> hits = random_hits(500, 500, 4);
  hits[200].time += 9'000'000'000;  // 14 s
  save(folder.file("in.tpx3"), hits);
  const TimepixEvents events = find(folder.file("in.tpx3"), {.dwell = "1us", .scan_shape = "20x20"});
  EXPECT_EQ(events.stray_hits, 1U);
  EXPECT_LT(events.duration_s, 1e-3);
}

TEST(FindEvents, TheHitRateCountsEveryHit) {
  const TemporaryFolder folder;
  const auto hits = random_hits(20'000, 300, 4);
  save(folder.file("in.tpx3"), hits);
  const TimepixEvents events = find(folder.file("in.tpx3"), {.dwell = "10us", .scan_shape = "10x10"});
  std::vector<std::uint64_t> expected(events.rate.hits.size());
  const auto bin = static_cast<std::int64_t>(events.rate.bin_s * 640e6);
  for (const KnownHit& hit : hits) ++expected[static_cast<std::size_t>((hit.time - hits[0].time) / bin)];
  EXPECT_EQ(events.rate.hits, expected);
  EXPECT_GT(expected.size(), 63U);
  EXPECT_LE(expected.size(), 128U);
}

TEST(FindEvents, FilesThatEndEarlyAreRefusedOrUsed) {
  const TemporaryFolder folder;
  WordFile file;
  file.words(words_of(random_hits(100, 500, 4)), 50);
  file.raw().resize(file.raw().size() - 12);
  file.save(folder.file("in.tpx3"));
  TimepixOptions options{.dwell = "1us", .scan_shape = "20x20"};
  EXPECT_THAT(
      error_of(ErrorKind::bad_file, [&] { (void)find(folder.file("in.tpx3"), options); }),
      HasSubstr("in.tpx3: ends within a chunk: the one at byte 408 has 388 of 400 bytes, after 1 whole chunks"));
  options.damage = Damage::skip;
  EXPECT_EQ(find(folder.file("in.tpx3"), options).packets.hits, 98U);
}

TEST(FindEvents, ScansThatDoNotFitAreRefused) {
  const TemporaryFolder folder;
  save(folder.file("in.tpx3"), {{1000, 2, 3, 1}});
  const std::string path = folder.file("in.tpx3");
  const TimepixOptions options{.dwell = "1us", .scan_shape = "60000x60000"};
  EXPECT_THAT(error_of(ErrorKind::budget, [&] { (void)find(path, options); }), HasSubstr("--scan-shape"));
}

}  // namespace
}  // namespace sonde::stem
