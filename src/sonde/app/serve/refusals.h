// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "sonde/engine/base/clock.h"

namespace sonde::serve {

/// Text that a stranger sent, fit for a log: at most `longest` bytes, what is not printable ASCII as "?".
[[nodiscard]] std::string printable(std::string_view text, std::size_t longest = 80);

/// Why something was refused or ended. None hides behind the lines about another.
enum class Reason {
  none,
  // requests
  host,
  origin,
  secret,
  token,
  path,
  head_too_long,
  body_too_long,
  no_http,
  bad_export,
  slow_request,
  early_data,
  // connections
  crowd,
  too_many_clients,
  cannot_accept,
  // WebSockets
  handshake,
  binary_message,
  bad_json,
  message_too_long,
  broken_protocol,
  silence,
  slow_reader,
  count
};

/// Writes to the log what was refused and why. Of one reason at most one line in ten seconds, so that nobody can fill
/// the log; those that are left out are counted, and reported with the next line or by flush(). Thread-safe.
class Refusals {
 public:
  Refusals() = default;
  /// With another clock, in seconds, for tests.
  explicit Refusals(std::function<double()> clock) : clock_(std::move(clock)) {}

  /// `text` is the line.
  void note(Reason reason, const std::string& text);
  /// Reports those that were left out where the ten seconds are over, or of `all`.
  void flush(bool all);
  [[nodiscard]] std::uint64_t count() const;

 private:
  struct Kind {
    bool noted = false;
    double last_s = 0;
    std::uint64_t left_out = 0;
    std::string newest;  ///< of those that were left out
  };

  Stopwatch watch_;
  std::function<double()> clock_ = [this] { return watch_.seconds(); };
  mutable std::mutex mutex_;
  std::array<Kind, static_cast<std::size_t>(Reason::count)> kinds_;
  std::uint64_t count_ = 0;
};

}  // namespace sonde::serve
