// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/watched_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "sonde/engine/run/start.h"
#include "sonde/engine/run/test_live_client.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

/// What the verb of this test does with its meter, on its thread.
std::function<void(Run&)> work;

struct Options {
  std::string input;
  Index to = 3;
  void describe(Fields& fields) {
    fields.positional("input", input, {.help = "what is counted"});
    fields.add("to", to, {.help = "last number"});
  }
};

void count(const Options&, Run& run) { work(run); }

Verb counting() {
  return {.name = "test count",
          .summary = "Count",
          .plans = true,
          .watched = Watched{.panels = {{.id = "numbers", .type = "table", .title = "Numbers"}}},
          .invoke = invocation<Options, count>};
}

/// A page that is shown to a client of the test.
struct ShownToTest final : Shown {
  panel::Page page;
  std::shared_ptr<testing::LiveClient> client;
  std::unique_ptr<panel::Session> session;
  ShownToTest(panel::Page shown, std::shared_ptr<testing::LiveClient> who)
      : page(std::move(shown)), client(std::move(who)), session(page.open(client)) {}
  [[nodiscard]] std::string url() const override { return "http://here/"; }
};

/// The verb, started with `live`, and what a client of its page gets.
struct Watch {
  std::shared_ptr<testing::LiveClient> client = std::make_shared<testing::LiveClient>();
  ShownToTest* shown = nullptr;  // while the verb works
  std::vector<std::string> announced;
  int pages = 0;

  void start(const std::vector<std::pair<std::string, std::string>>& settings = {}) {
    const Verb verb = counting();
    Prepared prepared(verb);
    prepared.fields.assign_text("input", "sheep.h5", "input");
    prepared.fields.assign_text("live", "0", "live");
    for (const auto& [key, value] : settings) prepared.fields.assign_text(key, value, key);
    Door door;
    door.surroundings.show = [this](panel::Page page, Index) {
      ++pages;
      auto made = std::make_unique<ShownToTest>(std::move(page), client);
      shown = made.get();
      return made;
    };
    door.surroundings.announce = [this](const std::string& text) { announced.push_back(text); };
    sonde::start(prepared, door);
  }
  void command(const char* name) const { shown->session->run({.id = 1, .name = name}); }
  /// Of a panel of kind "facts".
  [[nodiscard]] std::string fact(const std::string& name, const std::string& of = "work") const {
    const Value panel = client->panel(of);
    for (const Value& each : panel.find("facts")->items())
      if (each.find("name")->as_text() == name) return each.find("value")->as_text();
    return "";
  }
};

TEST(WatchedRun, ShowsProgressAndHowTheWorkEnded) {
  Watch watch;
  work = [&](sonde::Run& run) {
    (void)run.device();
    ProgressMeter meter("counting", 3, "sheep");
    meter.advance(3);
  };
  watch.start({{"device", "cpu"}, {"quiet", "true"}});
  const Value bar = watch.client->panel("run");
  EXPECT_EQ(bar.find("state")->as_text(), "finished");
  EXPECT_TRUE(bar.find("over")->as_bool());
  EXPECT_EQ(bar.find("done")->as_whole(), 3);
  EXPECT_EQ(bar.find("total")->as_whole(), 3);
  EXPECT_EQ(bar.find("units")->as_text(), "sheep");
  EXPECT_EQ(bar.find("note")->as_text(), "counting");
  EXPECT_EQ(watch.fact("input"), "sheep.h5");
  EXPECT_EQ(watch.fact("device"), "cpu");
  EXPECT_EQ(watch.fact("to", "given"), "3");
  EXPECT_THAT(watch.announced, ::testing::ElementsAre("live      http://here/"));
}

TEST(WatchedRun, EveryThreadWaitsInAPauseAndAStopEndsTheWork) {
  Watch watch;
  std::atomic<int> passed{0};
  work = [&](sonde::Run&) {
    ProgressMeter meter("counting", 0, "sheep");
    watch.command("pause");
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] {
        meter.advance();
        ++passed;
      });
    while (watch.client->panel("run").find("done") == nullptr ||
           watch.client->panel("run").find("done")->as_whole() < 3)
      std::this_thread::yield();
    EXPECT_EQ(passed, 0);
    watch.command("resume");
    threads.clear();
    EXPECT_EQ(passed, 3);
    watch.command("stop");
    check_interrupt();
  };
  EXPECT_THAT(testing::error_of(ErrorKind::interrupted, [&] { watch.start(); }), HasSubstr("stopped in the browser"));
  EXPECT_EQ(watch.client->panel("run").find("state")->as_text(), "stopped");
  EXPECT_NO_THROW(check_interrupt());  // only that work
}

TEST(WatchedRun, AStopEndsWorkThatIsPaused) {
  Watch watch;
  work = [&](sonde::Run&) {
    ProgressMeter meter("counting", 0, "sheep");
    watch.command("pause");
    std::jthread server([&] {
      while (watch.client->panel("run").find("done") == nullptr) std::this_thread::yield();
      watch.command("stop");
    });
    for (;;) {
      meter.advance();
      check_interrupt();
    }
  };
  testing::error_of(ErrorKind::interrupted, [&] { watch.start(); });
}

TEST(WatchedRun, PanelsOfAVerbAreShownToItsEnd) {
  Watch watch;
  work = [&](sonde::Run& run) {
    Index last = 0;
    const auto shown = run.live([&] {
      LiveState state;
      state.panels["numbers"]["last"] = last;
      state.frames = {panel::make_frame<float>(panel::FrameKind::image, 1, 1, std::array{static_cast<float>(last)})};
      return state;
    });
    EXPECT_EQ(watch.client->panel("numbers").find("last")->as_whole(), 0);
    last = 7;
  };
  watch.start();
  EXPECT_EQ(watch.client->panel("numbers").find("last")->as_whole(), 7);
  EXPECT_EQ(watch.client->frames.back().sum, 7);
}

TEST(WatchedRun, AnErrorIsShownWithItsReason) {
  Watch watch;
  work = [](sonde::Run&) { throw Error(ErrorKind::bad_input, "no sheep"); };
  testing::error_of(ErrorKind::bad_input, [&] { watch.start(); });
  EXPECT_EQ(watch.client->panel("run").find("state")->as_text(), "failed");
  EXPECT_EQ(watch.client->panel("run").find("because")->as_text(), "no sheep");
}

TEST(WatchedRun, ThoseWhoHearOfProgressHearItStill) {
  Watch watch;
  Progress heard;
  const ProgressScope outer([&](const Progress& progress) { heard = progress; });
  work = [](sonde::Run&) { ProgressMeter("counting", 3, "sheep").advance(2); };
  watch.start();
  EXPECT_EQ(heard.done, 2);
}

TEST(WatchedRun, ADryRunHasNoPage) {
  Watch watch;
  work = [](sonde::Run& run) { EXPECT_EQ(run.live([] { return LiveState(); }), nullptr); };
  watch.start({{"dry_run", "true"}});
  EXPECT_EQ(watch.pages, 0);
}

TEST(WatchedRun, AVerbThatCannotBeWatchedHasNoSuchSetting) {
  Verb verb = counting();
  verb.watched.reset();
  const Prepared prepared(verb);
  EXPECT_EQ(prepared.fields.find("live"), nullptr);
}

}  // namespace
}  // namespace sonde
