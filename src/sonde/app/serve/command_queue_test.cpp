// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/command_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace sonde::serve {
namespace {

using Outcome = CommandQueue::Outcome;
using ::testing::ElementsAre;

const panel::Action position{.name = "set_position"};
const panel::Action item{.name = "set_item"};
const panel::Action detector{.name = "set_detector", .distinct = {"channel"}};
const panel::Action load{.name = "load_state", .latest = false};

panel::Command command(std::uint32_t id, const panel::Action& action, Value channel = {}) {
  panel::Command made{.id = id, .name = action.name};
  if (!channel.is_null()) made.arguments["channel"] = std::move(channel);
  return made;
}

std::vector<std::uint32_t> drain(CommandQueue& queue) {
  std::vector<std::uint32_t> ids;
  while (auto next = queue.pop()) ids.push_back(next->command.id);
  return ids;
}

TEST(CommandQueue, TheNewestOfANameReplacesTheOneThatWaits) {
  CommandQueue queue;
  EXPECT_EQ(queue.push(command(1, position), position), Outcome::queued);
  EXPECT_EQ(queue.push(command(2, position), position), Outcome::replaced);
  EXPECT_EQ(queue.push(command(3, position), position), Outcome::replaced);
  EXPECT_THAT(drain(queue), ElementsAre(3));
}

TEST(CommandQueue, DistinctArgumentsAreKeptApart) {
  CommandQueue queue;
  (void)queue.push(command(1, detector, 0), detector);
  (void)queue.push(command(2, detector, 1), detector);
  (void)queue.push(command(3, detector), detector);
  (void)queue.push(command(4, detector, "1"), detector);
  EXPECT_EQ(queue.push(command(5, detector, 0), detector), Outcome::replaced);
  EXPECT_THAT(drain(queue), ElementsAre(5, 2, 3, 4)) << "the text \"1\" is another channel than the number";
}

TEST(CommandQueue, TwoNamesThatAreSentInTurnsAlternate) {
  CommandQueue queue;
  (void)queue.push(command(1, position), position);
  (void)queue.push(command(2, item), item);
  EXPECT_EQ(queue.pop()->command.id, 1U);
  (void)queue.push(command(3, position), position);
  (void)queue.push(command(4, item), item);
  EXPECT_EQ(queue.pop()->command.id, 4U) << "the second name is not starved by the first";
  EXPECT_EQ(queue.pop()->command.id, 3U);
}

TEST(CommandQueue, OthersAreAllCarriedOutInOrder) {
  CommandQueue queue;
  for (std::uint32_t id = 1; id <= 3; ++id) EXPECT_EQ(queue.push(command(id, load), load), Outcome::queued);
  EXPECT_THAT(drain(queue), ElementsAre(1, 2, 3));
}

TEST(CommandQueue, ANewerCommandNeverPassesOneThatIsAlwaysCarriedOut) {
  CommandQueue queue;
  (void)queue.push(command(1, position), position);
  (void)queue.push(command(2, load), load);
  EXPECT_EQ(queue.push(command(3, position), position), Outcome::replaced);
  EXPECT_THAT(drain(queue), ElementsAre(2, 3));
}

TEST(CommandQueue, IsBounded) {
  CommandQueue queue(3);
  for (std::uint32_t id = 1; id <= 3; ++id) (void)queue.push(command(id, detector, id), detector);
  EXPECT_EQ(queue.push(command(4, load), load), Outcome::full);
  EXPECT_EQ(queue.push(command(5, detector, 9), detector), Outcome::full);
  EXPECT_EQ(queue.push(command(6, detector, 2), detector), Outcome::replaced) << "a replacement needs no room";
  EXPECT_THAT(drain(queue), ElementsAre(1, 6, 3));
}

constexpr std::chrono::milliseconds none{0};

TEST(CommandQueue, WhatIsBeingCarriedOutGivesWayToANewerOneOfItsKind) {
  CommandQueue queue(64, none);
  (void)queue.push(command(1, detector, 0), detector);
  const auto first = queue.pop();
  (void)queue.push(command(2, detector, 1), detector);
  (void)queue.push(command(3, position), position);
  EXPECT_FALSE(first->cancel->requested()) << "others wait";
  (void)queue.push(command(4, detector, 0), detector);
  EXPECT_TRUE(first->cancel->requested());
  queue.end();
  EXPECT_FALSE(queue.pop()->cancel->requested());
}

TEST(CommandQueue, ItIsFinishedWhereThatTakesNoPatience) {
  CommandQueue queue(64, std::chrono::hours(1));
  (void)queue.push(command(1, detector, 0), detector);
  const auto first = queue.pop();
  (void)queue.push(command(2, detector, 0), detector);
  EXPECT_FALSE(first->cancel->requested()) << "a drag shows an image for each command that is quick";
}

TEST(CommandQueue, WhatIsAlwaysCarriedOutGivesWayToNothing) {
  CommandQueue queue(64, none);
  (void)queue.push(command(1, load), load);
  const auto first = queue.pop();
  (void)queue.push(command(2, load), load);
  EXPECT_FALSE(first->cancel->requested());
}

TEST(CommandQueue, ClosingCancelsAndForgets) {
  CommandQueue queue;
  (void)queue.push(command(1, load), load);
  (void)queue.push(command(2, load), load);
  const auto first = queue.pop();
  queue.close();
  EXPECT_TRUE(first->cancel->requested());
  queue.end();
  EXPECT_FALSE(queue.pop());
  EXPECT_TRUE(queue.begin()->requested()) << "an export that comes too late";
}

// Every command is either popped once or was replaced, and the last of each channel is popped.
TEST(CommandQueue, NothingIsLostBetweenThreads) {
  CommandQueue queue;
  constexpr std::uint32_t each = 2000;
  std::atomic<std::uint32_t> replaced{0}, running{2};
  std::vector<std::uint32_t> popped;
  {
    std::vector<std::jthread> threads;
    for (int channel = 0; channel < 2; ++channel)
      threads.emplace_back([&, channel] {
        for (std::uint32_t id = 1; id <= each; ++id)
          if (queue.push(command(2 * id + static_cast<std::uint32_t>(channel), detector, channel), detector) ==
              Outcome::replaced)
            ++replaced;
        --running;
      });
    threads.emplace_back([&] {
      while (running > 0)
        if (auto next = queue.pop()) popped.push_back(next->command.id);
    });
  }
  for (std::uint32_t id : drain(queue)) popped.push_back(id);
  EXPECT_EQ(popped.size() + replaced, 2 * each);
  std::uint32_t last[2] = {0, 0};
  for (const std::uint32_t id : popped) {
    EXPECT_GT(id, last[id % 2]) << "out of order";
    last[id % 2] = id;
  }
  EXPECT_EQ(last[0], 2 * each);
  EXPECT_EQ(last[1], 2 * each + 1);
}

}  // namespace
}  // namespace sonde::serve
