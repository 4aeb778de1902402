// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sonde/engine/base/choice.h"
#include "sonde/engine/device/stream.h"

namespace sonde {

/// Work that is queued again and again in the same form: the same kernels, sizes and addresses. On a GPU the queueing
/// itself costs a few microseconds for each kernel; a graph, recorded once, is queued at once. Whether that is faster
/// depends on the work, so the first runs measure it: a few as they are, a few as a graph, and the faster way stays.
/// Every run does the work once, also while measuring. On the CPU the work is simply called. A comparison asks for one
/// of the ways itself.
///
/// Work that is recorded allocates nothing, waits for nothing, and queues only to its stream, or to others that it
/// ties to that stream with events. What a user changes between runs lies in memory that the work reads.
class Graph {
 public:
  enum class Replay { measured, always, never };
  explicit Graph(std::function<void(Stream&)> work, Replay replay = Replay::measured)
      : work_(std::move(work)), replay_(replay) {}
  Graph(Graph&& other) noexcept;
  Graph& operator=(Graph&&) = delete;
  ~Graph();

  /// Queues the work once. All runs use streams of one device. While measuring it waits for the stream.
  void run(Stream& stream);

  /// Whether runs are replays of the recorded graph from now on, and why; until it has been measured, false.
  [[nodiscard]] const Choice<bool>& replays() const { return replays_; }

 private:
  void decide(Stream& stream);
  void record(Stream& stream);
  void measured_run(Stream& stream);

  std::function<void(Stream&)> work_;
  Replay replay_;
  Device device_;
  void* recorded_ = nullptr;  // cudaGraphExec_t
  Choice<bool> replays_{false, "not measured yet"};
  std::vector<double> plain_s_, replay_s_;
  bool decided_ = false;
};

}  // namespace sonde
