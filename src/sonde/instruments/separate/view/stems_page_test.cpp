// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/view/stems_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <mutex>

#include "sonde/instruments/separate/events/midi.h"
#include "sonde/instruments/separate/view/test_songs.h"
#include "tests/support/budget.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;
using sonde::testing::plenty;
using sonde::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What a client of the page gets; replies may come later, from another thread.
class Listener final : public panel::Outlet {
 public:
  void send(panel::Frame frame) override { frames.push_back(std::move(frame)); }
  void reply(const panel::Command&, Value result) override {
    const std::lock_guard lock(mutex_);
    replies_.push_back(std::move(result));
    heard_.notify_all();
  }
  void event(std::string_view, Value) override {}
  Value next() {
    std::unique_lock lock(mutex_);
    heard_.wait(lock, [&] { return taken_ < replies_.size(); });
    return replies_[taken_++];
  }
  [[nodiscard]] std::vector<float> values(std::size_t frame) const {
    std::vector<float> numbers(frames.at(frame).payload.size() / sizeof(float));
    std::memcpy(numbers.data(), frames.at(frame).payload.data(), frames.at(frame).payload.size());
    return numbers;
  }
  std::vector<panel::Frame> frames;

 private:
  std::mutex mutex_;
  std::condition_variable heard_;
  std::vector<Value> replies_;
  std::size_t taken_ = 0;
};

/// A song of a kick, a snare and something else, 2 s at 8 kHz; its mixture has twice the rate.
class StemsPage : public ::testing::Test {
 protected:
  StemsPage() {
    for (std::size_t i = 0; i < 16000; ++i) ramp_.push_back(static_cast<float>(i) / 16000);
    write_wav(folder_.file("song/kick.wav"), hits(2, 0.25));
    write_wav(folder_.file("song/other.wav"), ramp_);
    write_wav(folder_.file("song/snare.wav"), hits(2, 0.5));
    write_wav(folder_.file("song/mixture.wav"), std::vector<float>(32000, 0.25f), 1, 16000);
    page_ = *stems_page(folder_.file("song"), plenty());
    session_ = page_.open(listener_);
  }
  Value ask(const std::string& name, const std::vector<std::pair<std::string, Value>>& arguments) {
    panel::Command command{.id = 7, .name = name};
    for (const auto& [key, value] : arguments) command.arguments[key] = value;
    session_->run(command);
    return listener_->next();
  }
  std::string refusal(const std::string& name, const std::vector<std::pair<std::string, Value>>& arguments) {
    return error_of(ErrorKind::bad_input, [&] { (void)ask(name, arguments); });
  }

  TemporaryFolder folder_;
  std::vector<float> ramp_;
  panel::Page page_;
  std::shared_ptr<Listener> listener_ = std::make_shared<Listener>();
  std::unique_ptr<panel::Session> session_;
};

TEST_F(StemsPage, DescribesItsTracksAndTheSettingsOfDrums) {
  const Value& song = page_.panels.at(0).options.find("songs")->items().at(0);
  EXPECT_EQ(song.find("rate")->as_whole(), 8000);
  EXPECT_TRUE(song.find("mixture")->as_bool());
  const auto& tracks = song.find("tracks")->items();
  ASSERT_EQ(tracks.size(), 4u);
  EXPECT_EQ(tracks[0].find("numbers")->items().at(0).find("key")->as_text(), "threshold");
  EXPECT_EQ(tracks[1].find("numbers"), nullptr);  // not a drum
  EXPECT_EQ(tracks[3].find("name")->as_text(), "mixture");
}

TEST_F(StemsPage, SamplesAreThoseOfTheFilesWhereverTheyAreAskedFor) {
  for (const Index first : {9000, 100, 1100}) {  // elsewhere, back, and behind the last
    listener_->frames.clear();
    const Value reply = ask("samples", {{"song", 0}, {"first", first}, {"count", 1000}});
    EXPECT_EQ(reply.find("count")->as_whole(), 1000);
    ASSERT_EQ(listener_->frames.size(), 4u);
    const auto from = ramp_.begin() + first;
    EXPECT_EQ(listener_->values(1), std::vector<float>(from, from + 1000));
    EXPECT_EQ(listener_->frames[1].channel, 1);
    EXPECT_EQ(listener_->frames[1].kind, samples_frame);
    EXPECT_EQ(listener_->frames[1].request, 7u);
  }
}

