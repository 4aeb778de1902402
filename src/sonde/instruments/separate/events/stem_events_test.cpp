// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

#include "sonde/engine/base/text.h"
#include "sonde/instruments/separate/events/matching.h"
#include "sonde/instruments/separate/events/stem_events.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

TEST(StemFiles, OfAFolderAreThoseWithTheNameOfADrum) {
  SONDE_NEED_DATA(data);
  std::vector<std::string> names;
  for (const StemFile& each : stems_among({(data / "separation/demo/groove").string()})) names.push_back(each.name);
  EXPECT_THAT(names, ::testing::ElementsAre("hihat", "kick", "snare"));
}

TEST(StemFiles, AreNamedWhereTheirNameSaysNothing) {
  const sonde::testing::TemporaryFolder folder;
  const std::string file = folder.file("track 7.wav");
  std::ofstream(file) << "x";
  EXPECT_EQ(stems_among({"snare=" + file}).at(0).name, "snare");
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)stems_among({file}); }),
              HasSubstr("\"track 7\" is not the name of one drum; expected kick, snare"));
  EXPECT_THAT(error_of(ErrorKind::bad_input,
                       [&] {
                         (void)stems_among({"bd=" + file, "kick=" + file});
                       }),
              HasSubstr("both are the stem kick; expected one file of each"));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)stems_among({folder.path().string()}); }),
              HasSubstr("has no audio file with the name of a drum"));
}

TEST(StemEvents, AreThoseThatWerePlayed) {
  SONDE_NEED_DATA(data);
  for (const char* piece : {"synth0", "groove"}) {
    const auto folder = data / "separation/demo" / piece;
    std::vector<StemEvents> stems;
    for (const StemFile& file : stems_among({folder.string()})) stems.push_back(read_events(file, {}));
    const auto reference = read_reference((folder / "events.csv").string());
    const auto f_within = [&](double within_s, Counted counted) {
      return pooled(score_drums(stems, reference, {}, within_s, counted)).f_measure();
    };
    EXPECT_GE(f_within(0.05, Counted::merged), 0.95) << piece;  // a detector tuned to each stem reaches 0.96
    // Of two hits on a hi-hat within 60 ms the louder one is found, where the reference has the earlier.
    EXPECT_GE(f_within(0.025, Counted::merged), 0.8) << piece;
    EXPECT_LE(f_within(0.05, Counted::raw), f_within(0.05, Counted::merged)) << piece;
  }
}

TEST(StemEvents, BecomeTracksAndTables) {
  const StemEvents kick{.file = {"kick.wav", "kick", {Drum::kick}},
                        .events = {{.time_s = 0.5, .hit = Hit::kick, .velocity = 90}}};
  const StemEvents toms{.file = {"toms.wav", "toms", {Drum::toms}},
                        .events = {{.time_s = 0.25, .hit = Hit::tom_high, .velocity = 70, .pan = -0.5}}};
  const std::vector<StemEvents> stems = {kick, toms};
  EventSettings settings;
  settings.notes[static_cast<std::size_t>(Hit::tom_high)] = 48;
  const auto tracks = midi_tracks(stems, settings, 0.05);
  ASSERT_EQ(tracks.size(), 2u);
  EXPECT_EQ(tracks[1].name, "toms");
  EXPECT_EQ(tracks[1].notes.at(0).note, 48);
  EXPECT_EQ(event_table(stems, settings),
            "time_s,stem,event,note,velocity,level_db,pan,strength,sustain_s\n"
            "0.250000,toms,tom_high,48,70,0.00,-0.500,0.0000,0.000\n"
            "0.500000,kick,kick,36,90,0.00,0.000,0.0000,0.000\n");
  EXPECT_EQ(event_list(stems, settings).items().at(0).find("note")->as_whole(), 48);
}

}  // namespace
}  // namespace sonde::separate
