// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/iterate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/report/report.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::IsEmpty;

/// Counts to `last` and keeps what happened.
class Counting : public LongWork {
 public:
  explicit Counting(Index last) : last_(last) {}
  Index done() const override { return done_; }
  bool over() const override { return done_ >= last_; }
  void step() override {
    ++done_;
    if (during) during(done_);
  }
  std::string line() const override { return "line " + std::to_string(done_); }
  void log() override { add("log"); }
  void save() override { add("save"); }
  void preview() override { add("preview"); }
  bool attend() override { return !watcher || watcher(*this); }
  void begin_anew() { done_ = 0; }

  std::vector<std::string> happened;
  std::function<void(Index step)> during;
  std::function<bool(Counting&)> watcher;

 private:
  void add(const std::string& what) { happened.push_back(what + " " + std::to_string(done_)); }
  Index last_, done_ = 0;
};

class IterateUntilAsked : public ::testing::Test {
 protected:
  void TearDown() override { clear_interrupt(); }
};

/// A run that keeps what it says beside what the work did.
class Looping {
 public:
  explicit Looping(Index last) : work(last) {
    surroundings_.say = [this](const std::string& text) { work.happened.push_back(text); };
    common_.describe(fields_);
  }
  void operator()(const Pace& pace) { iterate(work, pace, run_); }
  std::vector<std::string> phases() const {
    std::vector<std::string> names;
    const Value report = report_.to_value();
    for (const Value& phase : report.find("phases")->items()) names.push_back(text_at(phase, "name"));
    return names;
  }
  Counting work;

 private:
  CommonOptions common_;
  Fields fields_;
  Report report_{"test count"};
  Surroundings surroundings_;
  Run run_{common_, fields_, report_, surroundings_};
};

TEST(Iterate, DoesWhatIsDueAfterEachStepInOrder) {
  Looping loop(3);
  loop({.say_every = 0, .preview_every = 3, .checkpoint_every = 2});
  EXPECT_THAT(loop.work.happened, ElementsAre("log 1", "line 1", "log 2", "save 2", "log 3", "preview 3", "line 3"));
  EXPECT_THAT(loop.phases(), ElementsAre("iterate", "checkpoint", "preview"));
}

TEST(Iterate, DoesNothingWhenTheWorkIsOver) {
  Looping loop(0);
  loop({});
  EXPECT_THAT(loop.work.happened, IsEmpty());
}

TEST(Iterate, EndsWhenWhoWatchesAsksTo) {
  Looping loop(100);
  loop.work.watcher = [](const Counting& work) { return work.done() < 4; };
  loop({});
  EXPECT_EQ(loop.work.done(), 4);
}

TEST(Iterate, ANewBeginningCountsFromOne) {
  Looping loop(3);
  bool again = true;
  loop.work.watcher = [&again](Counting& work) {
    if (work.done() == 2 && std::exchange(again, false)) work.begin_anew();
    return true;
  };
  loop({.say_every = 0});
  EXPECT_THAT(loop.work.happened,
              ElementsAre("log 1", "line 1", "log 2", "log 1", "line 1", "log 2", "log 3", "line 3"));
}

TEST_F(IterateUntilAsked, TerminationWaitsForTheStepAndItsCheckpoint) {
  Looping loop(5);
  loop.work.during = [](Index step) {
    if (step == 2) request_interrupt(SIGTERM);
    check_interrupt();  // as every loop of the engine does
  };
  error_of(ErrorKind::terminated, [&] { loop({.say_every = 0, .checkpoint_every = 100}); });
  EXPECT_THAT(loop.work.happened, ElementsAre("log 1", "line 1", "log 2", "save 2"));
}

TEST_F(IterateUntilAsked, WithoutCheckpointsTerminationEndsTheStep) {
  Looping loop(5);
  loop.work.during = [](Index step) {
    if (step == 2) request_interrupt(SIGTERM);
    check_interrupt();
  };
  error_of(ErrorKind::terminated, [&] { loop({.say_every = 0}); });
  EXPECT_THAT(loop.work.happened, ElementsAre("log 1", "line 1"));
}

}  // namespace
}  // namespace sonde