TEST_F(StemsPage, AMixtureOfAnotherRateIsResampled) {
  (void)ask("samples", {{"song", 0}, {"first", 8000}, {"count", 500}});
  const auto mixture = listener_->values(3);
  ASSERT_EQ(mixture.size(), 500u);
  // A constant stays one, to what the filter lets through of its beginning 100 ms before (20 bits).
  for (const float each : mixture) EXPECT_NEAR(each, 0.25, 1e-5);
}

TEST_F(StemsPage, TheLastSamplesAreFewer) {
  EXPECT_EQ(ask("samples", {{"song", 0}, {"first", 15990}, {"count", 1000}}).find("count")->as_whole(), 10);
  EXPECT_EQ(listener_->values(1).size(), 10u);
}

TEST_F(StemsPage, OverviewHasPeaksAndLevels) {
  Value reply;
  do {
    listener_->frames.clear();
    reply = ask("overview", {{"song", 0}, {"track", 1}, {"first", 0}, {"count", 16000}, {"columns", 4}});
  } while (reply.find("done")->as_real() < 1);
  ASSERT_EQ(listener_->frames.size(), 2u);
  const auto peaks = listener_->values(0);
  ASSERT_EQ(peaks.size(), 12u);
  EXPECT_NEAR(peaks[4], 0.25, 256.0 / 16000);  // the largest of the first quarter, to a block
  EXPECT_EQ(listener_->frames[1].cols, 4u);
  EXPECT_EQ(listener_->frames[1].type, panel::FrameType::u8);
}

TEST_F(StemsPage, EventsAreThoseOfTheStem) {
  const Value reply = ask("events", {{"song", 0}, {"stem", 2}});
  ASSERT_EQ(reply.find("problem"), nullptr) << short_text(reply);
  std::vector<double> times;
  for (const Value& each : reply.find("times")->items()) times.push_back(each.as_real());
  ASSERT_EQ(times.size(), 3u);
  EXPECT_NEAR(times[0], 0.5, 2e-3);  // 1 ms of the search, and resampling
  EXPECT_NEAR(times[2], 1.5, 2e-3);
  EXPECT_EQ(reply.find("hits")->items().at(0).as_text(), "snare");
}

TEST_F(StemsPage, AHighThresholdLeavesFewerEvents) {
  Value settings;
  settings["threshold"] = 0.5;
  settings["gap"] = 500;
  const std::size_t usual = ask("events", {{"song", 0}, {"stem", 2}}).find("times")->size();
  EXPECT_LT(ask("events", {{"song", 0}, {"stem", 2}, {"settings", settings}}).find("times")->size(), usual);
}

TEST_F(StemsPage, TheMidiFileHasTheEventsOfAllDrums) {
  const Value reply = ask("export", {{"what", "midi"}, {"song", 0}});
  EXPECT_EQ(reply.find("name")->as_text(), "song.mid");
  const panel::Frame& frame = listener_->frames.at(0);
  EXPECT_EQ(frame.kind, panel::FrameKind::file);
  const MidiFile read = parse_midi({reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size()}, "song");
  EXPECT_EQ(read.notes.size(), 7u);  // kicks at 0.25, 0.75, 1.25 and 1.75 s, snares at 0.5, 1 and 1.5 s
  EXPECT_EQ(read.notes.at(0).note, 36);
}

TEST_F(StemsPage, ArgumentsOutOfRangeAreRefused) {
  const auto samples = [&](Value first, Value count) {
    return refusal("samples", {{"song", 0}, {"first", std::move(first)}, {"count", std::move(count)}});
  };
  EXPECT_THAT(samples(-1, 10), HasSubstr("samples: first = -1; expected a whole number from 0 to 15999"));
  EXPECT_THAT(samples(0, Index{1} << 62), HasSubstr("expected a whole number from 1 to 80000"));
  EXPECT_THAT(samples(1e300, 1), HasSubstr("samples: first = 1e+300"));
  EXPECT_THAT(samples("none", 1), HasSubstr("samples: first = none"));
  EXPECT_THAT(refusal("samples", {}), HasSubstr("samples: song = nothing; expected a whole number from 0 to 0"));
  EXPECT_THAT(refusal("overview", {{"song", 0}, {"track", 4}}), HasSubstr("overview: track = 4"));
  EXPECT_THAT(
      refusal("overview", {{"song", 0}, {"track", 0}, {"first", 0}, {"count", 16000}, {"columns", Index{1} << 40}}),
      HasSubstr("expected a whole number from 1 to 4096"));
  EXPECT_THAT(refusal("events", {{"song", 0}, {"stem", 3}}), HasSubstr("events: stem = 3"));  // the mixture
}

