// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "sonde/engine/panel/frame.h"

namespace sonde::serve {

/// What waits for the network on its way to one client, bounded whatever the client does. Thread-safe, never blocks.
///
/// Messages leave in the order in which they came. A frame replaces a waiting one of the same kind, channel and data
/// set, in its place. Of events of one name only the newest is kept, where it came: what other events said before it
/// is known by then. Texts and files are all kept, so a client that never reads overflows: then the outbox takes
/// nothing more, and the connection has to end.
class Outbox {
 public:
  struct Limits {
    std::size_t text_bytes = std::size_t{8} << 20;  ///< a single message may be longer
    std::size_t texts = 1024;
    std::size_t frames = 256;                          ///< of different kind, channel or data set
    std::size_t frame_bytes = std::size_t{128} << 20;  ///< of all frames and files; a single one may be larger
    std::size_t files = 16;
  };
  struct Message {
    std::string text;  ///< when there is no frame
    std::optional<panel::Frame> frame;
  };

  Outbox() : Outbox(Limits{}) {}
  explicit Outbox(Limits limits) : limits_(limits) {}

  /// Nothing leaves from now on, until introduce() puts this text before all that waits.
  void hold();
  void introduce(std::string text);

  void push_text(std::string text);
  void push_event(std::string_view name, std::string text);
  void push_frame(panel::Frame frame);
  /// The next message, or nothing.
  [[nodiscard]] std::optional<Message> pop();

  /// From now on everything is dropped, also what waits.
  void close();
  /// Which limit was passed, in words; empty while none was.
  [[nodiscard]] std::string overflow() const;
  /// Frames that were dropped because a newer one took their place.
  [[nodiscard]] std::uint64_t dropped_frames() const;
  [[nodiscard]] std::size_t size() const;

 private:
  struct Waiting {
    Message message;
    std::string event;  ///< name of an event, empty otherwise
  };
  [[nodiscard]] bool closed() const { return closed_ || !overflow_.empty(); }
  void push(Message message, std::string event);
  void forget();
  void overflow(std::string reason);

  const Limits limits_;
  mutable std::mutex mutex_;
  std::list<Waiting> waiting_;
  std::size_t text_bytes_ = 0, texts_ = 0, frames_ = 0, files_ = 0, frame_bytes_ = 0;
  std::uint64_t dropped_ = 0;
  bool closed_ = false, held_ = false;
  std::string overflow_;
};

}  // namespace sonde::serve
