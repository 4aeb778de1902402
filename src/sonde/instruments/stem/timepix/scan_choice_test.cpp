// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/scan_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/instruments/stem/timepix/test_words.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::stem {
namespace {

using namespace testing;
using sonde::testing::error_of;
using ::testing::HasSubstr;

FileSurvey survey_with(double period_us, TdcChannel channel = TdcChannel::tdc1_rise) {
  FileSurvey survey{.file_bytes = 4000, .read_bytes = 4000, .hits = 100, .first_hit = 500};
  survey.edges[static_cast<std::size_t>(channel)] = {.count = 9, .first = 700, .period_s = period_us * 1e-6};
  return survey;
}
TimepixOptions options_of(const std::string& shape = "4x10") { return {.dwell = "1us", .scan_shape = shape}; }

TEST(ParseDuration, TakesUnits) {
  EXPECT_DOUBLE_EQ(parse_duration("1us", "dwell"), 1e-6);
  EXPECT_DOUBLE_EQ(parse_duration(" 500 ns", "dwell"), 5e-7);
  EXPECT_DOUBLE_EQ(parse_duration("0.01ms", "dwell"), 1e-5);
  EXPECT_DOUBLE_EQ(parse_duration("2s", "dwell"), 2);
  EXPECT_DOUBLE_EQ(parse_duration("-3e-6", "dwell"), -3e-6);
  for (const char* text : {"", "us", "1 minute", "1,5us", "nan", "inf", "1e9s"})
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)parse_duration(text, "--dwell"); }),
                HasSubstr("--dwell: \"" + std::string(text) +
                          "\"; expected a time such as 1us, 500ns or 0.01ms (without a unit: seconds)"));
}

TEST(TimepixOptions, WhatIsNeededIsAskedFor) {
  const auto told = [](const TimepixOptions& options) { return error_of(ErrorKind::usage, [&] { options.check(); }); };
  EXPECT_THAT(told({.scan_shape = "4x4"}),
              HasSubstr("no dwell time was given; a file of hits does not say how long the "
                        "probe was at a position\nhint: give --dwell TIME"));
  EXPECT_THAT(told({.dwell = "1us"}),
              HasSubstr("no scan shape was given; a file of hits does not say how many positions "
                        "there were\nhint: give --scan-shape ROWSxCOLS"));
  EXPECT_THAT(told({}), HasSubstr("the scan is not described"));
  EXPECT_THAT(told({.dwell = "1ns", .scan_shape = "4x4"}), HasSubstr("--dwell: \"1ns\"; expected 1.5625 ns or more"));
  for (const char* shape : {"4", "4x", "0x4", "4x4x4", "a,b", "100000x100000"})
    EXPECT_THAT(told({.dwell = "1us", .scan_shape = shape}),
                HasSubstr("--scan-shape: \"" + std::string(shape) +
                          "\"; expected ROWSxCOLS, two whole numbers above 0 with a product up to 2^32"));
  TimepixOptions options = options_of("30,20");
  options.check();
  EXPECT_EQ(options.scan_asked(), (std::pair<Index, Index>{30, 20}));
  Fields fields(options);
  const auto refused = [&](const char* key, const char* text) {
    return error_of(ErrorKind::usage, [&] { fields.assign_text(key, text, key); });
  };
  EXPECT_THAT(refused("cluster_time", "2ms"), HasSubstr("cluster_time: \"2ms\"; expected 0 to 1 ms"));
  EXPECT_THAT(refused("reorder_time", "-1us"), HasSubstr("reorder_time: \"-1us\"; expected 0 to 500 ms"));
  EXPECT_THAT(refused("delay", "-1s"), HasSubstr("delay: \"-1s\"; expected -100 ms or more"));
}

