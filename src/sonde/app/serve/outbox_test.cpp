// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/outbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace sonde::serve {
namespace {

using panel::Frame;
using panel::FrameKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Frame frame(FrameKind kind, std::uint32_t request, std::uint16_t channel = 0, std::uint32_t dataset = 0) {
  Frame made{.kind = kind, .request = request, .dataset = dataset};
  made.channel = channel;
  return made;
}

/// Texts as they are, frames as "kind:request".
std::vector<std::string> drain(Outbox& outbox) {
  std::vector<std::string> all;
  while (auto next = outbox.pop())
    all.push_back(next->frame
                      ? std::to_string(static_cast<int>(next->frame->kind)) + ":" + std::to_string(next->frame->request)
                      : next->text);
  return all;
}

TEST(Outbox, KeepsTheOrder) {
  Outbox outbox;
  outbox.push_text("a");
  outbox.push_frame(frame(FrameKind::image, 1));
  outbox.push_text("b");
  EXPECT_THAT(drain(outbox), ElementsAre("a", "2:1", "b"));
}

TEST(Outbox, OneFrameOfAKindChannelAndDatasetWaits) {
  Outbox outbox;
  outbox.push_frame(frame(FrameKind::image, 1));
  outbox.push_frame(frame(FrameKind::pattern, 2));
  outbox.push_frame(frame(FrameKind::image, 3, 1));
  outbox.push_frame(frame(FrameKind::image, 4, 0, 1));
  outbox.push_frame(frame(FrameKind::image, 5));
  EXPECT_EQ(outbox.dropped_frames(), 1U);
  EXPECT_THAT(drain(outbox), ElementsAre("2:5", "1:2", "2:3", "2:4")) << "the newest stands where the older one stood";
}

TEST(Outbox, AFrameThatIsBeingSentIsNotReplaced) {
  Outbox outbox;
  outbox.push_frame(frame(FrameKind::image, 1));
  EXPECT_EQ(outbox.pop()->frame->request, 1U);
  outbox.push_frame(frame(FrameKind::image, 2));
  EXPECT_EQ(outbox.dropped_frames(), 0U);
  EXPECT_THAT(drain(outbox), ElementsAre("2:2"));
}

TEST(Outbox, FilesAreAllKept) {
  Outbox outbox;
  outbox.push_frame(frame(FrameKind::file, 1));
  outbox.push_frame(frame(FrameKind::file, 2));
  EXPECT_THAT(drain(outbox), ElementsAre("8:1", "8:2"));
}

TEST(Outbox, FramesThatWaitAreBoundedInBytes) {
  const std::vector<std::byte> bytes(600);
  const auto with_payload = [&](std::uint32_t request, std::uint16_t channel, std::size_t size) {
    Frame made = frame(FrameKind::image, request, channel);
    made.payload = std::span(bytes).first(size);
    return made;
  };
  Outbox outbox({.frame_bytes = 500});
  outbox.push_text("a");
  outbox.push_frame(with_payload(1, 0, 600));
  EXPECT_EQ(outbox.overflow(), "") << "a single one may be larger";
  outbox.push_frame(with_payload(2, 0, 300));
  outbox.push_frame(with_payload(3, 1, 200));
  EXPECT_EQ(outbox.overflow(), "");
  EXPECT_THAT(drain(outbox), ElementsAre("a", "2:2", "2:3"));
  outbox.push_frame(with_payload(4, 0, 400));
  outbox.push_frame(with_payload(5, 1, 101));
  EXPECT_THAT(outbox.overflow(), HasSubstr("400 B of frames wait"));
  EXPECT_EQ(outbox.size(), 0U) << "their memory is wanted back";
}

TEST(Outbox, OnlyTheNewestEventOfANameWaitsWhereItCame) {
  Outbox outbox;
  outbox.push_event("progress", "10 %");
  outbox.push_event("memory", "1 GiB");
  outbox.push_event("progress", "20 %");
  outbox.push_text("reply");
  EXPECT_THAT(drain(outbox), ElementsAre("1 GiB", "20 %", "reply"));
}

TEST(Outbox, TheLastWordStaysTheLast) {
  Outbox outbox;
  outbox.push_event("datasets", "it is to be loaded");
  outbox.push_event("progress", "99 %");
  outbox.push_event("datasets", "it is loaded");
  EXPECT_THAT(drain(outbox), ElementsAre("99 %", "it is loaded")) << "else progress would tell of loading again";
}

TEST(Outbox, WhatIsHeldFollowsTheFirstText) {
  Outbox outbox;
  outbox.hold();
  outbox.push_event("progress", "20 %");
  outbox.push_frame(frame(FrameKind::image, 1));
  EXPECT_FALSE(outbox.pop());
  outbox.introduce("page");
  EXPECT_THAT(drain(outbox), ElementsAre("page", "20 %", "2:1"));
}

TEST(Outbox, PassesOnNothingAfterItsEnd) {
  Outbox outbox;
  outbox.push_text("a");
  outbox.close();
  outbox.push_text("b");
  outbox.push_event("progress", "c");
  outbox.push_frame(frame(FrameKind::image, 1));
  EXPECT_TRUE(drain(outbox).empty());
  EXPECT_EQ(outbox.overflow(), "");
}

struct Flood {
  const char* name;
  void (*push)(Outbox&, std::uint32_t);
  const char* reason;
};

class OutboxBound : public ::testing::TestWithParam<Flood> {};

TEST_P(OutboxBound, IsTold) {
  Outbox outbox({.text_bytes = 1000, .texts = 20, .frames = 20, .files = 20});
  for (std::uint32_t i = 0; i < 20; ++i) GetParam().push(outbox, i);
  const bool by_bytes = std::string(GetParam().name) == "Bytes";
  EXPECT_EQ(outbox.overflow().empty(), !by_bytes);
  GetParam().push(outbox, 20);
  EXPECT_THAT(outbox.overflow(), HasSubstr(GetParam().reason));
  EXPECT_EQ(outbox.size(), 0U) << "the memory is given back at once";
  outbox.push_text("more");
  EXPECT_EQ(outbox.size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    , OutboxBound,
    ::testing::Values(
        Flood{"Texts", [](Outbox& outbox, std::uint32_t) { outbox.push_text("x"); }, "20 messages"},
        Flood{"Bytes", [](Outbox& outbox, std::uint32_t) { outbox.push_text(std::string(100, 'x')); }, "1000 B"},
        Flood{"Events", [](Outbox& outbox, std::uint32_t i) { outbox.push_event(std::to_string(i), "x"); },
              "20 messages"},
        Flood{"Frames", [](Outbox& outbox, std::uint32_t i) { outbox.push_frame(frame(FrameKind::image, 1, 0, i)); },
              "20 different frames"},
        Flood{"Files", [](Outbox& outbox, std::uint32_t i) { outbox.push_frame(frame(FrameKind::file, i)); },
              "20 files"}),
    [](const auto& each) { return each.param.name; });

TEST(Outbox, OneLongMessageAlonePasses) {
  Outbox outbox({.text_bytes = 10});
  outbox.push_text(std::string(1000, 'x'));
  EXPECT_EQ(outbox.overflow(), "");
  EXPECT_EQ(outbox.pop()->text.size(), 1000U);
}

TEST(Outbox, AFloodOfFramesHoldsOne) {
  Outbox outbox;
  for (std::uint32_t i = 1; i <= 500; ++i) {
    outbox.push_frame(frame(FrameKind::image, i));
    EXPECT_LE(outbox.size(), 1U);
  }
  EXPECT_EQ(outbox.dropped_frames(), 499U);
  EXPECT_EQ(outbox.pop()->frame->request, 500U);
}

TEST(Outbox, SeveralThreadsMayFillAndOneEmpty) {
  Outbox outbox({.texts = 100000});
  std::size_t texts = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint16_t channel = 0; channel < 3; ++channel)
      threads.emplace_back([&outbox, channel] {
        for (std::uint32_t i = 0; i < 1000; ++i) {
          outbox.push_text("x");
          outbox.push_frame(frame(FrameKind::image, i, channel));
        }
      });
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i)
        if (const auto next = outbox.pop()) texts += next->frame ? 0 : 1;
    });
  }
  while (const auto next = outbox.pop()) texts += next->frame ? 0 : 1;
  EXPECT_EQ(texts, 3000U);
}

}  // namespace
}  // namespace sonde::serve
