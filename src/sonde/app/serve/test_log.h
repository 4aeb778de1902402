// SPDX-License-Identifier: Apache-2.0
// For the tests of this room: what goes to the log while this object lives.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/base/log.h"

namespace sonde::serve {

class TestLog {
 public:
  TestLog()
      : before_(set_log_sink([kept = kept_](LogLevel, const std::string& line) {
          const std::lock_guard lock(kept->mutex);
          kept->lines.push_back(line);
          kept->changed.notify_all();
        })) {}
  TestLog(const TestLog&) = delete;
  TestLog& operator=(const TestLog&) = delete;
  ~TestLog() { set_log_sink(std::move(before_)); }

  [[nodiscard]] std::vector<std::string> lines() const {
    const std::lock_guard lock(kept_->mutex);
    return kept_->lines;
  }
  /// True as soon as a line with this part is there; false after a minute.
  [[nodiscard]] bool gets(const std::string& part) const {
    std::unique_lock lock(kept_->mutex);
    return kept_->changed.wait_for(lock, std::chrono::minutes(1), [&] {
      return std::any_of(kept_->lines.begin(), kept_->lines.end(),
                         [&](const auto& line) { return line.find(part) != std::string::npos; });
    });
  }

 private:
  struct Kept {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> lines;
  };
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
  LogSink before_;
};

}  // namespace sonde::serve