TEST(ChooseTiming, EdgesOneLineApartBeginLines) {
  const ScanTiming timing = choose_timing("in.tpx3", survey_with(11.5), options_of());
  EXPECT_TRUE(timing.by_lines);
  EXPECT_EQ(timing.channel, TdcChannel::tdc1_rise);
  EXPECT_THAT(timing.because, HasSubstr("they are 11.5 us apart, and a line takes 10 us"));
  EXPECT_TRUE(choose_timing("in.tpx3", survey_with(11.5, TdcChannel::tdc2_rise), options_of()).by_lines);
}

TEST(ChooseTiming, OtherEdgesStartTheScan) {
  for (const double period_us : {9.0, 31.0, 1000.0}) {
    const ScanTiming timing = choose_timing("in.tpx3", survey_with(period_us), options_of());
    EXPECT_FALSE(timing.by_lines) << period_us;
    EXPECT_EQ(timing.start, 700);
    EXPECT_EQ(timing.channel, TdcChannel::tdc1_rise);
  }
}

TEST(ChooseTiming, TheFirstHitStartsAScanWithoutEdges) {
  TimepixOptions options = options_of();
  options.delay = "2us";
  FileSurvey survey = survey_with(11.5);
  survey.edges = {};
  EXPECT_EQ(choose_timing("in.tpx3", survey, options).start, 500 + 2 * fine_us);
  options.start = ScanStart::hit;
  const ScanTiming asked = choose_timing("in.tpx3", survey_with(11.5), options);
  EXPECT_FALSE(asked.by_lines);
  EXPECT_EQ(asked.start, 500 + 2 * fine_us);
  EXPECT_FALSE(asked.channel);
}

TEST(ChooseTiming, EdgesThatAreNotThereAreNamed) {
  TimepixOptions options = options_of();
  options.lines = LineTrigger::tdc2;
  const std::string told =
      error_of(ErrorKind::bad_file, [&] { (void)choose_timing("in.tpx3", survey_with(11.5), options); });
  EXPECT_THAT(told, HasSubstr("in.tpx3: no rises of TDC2 in the first 3.91 KiB, but 9 rises of TDC1 11.5 us apart\n"
                              "hint: give another --lines or --edge"));
  options.lines = LineTrigger::none;
  options.start = ScanStart::tdc1;
  options.edge = Slope::fall;
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)choose_timing("in.tpx3", survey_with(11.5), options); }),
              HasSubstr("in.tpx3: no falls of TDC1 in the first 3.91 KiB, but 9 rises of TDC1 11.5 us apart\n"
                        "hint: give another --start or --edge"));
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)choose_timing("in.tpx3", {.read_bytes = 16}, options_of()); }),
              HasSubstr("in.tpx3: no hit in the first 16 B, but no edges of the TDC"));
}

TEST(SurveyFile, FindsTheFirstHitAndThePeriodOfEdges) {
  const sonde::testing::TemporaryFolder folder;
  std::vector<std::uint64_t> words;
  words.push_back(hit_word({12'000'000'000, 1, 1}));  // damaged: 18 s later than what follows
  for (int line = 0; line < 7; ++line) {
    words.push_back(edge_word(1'000'000 + line * 50 * fine_us + line % 2));
    words.push_back(hit_word({(1'000'000 + line * 50 * fine_us) / 6 + 100, 3, 4}));
  }
  words.push_back(hit_word({160'000, 9, 9}));  // out of order, and the first
  WordFile file;
  file.words(words);
  file.save(folder.file("in.tpx3"));
  const FileSurvey survey = survey_file(folder.file("in.tpx3"), {}, Damage::stop);
  EXPECT_EQ(survey.hits, 9U);
  const EdgeSurvey& edges = survey.of(TdcChannel::tdc1_rise);
  EXPECT_EQ(edges.count, 7U);
  ASSERT_TRUE(survey.first_hit && edges.first);
  EXPECT_EQ(*edges.first - *survey.first_hit, 1'000'000 - 160'000 * 6);
  EXPECT_NEAR(*edges.period_s, 50e-6, 1e-9);
}

}  // namespace
}  // namespace sonde::stem
