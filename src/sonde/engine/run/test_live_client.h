// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/engine/panel/page.h"

namespace sonde::testing {

/// Keeps what a client of a LivePage would get.
class LiveClient final : public panel::Outlet {
 public:
  void send(panel::Frame frame) override {
    const std::lock_guard lock(mutex_);
    frames.push_back(std::move(frame));
  }
  void reply(const panel::Command&, Value) override {}
  void event(std::string_view name, Value what) override {
    const std::lock_guard lock(mutex_);
    events_[std::string(name)] = std::move(what);
  }
  /// The newest event of this name.
  [[nodiscard]] Value newest(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return events_[name];
  }
  /// The newest options of a panel.
  [[nodiscard]] Value panel(const std::string& id) {
    const Value event = newest("panel/" + id);
    const Value* options = event.find("options");
    return options != nullptr ? *options : Value::object();
  }
  /// Whether the bar says so: "paused", "stopping".
  [[nodiscard]] bool says(const char* what) {
    const Value run = panel("run");
    const Value* said = run.find(what);
    return said != nullptr && said->as_bool();
  }

  std::vector<panel::Frame> frames;

 private:
  std::mutex mutex_;
  std::map<std::string, Value> events_;
};

}  // namespace sonde::testing