TEST_F(StemsPage, OnlyDrumsHaveEvents) {
  EXPECT_THAT(refusal("events", {{"song", 0}, {"stem", 1}}), HasSubstr("events: other has not the name of a drum"));
}

TEST_F(StemsPage, UnknownAndImpossibleSettingsAreRefused) {
  Value settings;
  settings["treshold"] = 0.1;
  EXPECT_THAT(refusal("events", {{"song", 0}, {"stem", 0}, {"settings", settings}}),
              HasSubstr("events: unknown setting \"treshold\"; did you mean \"threshold\"?"));
  settings = Value();
  settings["gap"] = 1e9;
  EXPECT_THAT(refusal("events", {{"song", 0}, {"stem", 0}, {"settings", settings}}),
              HasSubstr("events: gap = 1e+09; expected 10 to 500"));
  settings["gap"] = "wide";
  EXPECT_THAT(refusal("events", {{"song", 0}, {"stem", 0}, {"settings", settings}}), HasSubstr("events: gap = wide"));
}

TEST_F(StemsPage, OtherFilesThanMidiAreRefused) {
  EXPECT_THAT(refusal("export", {{"what", "wav"}, {"song", 0}}), HasSubstr("export: what = wav; expected midi"));
}

TEST_F(StemsPage, OtherCommandsAreRefused) {
  EXPECT_THAT(refusal("separate", {}), HasSubstr("no command is called \"separate\""));
}

TEST(StemsPageOf, ASongWithoutDrumsHasNoMidiFile) {
  const TemporaryFolder folder;
  write_wav(folder.file("song/vocals.wav"), std::vector<float>(800));
  const panel::Page page = *stems_page(folder.file("song"), plenty());
  Value request;
  request["what"] = "midi";
  request["song"] = 0;
  const auto session = page.open(std::make_shared<Listener>());
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)session->export_file(request); }),
              HasSubstr("no stem of song has the name of a drum"));
}

/// A page of one kick with a budget that nothing fits into.
struct PoorPage {
  PoorPage() { write_wav(folder.file("song/kick.wav"), hits(2, 0.25)); }
  TemporaryFolder folder;
  std::shared_ptr<Listener> listener = std::make_shared<Listener>();
  std::string run(const std::string& name) const {
    const panel::Page page = *stems_page(folder.file("song"), Budget(1000, "test"));
    panel::Command command{.id = 1, .name = name};
    for (const char* zero : {"song", "track", "stem", "first"}) command.arguments[zero] = 0;
    for (const char* one : {"count", "columns"}) command.arguments[one] = 1;
    const auto session = page.open(listener);
    session->run(command);
    return text_at(listener->next(), "problem");
  }
};

TEST(StemsPageOf, APictureThatDoesNotFitIntoTheBudgetIsRefused) {
  const PoorPage page;
  EXPECT_THAT(error_of(ErrorKind::budget, [&] { (void)page.run("overview"); }),
              ::testing::AllOf(HasSubstr("the picture of"), HasSubstr("kick.wav")));
}

TEST(StemsPageOf, EventsThatDoNotFitIntoTheBudgetAreAProblem) {
  const PoorPage page;
  EXPECT_THAT(page.run("events"), HasSubstr("the samples of"));
}

TEST(StemsPageOf, ASessionEndsWhileEventsAreBeingFound) {
  const TemporaryFolder folder;
  write_wav(folder.file("song/kick.wav"), hits(20, 0.25));
  const panel::Page page = *stems_page(folder.file("song"), plenty());
  panel::Command command{.id = 1, .name = "events"};
  command.arguments["song"] = 0;
  command.arguments["stem"] = 0;
  page.open(std::make_shared<Listener>())->run(command);  // and ends at once
}

TEST(StemsPageOf, AFolderWithoutAudioIsNone) {
  const TemporaryFolder folder;
  EXPECT_FALSE(stems_page(folder.file(""), plenty()).has_value());
}

}  // namespace
}  // namespace sonde::separate
