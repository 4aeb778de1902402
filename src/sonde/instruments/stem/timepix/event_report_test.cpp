// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/event_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "sonde/engine/run/write_contents.h"
#include "sonde/instruments/stem/count/event_file.h"
#include "sonde/instruments/stem/timepix/test_words.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using namespace testing;
using sonde::testing::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A scan of 12 x 40 positions of 2 us with 20 us of flyback, or without lines; a hit every 0.5 us.
class Recorded {
 public:
  explicit Recorded(bool lines, int scans = 1) {
    std::vector<std::uint64_t> words;
    const std::int64_t period = lines ? 100 : 80;
    for (int row = 0; row < 12 * scans; ++row) {
      if (lines) words.push_back(edge_word((1000 + period * row) * fine_us));
      for (int i = 0; i < 2 * period; ++i)
        words.push_back(
            hit_word({(1000 + period * row) * ticks_us + 320 * i, (row * 17 + i * 5) % 256, (i * 29) % 256}));
    }
    WordFile file;
    file.words(words, 300);
    file.save(folder_.file("in.tpx3"));
  }
  [[nodiscard]] TimepixEvents events(const TimepixOptions& options) const {
    const std::string path = folder_.file("in.tpx3");
    const ChipLayout layout;
    return find_events(path, layout, choose_timing(path, survey_file(path, layout, Damage::stop), options), options,
                       Budget(std::size_t{1} << 28, "test"));
  }
  /// Warnings with settings as the program shows them.
  [[nodiscard]] std::vector<std::string> warnings(const TimepixOptions& options) const {
    std::vector<std::string> warnings = warnings_of(events(options), options);
    for (std::string& warning : warnings) warning = spelled(warning, Spelling::flags);
    return warnings;
  }

 private:
  TemporaryFolder folder_;
};

TEST(EventReport, RightSettingsWarnOfNothing) {
  EXPECT_THAT(Recorded(true).warnings({.dwell = "2us", .scan_shape = "12x40"}), IsEmpty());
  EXPECT_THAT(Recorded(false).warnings({.dwell = "2us", .scan_shape = "12x40"}), IsEmpty());
}

TEST(EventReport, TooFewOrTooManyLinesAreNamedFirst) {
  const Recorded recorded(true);
  EXPECT_THAT(
      recorded.warnings({.dwell = "2us", .scan_shape = "16x40"}).at(0),
      HasSubstr("the file has 12 rises of TDC1 for 16 lines of the scan: --scan-shape is wrong, or the file holds "
                "a part of the scan"));
  EXPECT_THAT(
      recorded.warnings({.dwell = "2us", .scan_shape = "8x40"}).at(0),
      HasSubstr("the file has 12 rises of TDC1 for 8 lines of the scan: --scan-shape is wrong, or the file holds "
                "several scans, of which the first counts"));
}

TEST(EventReport, AWrongDwellOrRowLengthIsNamedFirst) {
  const Recorded recorded(true);
  EXPECT_THAT(recorded.warnings({.dwell = "3us", .scan_shape = "12x40"}).at(0),
              HasSubstr("rises of TDC1 are 100 us apart, but a line of 40 positions of 3 us takes 120 us: --dwell or "
                        "--scan-shape is wrong"));
  EXPECT_THAT(
      recorded.warnings({.dwell = "3us", .scan_shape = "12x40", .lines = LineTrigger::tdc1}).at(0),
      HasSubstr("rises of TDC1 are 100 us apart, but 40 positions of 3 us take 120 us: --dwell or --scan-shape is "
                "wrong; the last 7 columns are empty"));
  EXPECT_THAT(
      recorded.warnings({.dwell = "2us", .scan_shape = "12x10", .lines = LineTrigger::tdc1}).at(0),
      HasSubstr("rises of TDC1 are 100 us apart, but 10 positions of 2 us take only 20 us: --dwell or --scan-shape "
                "is wrong, or more than half of the time is flyback"));
}

TEST(EventReport, AScanWithoutEdgesIsComparedWithTheTimeOfTheFile) {
  const Recorded recorded(false);
  EXPECT_THAT(
      recorded.warnings({.dwell = "1us", .scan_shape = "12x40"}).at(0),
      HasSubstr("the file continues for 960 us after the start of the scan, but 12 x 40 positions of 1 us take 480 us: "
                "--dwell or --scan-shape is wrong, or the file holds more than the scan"));
  EXPECT_THAT(recorded.warnings({.dwell = "2us", .scan_shape = "15x40"}).at(0),
              HasSubstr("the file ends 960 us after the start of the scan, but 15 x 40 positions of 2 us take 1.2 ms: "
                        "--dwell or --scan-shape is wrong, or the file holds a part of the scan"));
}

