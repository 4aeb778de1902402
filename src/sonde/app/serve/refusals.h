// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "sonde/engine/base/clock.h"

namespace sonde::serve {

/// Text that a stranger sent, fit for a log: at most `longest` bytes, what is not printable ASCII as "?".
[[nodiscard]] std::string printable(std::string_view text, std::size_t longest = 80);

/// Writes to the log what was refused and why. Of one reason at most one line in ten seconds, with the number of those
/// that were left out, so that nobody can fill the log. Thread-safe.
class Refusals {
 public:
  Refusals() = default;
  /// With another clock, in seconds, for tests.
  explicit Refusals(std::function<double()> clock) : clock_(std::move(clock)) {}

  /// `reason` tells kinds of refusals apart and comes from a small set; `text` is the line.
  void note(std::string_view reason, const std::string& text);
  [[nodiscard]] std::uint64_t count() const;

 private:
  struct Kind {
    double last_s = 0;
    std::uint64_t left_out = 0;
  };

  Stopwatch watch_;
  std::function<double()> clock_ = [this] { return watch_.seconds(); };
  mutable std::mutex mutex_;
  std::map<std::string, Kind, std::less<>> kinds_;
  std::uint64_t count_ = 0;
};

}  // namespace sonde::serve
