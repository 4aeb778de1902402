// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>

#include "sonde/engine/panel/page.h"

namespace sonde::serve {

/// The commands of one client that wait for the one that is being carried out. Thread-safe.
///
/// Of waiting commands of one action with equal distinct arguments only the newest is kept. It takes the place of the
/// one that it replaces, so that two handles that are dragged at once get their turns alternately; but it never passes
/// a command whose action is carried out every time, because that may have been meant to come before.
class CommandQueue {
 public:
  explicit CommandQueue(std::size_t capacity = 64) : capacity_(capacity) {}

  enum class Outcome {
    queued,    ///< there is one more to carry out
    replaced,  ///< it stands for an older one, which is gone
    full,      ///< it was not taken: the client sends faster than it is served
  };
  [[nodiscard]] Outcome push(panel::Command command, const panel::Action& action);
  /// The next one, or nothing.
  [[nodiscard]] std::optional<panel::Command> pop();
  [[nodiscard]] std::size_t size() const;

 private:
  struct Waiting {
    panel::Command command;
    std::string key;  ///< equal for those that replace each other; empty: none does
  };

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::list<Waiting> waiting_;
};

}  // namespace sonde::serve
