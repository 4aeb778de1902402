// SPDX-License-Identifier: Apache-2.0
// For tests: a client of a page without a network. It keeps everything that it is sent.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/panel/page.h"
#include "sonde/engine/report/json.h"

namespace sonde::stem::testing {

class RecordingOutlet final : public panel::Outlet {
 public:
  struct Event {
    std::string name;
    Value what;
  };

  void send(panel::Frame frame) override {
    const std::lock_guard lock(mutex_);
    frames_.push_back(std::move(frame));
    changed_.notify_all();
  }
  void reply(const panel::Command&, Value result) override {
    const std::lock_guard lock(mutex_);
    reply_ = std::move(result);
  }
  void event(std::string_view name, Value what) override {
    const std::lock_guard lock(mutex_);
    events_.push_back({std::string(name), std::move(what)});
    changed_.notify_all();
  }

  Value take_reply() {
    const std::lock_guard lock(mutex_);
    return std::exchange(reply_, Value());
  }
  std::vector<panel::Frame> take_frames() {
    const std::lock_guard lock(mutex_);
    return std::exchange(frames_, {});
  }
  std::vector<Event> take_events() {
    const std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
  }
  /// Waits until `enough` holds for what was sent so far. The limit only ends a test that hangs.
  void wait(const std::function<bool(const std::vector<panel::Frame>&, const std::vector<Event>&)>& enough) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, std::chrono::minutes(2), [&] { return enough(frames_, events_); }));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<panel::Frame> frames_;
  std::vector<Event> events_;
  Value reply_;
};

/// The elements of a frame, whatever their type.
template <class T>
std::vector<T> elements(const panel::Frame& frame) {
  std::vector<T> values;
  const auto read = [&](auto zero) {
    using From = decltype(zero);
    for (std::size_t i = 0; i < frame.payload.size(); i += sizeof(From)) {
      From value;
      std::memcpy(&value, frame.payload.data() + i, sizeof value);
      values.push_back(static_cast<T>(value));
    }
  };
  switch (frame.type) {
    case panel::FrameType::u8:
      read(std::uint8_t{});
      break;
    case panel::FrameType::u16:
      read(std::uint16_t{});
      break;
    case panel::FrameType::u32:
      read(std::uint32_t{});
      break;
    case panel::FrameType::f32:
      read(float{});
      break;
    case panel::FrameType::u64:
      read(std::uint64_t{});
      break;
  }
  return values;
}

class Client {
 public:
  explicit Client(const panel::Page& page) : outlet(std::make_shared<RecordingOutlet>()), session(page.open(outlet)) {}

  /// Carries out a command, arguments as JSON, and returns its reply.
  Value ask(const std::string& command, const std::string& arguments = "{}") {
    (void)outlet->take_frames();
    last_id = next_id++;
    session->run({last_id, command, parse_json(arguments, "arguments")});
    return outlet->take_reply();
  }
  /// The frame of that kind (and channel) that the last command brought; the test fails unless there is exactly one.
  panel::Frame frame(panel::FrameKind kind, int channel = 0) {
    panel::Frame found;
    int count = 0;
    const std::vector<panel::Frame> all = outlet->take_frames();
    for (const panel::Frame& each : all)
      if (each.kind == kind && each.channel == channel) {
        found = each;
        ++count;
      }
    EXPECT_EQ(count, 1) << "frames of kind " << static_cast<int>(kind) << " among " << all.size();
    EXPECT_EQ(found.request, last_id);
    return found;
  }
  panel::Frame show(panel::FrameKind kind, const std::string& command, const std::string& arguments, int channel = 0) {
    (void)ask(command, arguments);
    return frame(kind, channel);
  }
  /// The whole text of the error that a command ends with.
  std::string error(const std::string& command, const std::string& arguments) {
    try {
      (void)ask(command, arguments);
    } catch (const Error& problem) {
      EXPECT_TRUE(problem.kind() == ErrorKind::bad_input || problem.kind() == ErrorKind::usage) << problem.what();
      return problem.what();
    }
    ADD_FAILURE() << command << " " << arguments << " was carried out";
    return "";
  }

  /// Waits until so many frames have come that are no previews; take_final() then takes them, without the previews.
  void wait_for_final(std::ptrdiff_t count) {
    outlet->wait([count](const auto& frames, const auto&) {
      return std::count_if(frames.begin(), frames.end(), [](const panel::Frame& each) { return !each.preview; }) >=
             count;
    });
  }
  std::vector<panel::Frame> take_final() {
    std::vector<panel::Frame> frames = outlet->take_frames();
    std::erase_if(frames, [](const panel::Frame& each) { return each.preview; });
    return frames;
  }

  std::shared_ptr<RecordingOutlet> outlet;
  std::unique_ptr<panel::Session> session;
  std::uint32_t next_id = 1, last_id = 0;
};

/// Waits until an item is in memory and nothing of its load is still on its way; then forgets what came by itself.
inline void wait_until_loaded(Client& client, const panel::Page& page, std::size_t dataset = 0, std::size_t item = 0) {
  client.outlet->wait([&](const auto&, const auto&) {
    const Value state = page.state();
    const Value& entry = state.find("datasets")->items().at(dataset);
    return entry.find("loading")->is_null() && entry.find("items")->items().at(item).find("held")->as_bool();
  });
  (void)client.outlet->take_frames();
}

}  // namespace sonde::stem::testing