TEST(EventReport, EdgesOneScanApartMeanSeveralScans) {
  EXPECT_THAT(Recorded(true, 3).warnings({.dwell = "2us", .scan_shape = "1x40", .lines = LineTrigger::none}).at(0),
              HasSubstr("the file has 36 rises of TDC1, one scan apart: only the first scan counts"));
}

TEST(EventReport, WhatIsLeftOutIsNamed) {
  const TimepixOptions options{.dwell = "2us", .scan_shape = "12x40"};
  TimepixEvents events = Recorded(true).events(options);
  events.late_hits = 3;
  events.late_edges = 1;
  events.stray_hits = 2;
  events.cut = 1000;
  events.packets.integrated = 5;
  events.packets.unknown[0xc] = 7;
  events.packets.other_edges = 4;
  events.packets.bad_fine = 6;
  events.packets.damaged_places = 2;
  events.packets.skipped_bytes = 96;
  std::string all;
  for (const std::string& warning : warnings_of(events, options)) all += spelled(warning, Spelling::flags) + "\n";
  EXPECT_EQ(all,
            "3 hits and 1 edges came more than 1 ms after later ones and are left out; give a larger --reorder-time\n"
            "the file is damaged or cut off at 2 places: 96 bytes are left out\n"
            "2 hits are seconds away from all others: damaged, and left out\n"
            "5 hits are sums of time over threshold without a time of their own (type 0xa), and are left out\n"
            "unknown words are left out: 7 of type 0xc and 4 edges of unknown inputs\n"
            "6 edges have a fine time that is none of 0 to 12: it is left out\n"
            "1000 hits would make electrons last longer than 16 times --cluster-time and begin others: pixels that "
            "never rest\n");
}

// Electrons that come evenly over a time T, all on one pixel at rate n / T: the chance that none of the others is
// within the window on either side is exp(-2 n window / T).
TEST(EventReport, OverlapByChanceIsThatOfPoissonStatistics) {
  TimepixEvents events{.rows = 9, .cols = 14};
  events.pattern = Array::zeros(Device::cpu(), {9, 14}, DType::u64);
  events.pattern.view<std::uint64_t, 2>()(3, 5) = 1000;
  events.duration_s = 1e-3;
  EXPECT_NEAR(overlap_by_chance(events, 100e-9), 1 - std::exp(-0.2), 1e-12);
  events.pattern.view<std::uint64_t, 2>()(8, 13) = 3000;  // does not touch
  EXPECT_NEAR(overlap_by_chance(events, 100e-9), 1 - std::exp(-(1e6 + 9e6) / 4000 * 2e-4), 1e-12);
  EXPECT_EQ(overlap_by_chance(events, 0), 0);
}

TEST(EventReport, TheFileIsAContainerOfEvents) {
  const TemporaryFolder folder;
  const TimepixOptions options{.dwell = "2us", .scan_shape = "12x40"};
  const auto events = std::make_shared<const TimepixEvents>(Recorded(true).events(options));
  write_contents(folder.file("events.h5"), contents_of(events, options, "sonde stem events"));
  EXPECT_TRUE(is_event_file(folder.file("events.h5")));
  const EventList list = read_event_file(folder.file("events.h5"));
  EXPECT_EQ(list.scan_rows, 12);
  EXPECT_EQ(list.scan_cols, 40);
  EXPECT_EQ(list.rows, 256);
  EXPECT_EQ(list.cols, 256);
  EXPECT_EQ(static_cast<std::uint64_t>(list.events()), events->placed());
  EXPECT_EQ(list.events(), 12 * 160);
  EXPECT_THAT(list.frames, ::testing::Each(1U));
  EXPECT_THAT(list.parameters, HasSubstr("\"cluster_time_s\":1e-07"));
}

TEST(EventReport, LinesSayWhatBecameOfHits) {
  const TimepixOptions options{.dwell = "2us", .scan_shape = "12x40"};
  const std::vector<std::string> lines = lines_of(Recorded(true).events(options), options);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_THAT(lines[0], HasSubstr("2400 hits in 1.2 ms, 2 million a second; 9 chunks of 1 chip"));
  EXPECT_THAT(lines[1],
              HasSubstr("12 x 40 positions of 2 us; lines begin at the 12 rises of TDC1: they are 100 us apart, "
                        "and a line takes 80 us"));
  EXPECT_THAT(lines[2], HasSubstr("2400 of 2400 hits (1 hits each: hits of pixels that touch, within 0.1 us, are one); "
                                  "1920 in the scan, 4 a position"));
  EXPECT_THAT(lines[3], HasSubstr("0 electrons before the scan, 440 in flybacks, 40 after the scan"));
  EXPECT_THAT(lines[4], HasSubstr("0 % of the hits came after later ones"));
}

}  // namespace
}  // namespace sonde::stem
