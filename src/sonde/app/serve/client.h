// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "sonde/app/serve/command_queue.h"
#include "sonde/app/serve/outbox.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/panel/page.h"

namespace sonde::serve {

/// The way of a session to its client: messages and frames go to the outbox, and whoever empties that is woken.
class ClientOutlet final : public panel::Outlet {
 public:
  explicit ClientOutlet(std::function<void()> wake) : wake_(std::move(wake)) {}

  void send(panel::Frame frame) override;
  /// The reply to `stats` also gets the counts below.
  void reply(const panel::Command& command, Value result) override;
  void event(std::string_view name, Value what) override;
  void error(std::uint32_t id, std::string_view command, const Error& error);
  void text(std::string text);
  /// Before all that waits in the held outbox, which then passes everything on.
  void introduce(std::string text);

  /// {"commands": carried out, "replaced": never carried out, or given up, for a newer one, "frames": sent, "dropped":
  /// frames never sent for a newer one}.
  [[nodiscard]] Value counts() const;

  Outbox outbox;
  std::atomic<std::uint64_t> commands{0}, replaced{0}, frames{0};

 private:
  const std::function<void()> wake_;
};

/// One client: its session, the commands that wait for it, and the way back. Knows no network: `turn` runs what it is
/// given later, one after the other, where computing may take its time; `wake` is called when the outbox has something.
/// Receive, export, cancel and close are thread-safe and never block.
class Client : public std::enable_shared_from_this<Client> {
 public:
  using Turn = std::function<void(std::function<void()>)>;
  Client(std::uint32_t number, const panel::Page& page, Turn turn, std::function<void()> wake,
         std::chrono::milliseconds patience);

  /// Describes the page and begins the session.
  void open();
  /// A command as text. What is no command of the page is answered with an error. Throws Error(bad_file) for what is no
  /// JSON: then it is no client of ours.
  void receive(std::string_view text);
  /// Makes a file in its turn; exactly one of the two is called, there.
  void export_file(Value request, std::function<void(panel::File)> done, std::function<void(const Error&)> failed);
  /// Cancels the command that is being carried out; those that wait are forgotten.
  void cancel() { queue_.close(); }
  /// The same, and ends the session after it.
  void close();

  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] ClientOutlet& outlet() { return *outlet_; }

 private:
  void run_next();

  const std::uint32_t number_;
  const panel::Page& page_;
  const Turn turn_;
  const std::shared_ptr<ClientOutlet> outlet_;
  CommandQueue queue_;
  std::atomic<bool> closed_{false};
  std::unique_ptr<panel::Session> session_;  // used in its turn only
};

}  // namespace sonde::serve
