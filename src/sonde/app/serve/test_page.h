// SPDX-License-Identifier: Apache-2.0
// For the tests of this room: a page whose commands do what a test needs, and a server that shows it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sonde/app/serve/server.h"
#include "sonde/app/serve/test_client.h"
#include "sonde/app/serve/test_log.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"

namespace sonde::serve {

/// Where commands wait until the test lets them pass, and what became of sessions.
class Stage {
 public:
  void pass() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void hold() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }
  void session_ends() {
    const std::lock_guard lock(mutex_);
    ++ended_;
    changed_.notify_all();
  }
  /// Returns when so many sessions have ended since the beginning.
  void wait_for_ended(int sessions) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ >= sessions; });
  }
  void work_begins() {
    const std::lock_guard lock(mutex_);
    ++working_;
    changed_.notify_all();
  }
  /// Returns when so many commands `work` have begun.
  void wait_for_work(int commands) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return working_ >= commands; });
  }
  /// Payloads of frames that are alive, and how many ever were at once.
  std::atomic<int> payloads{0}, most_payloads{0};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int ended_ = 0, working_ = 0;
};

/// A payload that is counted while it lives.
inline panel::Frame counted_frame(Stage& stage, std::uint32_t request, std::uint32_t bytes) {
  struct Payload {
    Payload(Stage& where, std::uint32_t size) : bytes(size), owner(where) {
      const int now = ++owner.payloads;
      for (int most = owner.most_payloads; now > most && !owner.most_payloads.compare_exchange_weak(most, now);) {
      }
    }
    ~Payload() { --owner.payloads; }
    std::vector<std::byte> bytes;
    Stage& owner;
  };
  const auto payload = std::make_shared<const Payload>(stage, bytes);
  return {.kind = panel::FrameKind::image,
          .request = request,
          .rows = 1,
          .cols = bytes,
          .type = panel::FrameType::u8,
          .owner = payload,
          .payload = payload->bytes};
}

class TestSession final : public panel::Session {
 public:
  TestSession(Stage& stage, std::shared_ptr<panel::Outlet> outlet) : stage_(stage), outlet_(std::move(outlet)) {}
  TestSession(const TestSession&) = delete;
  TestSession& operator=(const TestSession&) = delete;
  ~TestSession() override { stage_.session_ends(); }

  void run(const panel::Command& command) override {
    const auto argument = [&](const char* name) {
      return static_cast<std::uint32_t>(number_at(command.arguments, name));
    };
    if (command.name == "work") {
      stage_.work_begins();
      for (;;) {  // as a loop over frames without an end does
        check_interrupt();
        std::this_thread::yield();
      }
    }
    stage_.wait();
    if (command.name == "fail") throw Error(ErrorKind::bad_input, "no channel 9").hint("channels are 0 to 7");
    if (command.name == "crash") throw std::runtime_error("a bug");
    for (std::uint32_t i = 0; i < argument("texts"); ++i)
      outlet_->reply({.id = command.id, .name = "text"}, value("filling", std::string(argument("bytes"), 'x')));
    for (std::uint32_t i = 0; i < argument("frames"); ++i)
      outlet_->send(counted_frame(stage_, command.id + i, argument("bytes")));
    outlet_->reply(command, command.arguments);
  }
  panel::File export_file(const Value& request) override {
    stage_.wait();
    if (text_at(request, "format") != "csv") throw Error(ErrorKind::bad_input, "no such format");
    return {.name = "profile.csv", .media_type = "text/csv", .bytes = {std::byte{'1'}, std::byte{'\n'}}};
  }

 private:
  static Value value(const char* key, Value content) {
    Value object;
    object[key] = std::move(content);
    return object;
  }
  Stage& stage_;
  const std::shared_ptr<panel::Outlet> outlet_;
};

/// Actions: `set` (the newest of each channel), `each` (all of them), `fail`, `crash`, and `work`, which ends only when
/// it is cancelled. `set` and `each` take `texts` and `frames` (how many to send) of `bytes`, and wait on the stage
/// first.
inline panel::Page test_page(Stage& stage) {
  panel::Page page{.title = "test", .view = "stem"};
  page.actions = {{.name = "set", .distinct = {"channel"}},
                  {.name = "each", .latest = false},
                  {.name = "fail"},
                  {.name = "crash"},
                  {.name = "work", .distinct = {"channel"}}};
  page.state = [] { return Value("the state"); };
  page.open = [&stage](std::shared_ptr<panel::Outlet> outlet) {
    return std::make_unique<TestSession>(stage, std::move(outlet));
  };
  return page;
}

/// A server on a free port with a page of its own. The log is collected.
struct TestServer {
  TestLog log;
  Stage stage;
  Server server;
  std::string token, host, secret;

  explicit TestServer(const Limits& limits = {}, const ServeOptions& options = {})
      : server(test_page(stage), options, limits),
        token(server.url().substr(server.url().find('=') + 1)),
        host("localhost:" + std::to_string(server.port())) {
    server.start();
    secret = text_at(parse_json(enter("token", token).body, "answer"), "secret");
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;
  ~TestServer() { stage.pass(); }

  [[nodiscard]] TestConnection connect() const { return TestConnection(server.port()); }
  /// Exchanges a token or a code.
  [[nodiscard]] TestAnswer enter(const std::string& kind, const std::string& text) const {
    return ask(request("POST /api/enter", "", "{\"" + kind + "\": \"" + text + "\"}"));
  }
  /// A client that has read the page message.
  [[nodiscard]] TestWebSocket open(int receive_buffer = 0) const {
    TestWebSocket socket(server.port(), secret, receive_buffer);
    EXPECT_TRUE(socket.is_open()) << socket.head;
    EXPECT_EQ(text_at(socket.receive_json(), "type"), "page");
    return socket;
  }
  /// A request with the headers that a browser sends, one of which may be replaced ("Host: evil").
  [[nodiscard]] std::string request(const std::string& line, const std::string& other = "",
                                    const std::string& body = "") const {
    std::string text = line + " HTTP/1.1\r\n";
    for (const std::string& header : {"Host: " + host, "Origin: http://" + host, "X-Sonde-Secret: " + secret})
      if (!other.starts_with(header.substr(0, header.find(':') + 1))) text += header + "\r\n";
    if (!other.empty()) text += other + "\r\n";
    if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return text + "\r\n" + body;
  }
  [[nodiscard]] TestAnswer ask(const std::string& text) const {
    TestConnection connection = connect();
    connection.send(text);
    return read_answer(connection);
  }
};

}  // namespace sonde::serve
