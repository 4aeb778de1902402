// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace sonde::serve {

/// A client that looks at the page of a server of this machine: it takes whatever comes over its WebSocket, as fast as
/// it comes, and keeps nothing but the number of frames. One thread of its own. For benchmarks: what being watched
/// costs.
class Reader {
 public:
  /// `url`: Server::url() of a server that has started. Throws Error(io) when it is not let in.
  explicit Reader(const std::string& url);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  /// Goes away.
  ~Reader();

  /// That have arrived until now.
  [[nodiscard]] std::int64_t frames() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sonde::serve
