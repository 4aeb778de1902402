// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/live_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "sonde/engine/run/test_live_client.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

using ::testing::HasSubstr;

TEST(ShowingShare, NeverTakesMoreThanAHundredthOfTheTime) {
  ShowingShare share;
  double spent = 0;
  Index shown = 0;
  // Iterations of 10 ms, each look costs 30 ms: as often as is allowed, and not less than half of it.
  double now = 0;
  for (Index i = 0; i < 10000; ++i) {
    now += 0.01;
    if (!share.may_show(now)) continue;
    share.showed(now, 0.03);
    now += 0.03;
    spent += 0.03;
    ++shown;
    EXPECT_LE(spent, 0.01 * now + 0.03);  // the first one is known only afterwards
  }
  EXPECT_GT(spent, 0.005 * now);
  EXPECT_GT(shown, 10);
}

TEST(ShowingShare, CheapLooksComeTenTimesASecond) {
  ShowingShare share;
  Index shown = 0;
  for (Index i = 1; i <= 1000; ++i) {
    const double now = 0.01 * static_cast<double>(i);
    if (!share.may_show(now)) continue;
    share.showed(now, 1e-5);
    ++shown;
  }
  EXPECT_NEAR(static_cast<double>(shown), 100, 10);
}

/// Counts to three, by a step that may be another.
struct Counter {
  Index at = 0;
  double step = 1;
  LivePage live{{.title = "counting",
                 .panels = {{.id = "count", .type = "facts", .title = "Count"}},
                 .restarts = true,
                 .accept = [this](const std::string& setting, const Value& value) {
                   if (setting != "step") throw Error(ErrorKind::usage, setting + " cannot change");
                   step = value.as_real();
                   Value panels;
                   panels["count"]["step"] = step;
                   return panels;
                 }}};
  std::shared_ptr<testing::LiveClient> client = std::make_shared<testing::LiveClient>();
  std::unique_ptr<panel::Session> session = live.page().open(client);

  void count() {
    ++at;
    live.update(at >= 3, [this] {
      LiveState state;
      state.panels["run"]["state"] = at >= 3 ? "finished" : "running";
      state.panels["run"]["done"] = at;
      state.panels["count"]["now"] = at;
      return state;
    });
  }
};

TEST(LivePage, TheEndIsShownToWhoLooksAndToWhoComesLater) {
  Counter counter;
  while (counter.at < 3) counter.count();
  EXPECT_EQ(counter.client->panel("count").find("now")->as_whole(), 3);
  EXPECT_EQ(counter.client->panel("run").find("state")->as_text(), "finished");
  const Value state = counter.live.page().state();
  EXPECT_EQ(state.find("panels")->find("count")->find("now")->as_whole(), 3);
}

TEST(LivePage, NothingIsMadeWhileNobodyLooks) {
  Counter counter;
  counter.session.reset();
  while (counter.at < 3) counter.count();
  EXPECT_EQ(counter.live.page().state().find("panels")->find("count"), nullptr);
}

TEST(LivePage, WorkWaitsWhilePausedAndEndsWhenAsked) {
  Counter counter;
  counter.session->run({.id = 1, .name = "pause"});
  std::atomic<bool> passed = false;
  std::jthread working([&] {
    counter.count();
    passed = true;
  });
  while (!counter.client->says("paused")) std::this_thread::yield();
  EXPECT_FALSE(passed);
  EXPECT_FALSE(counter.live.stop_asked());
  counter.session->run({.id = 2, .name = "stop"});  // also ends the pause
  working.join();
  EXPECT_TRUE(counter.live.stop_asked());
  EXPECT_TRUE(counter.client->says("stopping"));
}

TEST(LivePage, RequestsWaitInOrderAndARestartEndsAPause) {
  Counter counter;
  panel::Command set{.id = 1, .name = "set"};
  set.arguments["setting"] = "step";
  set.arguments["value"] = 0.25;
  counter.session->run(set);
  EXPECT_EQ(counter.client->panel("count").find("step")->as_real(), 0.25);
  counter.session->run({.id = 2, .name = "pause"});
  counter.session->run({.id = 3, .name = "restart"});
  EXPECT_FALSE(counter.client->says("paused"));
  const std::vector<ChangeRequest> requests = counter.live.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].setting, "step");
  EXPECT_TRUE(requests[1].restart());
  EXPECT_TRUE(counter.live.requests().empty());
}

TEST(LivePage, WhatCannotBeIsRefused) {
  Counter counter;
  panel::Command set{.id = 1, .name = "set"};
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [&] { counter.session->run(set); }),
              HasSubstr("needs a setting and a value"));
  set.arguments["setting"] = "end";
  set.arguments["value"] = 5.0;
  EXPECT_THAT(testing::error_of(ErrorKind::usage, [&] { counter.session->run(set); }), HasSubstr("end cannot change"));
  EXPECT_TRUE(counter.live.requests().empty());
  EXPECT_THAT(testing::error_of(ErrorKind::bad_input, [&] { counter.session->run({.id = 1, .name = "faster"}); }),
              HasSubstr("no command is called \"faster\""));
  LivePage fixed({.title = "fixed"});
  const auto session = fixed.page().open(counter.client);
  testing::error_of(ErrorKind::bad_input, [&] { session->run({.id = 1, .name = "restart"}); });
}

}  // namespace
}  // namespace sonde
