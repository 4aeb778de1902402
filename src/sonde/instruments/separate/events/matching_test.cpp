// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

#include "sonde/instruments/separate/events/matching.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

std::vector<DrumEvent> found_at(const std::vector<double>& times) {
  std::vector<DrumEvent> events;
  for (const double time : times) events.push_back({.time_s = time, .velocity = static_cast<Index>(100 * time)});
  return events;
}

std::vector<ReferenceEvent> expected_at(const std::vector<double>& times) {
  std::vector<ReferenceEvent> events;
  for (const double time : times) events.push_back({.time_s = time, .velocity = 1 - time});
  return events;
}

TEST(Matching, EachEventHasOnePartner) {
  const Matching matching = match(found_at({0.1, 0.11, 0.5}), expected_at({0.1, 0.52, 0.9}), 0.05);
  EXPECT_EQ(matching.matched, 2);
  EXPECT_DOUBLE_EQ(matching.precision(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(matching.recall(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(matching.f_measure(), 2.0 / 3);
  EXPECT_NEAR(matching.mean_distance_s(), 0.01, 1e-12);
}

TEST(Matching, MakesAsManyPairsAsThereCanBe) {
  // Nearest first, 0.04 would take 0.05 and leave 0.09 without a partner.
  EXPECT_EQ(match(found_at({0.04, 0.09}), expected_at({0.0, 0.05}), 0.05).matched, 2);
}

TEST(Matching, OfNothingWithNothingIsPerfect) {
  EXPECT_EQ(match({}, {}, 0.05).f_measure(), 1);
  EXPECT_EQ(match(found_at({1}), {}, 0.05).f_measure(), 0);
  EXPECT_EQ(match({}, expected_at({1}), 0.05).recall(), 0);
}

TEST(Matching, CorrelatesVelocities) {
  EXPECT_NEAR(match(found_at({0.1, 0.3, 0.7}), expected_at({0.1, 0.3, 0.7}), 0.05).velocity_correlation(), -1, 1e-12);
}

TEST(Matching, PoolsCounts) {
  Matching sum = match(found_at({0.1}), expected_at({0.1}), 0.05);
  sum += match(found_at({0.1, 0.2}), expected_at({0.5}), 0.05);
  EXPECT_DOUBLE_EQ(sum.precision(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(sum.recall(), 0.5);
}

TEST(EventReference, EventsWithinTheGapAreTheEarliest) {
  const auto events = merged(expected_at({0.1, 0.14, 0.159, 0.161, 0.5}), 0.06);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_DOUBLE_EQ(events[0].time_s, 0.1);
  EXPECT_DOUBLE_EQ(events[1].time_s, 0.161);  // from the event that is kept
  EXPECT_DOUBLE_EQ(events[0].velocity, 0.9);
}

TEST(EventReference, IsReadFromTablesAndMidiFiles) {
  SONDE_NEED_DATA(data);
  const auto table = read_reference((data / "separation/demo/groove/events.csv").string());
  EXPECT_EQ(table.size(), 148u);
  EXPECT_EQ(table[0].drum, Drum::hihat);
  EXPECT_DOUBLE_EQ(table[2].velocity, 0.5780);
  const auto midi = read_reference((data / "separation/midi/groove_funk_138bpm.mid").string());
  EXPECT_GT(midi.size(), table.size());  // the table holds ten seconds of it
}

TEST(EventReference, WrongFilesAreRefused) {
  const sonde::testing::TemporaryFolder folder;
  const auto text_of = [&](const std::string& name, const std::string& content) {
    std::ofstream(folder.file(name)) << content;
    return error_of(ErrorKind::bad_file, [&] { (void)read_reference(folder.file(name)); });
  };
  EXPECT_THAT(text_of("a.txt", ""), HasSubstr("a.txt: unknown kind of reference; expected .mid, .midi or .csv"));
  EXPECT_THAT(text_of("a.mid", "RIFF"), HasSubstr("a.mid: is not a MIDI file"));
  EXPECT_THAT(text_of("a.csv", "x,y\n1,2\n"),
              HasSubstr("a.csv: is not a table of events; expected the columns time_s"));
  EXPECT_THAT(text_of("a.csv", "time_s,event\n1\n"), HasSubstr("a.csv: line 2: 1 cells; expected 2"));
  EXPECT_THAT(text_of("a.csv", "time_s,event\nsoon,kick\n"), HasSubstr("a.csv: line 2"));
  EXPECT_THAT(text_of("a.csv", "time_s,event\n1,flute\n"), HasSubstr("a.csv: has no event of a drum"));
}

}  // namespace
}  // namespace sonde::separate
