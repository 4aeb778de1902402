// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/data.h"
#include "tests/support/errors.h"

#include "sonde/engine/io/file.h"
#include "sonde/instruments/separate/events/midi.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;
using namespace std::string_literals;

std::string big_endian(std::size_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xFF);
  return text;
}

std::string header(std::size_t format, std::size_t tracks, std::size_t division = 480) {
  return "MThd" + big_endian(6, 4) + big_endian(format, 2) + big_endian(tracks, 2) + big_endian(division, 2);
}

std::string track(const std::string& events) { return "MTrk" + big_endian(events.size(), 4) + events; }

const std::string end_of_track = "\x00\xFF\x2F\x00"s;

MidiFile one_track(const std::string& events, std::size_t division = 480) {
  return parse_midi(header(0, 1, division) + track(events), "a.mid");
}

std::string written(const std::vector<MidiNote>& notes, const MidiWriteOptions& options = {.format = 0}) {
  const MidiTrack track{.name = "kick", .notes = notes};
  return midi_bytes({&track, 1}, options);
}

TEST(Midi, ANoteIsTheBytesOfTheStandard) {
  // 0.5 s at 120 quarters a minute is a quarter, 480 ticks = 83 60 as bytes of seven bits; 50 ms are 48 ticks.
  EXPECT_EQ(written({{.time_s = 0.5, .duration_s = 0.05, .note = 36, .velocity = 100}}),
            header(0, 1) +
                track("\x00\xFF\x51\x03\x07\xA1\x20"s + "\x83\x60\x99\x24\x64"s + "\x30\x89\x24\x00"s + end_of_track));
}

TEST(Midi, FormatOneHasTheTempoAndThenATrackWithItsName) {
  EXPECT_EQ(written({{.note = 36}}, {.format = 1}).substr(0, 14 + 19 + 8 + 8),
            header(1, 2) + track("\x00\xFF\x51\x03\x07\xA1\x20"s + end_of_track) + "MTrk" + big_endian(20, 4) +
                "\x00\xFF\x03\x04kick"s);
}

TEST(Midi, WhatIsWrittenIsReadBackWithinHalfATick) {
  std::vector<MidiNote> notes;
  for (int i = 0; i < 1000; ++i) notes.push_back({0.137 * i, 0.05, 36 + i % 3, 1 + i % 127});
  const MidiFile read = parse_midi(written(notes, {.format = 1, .tempo = 133.7}), "a.mid");
  ASSERT_EQ(read.notes.size(), notes.size());
  const double half_tick_s = 0.5 * 60 / 133.7 / 480;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    // The tempo is a whole number of microseconds, by which times are rounded: errors do not grow.
    ASSERT_NEAR(read.notes[i].time_s, notes[i].time_s, 1.01 * half_tick_s) << i;
    ASSERT_EQ(read.notes[i].velocity, notes[i].velocity);
    ASSERT_EQ(read.notes[i].note, notes[i].note);
  }
}

TEST(Midi, NotesOfNoLengthLastFiveMilliseconds) {
  EXPECT_NEAR(parse_midi(written({{.time_s = 1, .note = 36}}), "a.mid").notes.at(0).duration_s, 0.005, 0.6 / 960);
}

TEST(Midi, ANoteEndsWhereTheNextOfItsPitchBegins) {
  const MidiFile read = parse_midi(written({{0.0, 1, 36, 90}, {0.25, 1, 36, 80}}), "a.mid");
  EXPECT_DOUBLE_EQ(read.notes.at(0).duration_s, 0.25);
  EXPECT_DOUBLE_EQ(read.notes.at(1).duration_s, 1);
}

TEST(Midi, NotesOfOneTickAreOneWithTheLargerVelocity) {
  const MidiFile read = parse_midi(written({{0.1, 0.1, 36, 90}, {0.1001, 0.1, 36, 80}}), "a.mid");
  ASSERT_EQ(read.notes.size(), 1u);
  EXPECT_EQ(read.notes[0].velocity, 90);
}

TEST(Midi, QuantisedNotesLieOnTheGrid) {
  const Quantisation grid = Quantisation::parse("1/16", 1, "grid");
  const MidiFile read = parse_midi(
      written({{0.13, 0.1, 36}, {0.26, 0.1, 38}}, {.format = 0, .tempo = 120, .quantisation = grid}), "a.mid");
  EXPECT_DOUBLE_EQ(read.notes.at(0).time_s, 0.125);
  EXPECT_DOUBLE_EQ(read.notes.at(1).time_s, 0.25);
  EXPECT_DOUBLE_EQ(Quantisation::parse("1/8t", 0.5, "grid").moved(0.14, 120), (0.14 + 0.5 / 3) / 2);
  EXPECT_THAT(error_of(ErrorKind::usage, [] { (void)Quantisation::parse("1/7", 1, "grid"); }),
              HasSubstr("grid: \"1/7\" is not a grid; expected off, 1/4, 1/8"));
}

TEST(Midi, ThePublishedPerformanceIsRead) {
  SONDE_NEED_DATA(data);
  const std::string path = (data / "separation/midi/groove_funk_138bpm.mid").string();
  const MidiFile midi = parse_midi(read_text(path), path);
  EXPECT_EQ(midi.format, 0);
  EXPECT_NEAR(midi.tempo.value(), 138, 0.01);
  EXPECT_LT(midi.notes.back().time_s, 27.9);  // its length with the tails of notes
  EXPECT_GT(midi.notes.back().time_s, 26);
}

