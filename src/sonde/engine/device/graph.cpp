// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/device/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/device/device_kernels.h"

namespace sonde {
namespace {

constexpr std::size_t measured_runs = 4;  // of each way; the first warms up, the fastest counts

double fastest(const std::vector<double>& seconds) { return *std::min_element(seconds.begin() + 1, seconds.end()); }

}  // namespace

Graph::Graph(Graph&& other) noexcept
    : work_(std::move(other.work_)),
      replay_(other.replay_),
      device_(other.device_),
      recorded_(std::exchange(other.recorded_, nullptr)),
      replays_(std::move(other.replays_)),
      plain_s_(std::move(other.plain_s_)),
      replay_s_(std::move(other.replay_s_)),
      decided_(other.decided_) {}

Graph::~Graph() {
  if constexpr (built_with_cuda)
    if (recorded_ != nullptr) cuda::destroy_graph(device_.info().ordinal, recorded_);
}

void Graph::run(Stream& stream) {
  if (!decided_) decide(stream);
  if (!decided_) return measured_run(stream);
  if constexpr (built_with_cuda)
    if (replays_.value) return cuda::launch_graph(device_.info().ordinal, recorded_, stream.handle());
  work_(stream);
}

void Graph::decide(Stream& stream) {
  if (!stream.device().info().can.graphs)
    replays_ = {false, stream.device().name() + " has no graphs"};
  else if (replay_ != Replay::measured)
    replays_ = {replay_ == Replay::always, "asked for"};
  else
    return;
  decided_ = true;
  if (replays_.value) record(stream);
}

void Graph::record(Stream& stream) {
  device_ = stream.device();
  if constexpr (built_with_cuda)
    recorded_ = cuda::record_graph(device_.info().ordinal, stream.handle(), [&] { work_(stream); });
}

// Wall time, because what a graph saves is the time of queueing; the stream is waited for on both sides.
void Graph::measured_run(Stream& stream) {
  if constexpr (built_with_cuda) {
    const int ordinal = stream.device().info().ordinal;
    const bool plain = plain_s_.size() < measured_runs;
    if (!plain && recorded_ == nullptr) record(stream);
    stream.synchronise();
    const Stopwatch watch;
    if (plain)
      work_(stream);
    else
      cuda::launch_graph(ordinal, recorded_, stream.handle());
    stream.synchronise();
    (plain ? plain_s_ : replay_s_).push_back(watch.seconds());
    if (replay_s_.size() < measured_runs) return;
    const double as_it_is = fastest(plain_s_), as_a_graph = fastest(replay_s_);
    replays_ = {as_a_graph < as_it_is,
                fmt::format("{} as a graph, {} without", format_seconds(as_a_graph), format_seconds(as_it_is))};
    decided_ = true;
  }
  (void)stream;
}

}  // namespace sonde
