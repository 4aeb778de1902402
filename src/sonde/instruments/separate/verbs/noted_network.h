// SPDX-License-Identifier: Apache-2.0
// Private to the room: a run's network, and what is noted at its first pass.
#pragma once

#include <memory>
#include <optional>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/options/value.h"
#include "sonde/instruments/separate/network/network.h"

namespace sonde::separate {

/// Bytes that this process holds, and that it could still get: {"held_bytes", "free_bytes"}.
[[nodiscard]] Value memory_now();

/// The network itself. A plan has all its memory when it is made, but the system gives it at the first touch: after the
/// first pass nothing more is taken.
class NotedNetwork : public Network {
 public:
  /// `since`: when the run began.
  NotedNetwork(Network& network, const Stopwatch& since) : network_(network), since_(since) {}

  void run(View<const float, 2> samples, View<float, 3> stems) override;
  [[nodiscard]] std::vector<Time> times() const override { return network_.times(); }

  /// Seconds from the beginning of the run to that of the first pass; nothing before it.
  [[nodiscard]] std::optional<double> first_pass_begins_s() const { return begins_s_; }
  /// memory_now() after the first pass.
  [[nodiscard]] const Value& memory() const { return memory_; }

 private:
  Network& network_;
  const Stopwatch& since_;
  std::optional<double> begins_s_;
  Value memory_ = Value::object();
};

}  // namespace sonde::separate
