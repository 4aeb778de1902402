// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/panel/page.h"

namespace sonde::serve {

/// The commands of one client: those that wait, and the one that is being carried out. Thread-safe.
///
/// Of waiting commands of one action with equal distinct arguments only the newest is kept. It takes the place of the
/// one that it replaces, so that two handles that are dragged at once get their turns alternately; but it never passes
/// a command whose action is carried out every time, because that may have been meant to come before.
///
/// The one that is being carried out gives way too, once it has taken `patience`: a hand that has waited that long
/// wants what it asked for last. Before, it is finished, so that a drag shows images as fast as they can be made.
class CommandQueue {
 public:
  explicit CommandQueue(std::size_t capacity = 64, std::chrono::milliseconds patience = std::chrono::seconds(2))
      : capacity_(capacity), patience_(patience) {}

  enum class Outcome {
    queued,    ///< there is one more to carry out
    replaced,  ///< it stands for an older one, which is gone
    full,      ///< it was not taken: the client sends faster than it is served
  };
  [[nodiscard]] Outcome push(panel::Command command, const panel::Action& action);

  /// Work that is being carried out; one at a time. end() reports its end.
  struct Begun {
    panel::Command command;
    std::shared_ptr<const Cancel> cancel;  ///< requested when a newer one takes its place, and by close()
  };
  /// The next one, or nothing.
  [[nodiscard]] std::optional<Begun> pop();
  /// Work that never waited here and that no command replaces: an export.
  [[nodiscard]] std::shared_ptr<const Cancel> begin();
  void end();
  /// Nobody waits for answers any more: what waits is forgotten, what is being carried out and what follows is
  /// cancelled.
  void close();
  [[nodiscard]] std::size_t size() const;

 private:
  struct Waiting {
    panel::Command command;
    std::string key;  ///< equal for those that replace each other; empty: none does
  };

  std::shared_ptr<Cancel> start(std::string key);

  const std::size_t capacity_;
  const std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;
  std::list<Waiting> waiting_;
  std::shared_ptr<Cancel> cancel_;  // of what is being carried out
  std::string begun_key_;
  std::chrono::steady_clock::time_point begun_at_;
  bool closed_ = false;
};

}  // namespace sonde::serve
