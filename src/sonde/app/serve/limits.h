// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace sonde::serve {

/// What strangers may use up, and how long they may take.
struct Limits {
  std::size_t connections = 64;
  std::size_t clients = 16;
  std::size_t head_bytes = 16 * 1024;  ///< of an HTTP request: cookies of every server on this machine are in it
  std::size_t body_bytes = 64 * 1024;
  std::chrono::milliseconds handshake{10'000};  ///< for the first request, the body of one, and a WebSocket's secret
  std::chrono::milliseconds keep_alive{30'000};
  std::chrono::milliseconds silence{120'000};   ///< of a WebSocket; a ping is sent after half of it
  std::chrono::milliseconds farewell{2'000};    ///< for the last messages when a connection ends
  std::chrono::milliseconds last_word{500};     ///< the same when the server ends: Ctrl-C waits for nobody longer
  std::chrono::milliseconds patience{2'000};    ///< a command that takes longer gives way to a newer one of its kind
  std::size_t slowest_bytes_per_s = 64 * 1024;  ///< who reads an HTTP answer more slowly than this is cut off
};

}  // namespace sonde::serve
