// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/options/value.h"
#include "sonde/engine/panel/frame.h"

namespace sonde::panel {

/// One area of a page. `type` is what the client knows how to draw (docs/viewer-protocol.md lists them); `options` is
/// for that type only, but for `hint`, a few words beside any title.
struct Panel {
  std::string id{}, type{}, title{};
  Value options = Value::object();
  std::string place{};  ///< "title", "top", "side", "bottom" or "dialog" of the page; empty: in its middle
};

/// A command that a page understands.
struct Action {
  std::string name{};
  std::string help{};
  /// Only the newest waiting command with equal values of these arguments is kept ("channel": one per detector). With
  /// `latest` false every one is carried out, in order.
  std::vector<std::string> distinct{};
  bool latest = true;
};

/// A command as a client sent it: {"id": 17, "command": "set_position", "row": 3, "col": 5}.
struct Command {
  std::uint32_t id = 0;
  std::string name;
  Value arguments = Value::object();  ///< all members but id and command
};

/// A file that a person takes away.
struct File {
  std::string name{};        ///< without a folder
  std::string media_type{};  ///< "image/png"
  std::vector<std::byte> bytes{};
};

/// The way to one client. Thread-safe, never blocks: of the frames of one kind, channel, data set that still wait for
/// the network only the newest is kept. After the client has gone everything is dropped.
class Outlet {
 public:
  virtual ~Outlet() = default;
  virtual void send(Frame frame) = 0;
  /// The answer to a command: {"type": "reply", "id": ..., "command": ..., members of `result`}.
  virtual void reply(const Command& command, Value result) = 0;
  /// Something that happened: {"type": "event", "event": name, members of `what`}. Of waiting events of one name only
  /// the newest is kept.
  virtual void event(std::string_view name, Value what) = 0;
};

/// What one client looks at. One command of a session is carried out at a time, on a thread that may take its time;
/// newer commands wait meanwhile. An Error that a command throws becomes its reply.
class Session {
 public:
  virtual ~Session() = default;
  virtual void run(const Command& command) = 0;
  /// A file of what this client sees, for the same request as the action `export` has.
  /// Throws Error(bad_input) for what it does not know.
  [[nodiscard]] virtual File export_file(const Value& request) = 0;
};

/// Something to look at in a browser, as data: what an instrument builds and the server shows, neither knowing the
/// other.
struct Page {
  std::string title{};
  std::string view{};  ///< how large the client makes the panels: "stem", "report", "panels", "run", "mixer"
  std::vector<Panel> panels{};
  std::vector<Action> actions{};
  std::string ended{};  ///< what the client says when the server has ended; empty: that it has
  /// What is shown now, for every client alike (data sets, memory); its member `panels` has options of panels by their
  /// ids, in place of those above. null: nothing changes.
  std::function<Value()> state{};
  /// Begins to serve one client. The outlet may be used from any thread until the session ends.
  std::function<std::unique_ptr<Session>(std::shared_ptr<Outlet>)> open{};

  /// {"title", "view", "ended", "panels": [...], "actions": [...], "state": ...}: what a client receives first.
  [[nodiscard]] Value describe() const;
  /// nullptr when the page has no such action.
  [[nodiscard]] const Action* find_action(std::string_view name) const;
};

}  // namespace sonde::panel
