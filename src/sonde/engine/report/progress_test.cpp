// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/report/progress.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace sonde {
namespace {

/// Collects what is reported while it exists.
struct Told {
  Told() {
    set_progress_sink([this](const Progress& progress) { words.push_back(progress); });
  }
  ~Told() { set_progress_sink({}); }
  std::vector<Progress> words;
};

TEST(Progress, TheLastWordHoldsTheWholeCount) {
  const Told told;
  {
    ProgressMeter meter("loading", 10, "frames");
    for (int i = 0; i < 10; ++i) meter.advance();
  }
  ASSERT_FALSE(told.words.empty());
  EXPECT_TRUE(told.words.back().finished);
  EXPECT_EQ(told.words.back().done, 10);
  EXPECT_EQ(told.words.back().total, 10);
  EXPECT_EQ(told.words.back().stage, "loading");
  EXPECT_EQ(told.words.back().unit, "frames");
}

TEST(Progress, ManyStepsAreToldRarely) {
  const Told told;
  {
    ProgressMeter meter("loading", 100000, "frames");
    for (int i = 0; i < 100000; ++i) meter.advance();
  }
  EXPECT_LT(told.words.size(), 1000u);
}

TEST(Progress, ThreadsAdvanceTogether) {
  const Told told;
  {
    ProgressMeter meter("loading", 4000, "frames");
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int step = 0; step < 1000; ++step) meter.advance();
      });
  }
  EXPECT_EQ(told.words.back().done, 4000);
}

TEST(Progress, WithoutASinkNothingHappens) {
  ProgressMeter meter("loading", 1, "frames");
  EXPECT_NO_THROW(meter.advance());
}

TEST(Progress, AScopeTakesTheStagesOfItsThreadAlone) {
  const Told application;
  std::vector<std::string> own;
  {
    const ProgressScope scope([&](const Progress& progress) { own.push_back(progress.stage); });
    std::jthread([] { ProgressMeter("elsewhere", 1, "frames"); }).join();
    ProgressMeter("here", 1, "frames");
  }
  ProgressMeter("afterwards", 1, "frames");
  EXPECT_EQ(own, std::vector<std::string>{"here"});
  ASSERT_EQ(application.words.size(), 2u);
  EXPECT_EQ(application.words[0].stage, "elsewhere");
  EXPECT_EQ(application.words[1].stage, "afterwards");
}

TEST(Progress, ASinkThatFailsAtTheEndIsIgnored) {
  set_progress_sink([](const Progress&) { throw std::runtime_error("no terminal"); });
  EXPECT_NO_THROW(ProgressMeter("loading", 1, "frames"));
  set_progress_sink({});
}

}  // namespace
}  // namespace sonde