TEST(Midi, TempiFromSeveralTracksCount) {
  const std::string tempi = "\x00\xFF\x51\x03\x07\xA1\x20\x83\x60\xFF\x51\x03\x0F\x42\x40"s + end_of_track;
  const std::string notes = "\x83\x60\x99\x24\x64\x83\x60\x99\x24\x64"s + end_of_track;
  const MidiFile midi = parse_midi(header(1, 2) + track(tempi) + track(notes), "a.mid");
  EXPECT_DOUBLE_EQ(midi.notes.at(0).time_s, 0.5);  // 120 quarters a minute, then 60
  EXPECT_DOUBLE_EQ(midi.notes.at(1).time_s, 1.5);
}

TEST(Midi, RunningStatusAndVelocityZeroAreRead) {
  const MidiFile midi = one_track("\x00\x99\x24\x64\x60\x24\x00"s + end_of_track);
  ASSERT_EQ(midi.notes.size(), 1u);
  EXPECT_DOUBLE_EQ(midi.notes[0].duration_s, 0.1);
}

TEST(Midi, FramesPerSecondAreRead) {
  // 25 frames of 40 parts: a part is a millisecond.
  EXPECT_DOUBLE_EQ(one_track("\x64\x99\x24\x64"s + end_of_track, 0xE728).notes.at(0).time_s, 0.1);
}

TEST(Midi, OtherChunksAndMessagesAreIgnored) {
  const std::string file = header(0, 1) + "XFIH" + big_endian(3, 4) + "abc" +
                           track("\x00\xF0\x02\x01\xF7\x00\xC9\x05\x00\xE9\x01\x02\x00\x99\x24\x64"s + end_of_track);
  EXPECT_EQ(parse_midi(file, "a.mid").notes.size(), 1u);
}

struct Refused {
  std::string name, bytes, text;
  ErrorKind kind = ErrorKind::bad_file;
};

class WrongMidi : public ::testing::TestWithParam<Refused> {};

TEST_P(WrongMidi, IsRefused) {
  EXPECT_THAT(error_of(GetParam().kind, [] { (void)parse_midi(GetParam().bytes, "a.mid"); }),
              HasSubstr(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    Of, WrongMidi,
    ::testing::Values(
        Refused{"Empty", "", "a.mid: is not a MIDI file"}, Refused{"Riff", "RIFFabcd", "a.mid: is not a MIDI file"},
        Refused{"CutHeader", "MThd\0\0"s, "byte 4: the header of 4 bytes, but 2 are left"},
        Refused{"ShortHeader", "MThd" + big_endian(4, 4) + "abcd", "a header of 4 bytes; expected 6"},
        Refused{"FormatTwo", header(2, 1), "is a MIDI file of format 2, independent patterns",
                ErrorKind::not_supported},
        Refused{"FormatNine", header(9, 1), "format 9; expected 0 or 1"},
        Refused{"NoTicks", header(0, 1, 0), "0 ticks in a quarter or frame"},
        Refused{"NoPartsOfFrames", header(0, 1, 0xE700), "0 ticks in a quarter or frame"},
        Refused{"MissingTrack", header(1, 2) + track(end_of_track), "the end, after 1 of 2 tracks"},
        Refused{"TrackBeyondTheEnd", header(0, 1) + "MTrk" + big_endian(0xFFFFFFFF, 4),
                "a chunk of 4294967295 bytes, but 0 are left"},
        Refused{"LongNumber", header(0, 1) + track("\xFF\xFF\xFF\xFF\x7F"s), "a time of more than four bytes"},
        Refused{"TimeOnly", header(0, 1) + track("\x00"s), "a time without an event"},
        Refused{"NoStatus", header(0, 1) + track("\x00\x24\x64"s), "a running status without a status before it"},
        Refused{"StatusAsData", header(0, 1) + track("\x00\x99\x24\x99"s), "a data byte of 153; expected 0 to 127"},
        Refused{"CutNote", header(0, 1) + track("\x00\x99\x24"s), "a data byte of 1 bytes, but 0 are left"},
        Refused{"LongMeta", header(0, 1) + track("\x00\xFF\x01\x7F"s), "a meta event of 127 bytes, but 0 are left"},
        Refused{"LongExclusive", header(0, 1) + track("\x00\xF0\x05\x01"s),
                "a system exclusive message of 5 bytes, but 1 are left"},
        Refused{"RealTime", header(0, 1) + track("\x00\xF8"s), "status 0xf8, which files do not have"},
        Refused{"NoTempo", header(0, 1) + track("\x00\xFF\x51\x03\0\0\0"s), "a tempo of 3 bytes that is 0"},
        Refused{"ShortTempo", header(0, 1) + track("\x00\xFF\x51\x01\x07"s), "a tempo of 1 bytes"}),
    [](const auto& each) { return each.param.name; });

TEST(Midi, WhatAFileCannotHoldIsRefused) {
  const auto text = [](const MidiNote& note, double tempo = 120) {
    return error_of(ErrorKind::bad_input, [&] { (void)written({note}, {.format = 0, .tempo = tempo}); });
  };
  EXPECT_THAT(text({.note = 128}), HasSubstr("note 128 with velocity 100 on channel 10: expected 0 to 127"));
  EXPECT_THAT(text({.time_s = -1, .note = 36}), HasSubstr("a note at -1 s of 0 s: expected times from 0"));
  EXPECT_THAT(text({.time_s = 1e6, .note = 36}), HasSubstr("a pause of 960000000 ticks; a MIDI file has pauses of at"));
  EXPECT_THAT(text({.note = 36}, 3), HasSubstr("a tempo of 3; expected 3.6 to 6e7"));
}

}  // namespace
}  // namespace sonde::separate
