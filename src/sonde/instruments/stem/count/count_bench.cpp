// SPDX-License-Identifier: Apache-2.0
// Frames of 576 x 576 pixels of u16 in memory (42 MB), noise of 1 with an electron in half or two percent of the
// pixels. "read" is the floor: every value is looked at once.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/count/count_frame.h"
#include "sonde/instruments/stem/count/test_counting.h"

namespace sonde::stem {
namespace {

constexpr Index frames = 64, rows = 576, cols = 576, pixels = rows * cols;

const std::vector<std::uint16_t>& dense(double occupancy) {
  static const auto make = [](double share) {
    std::vector<std::uint16_t> values;
    for (Index frame = 0; frame < frames; ++frame)
      for (const float value : testing::noisy_values(1, rows, cols, 20, 1, share, static_cast<std::uint64_t>(frame)))
        values.push_back(static_cast<std::uint16_t>(value));
    return values;
  };
  static const std::vector<std::uint16_t> few = make(0.005), many = make(0.02);
  return occupancy < 0.01 ? few : many;
}

void read_frames(benchmark::State& state) {
  set_thread_count(static_cast<int>(state.range(0)));
  const auto& values = dense(0.005);
  for (auto _ : state)
    parallel_for(frames, 1, [&](Index first, Index last, Worker&) {
      std::uint16_t all = 0;
      for (Index i = first * pixels; i < last * pixels; ++i)
        all = static_cast<std::uint16_t>(all | values[static_cast<std::size_t>(i)]);
      benchmark::DoNotOptimize(all);
    });
  state.SetItemsProcessed(state.iterations() * frames);
  state.SetBytesProcessed(state.iterations() * frames * pixels * 2);
}

void count_frames(benchmark::State& state, double occupancy, bool corrected) {
  set_thread_count(static_cast<int>(state.range(0)));
  const auto& values = dense(occupancy);
  FrameCorrection correction;
  if (corrected) {
    correction.dark.assign(static_cast<std::size_t>(pixels), 0.25F);
    correction.gain.assign(static_cast<std::size_t>(pixels), 1.01F);
  }
  const CountRule rule(rows, cols, correction, {.background = 24.2, .xray = 140});
  struct Own {
    CountRule::Scratch scratch;
    std::vector<std::uint32_t> events;
  };
  PerWorker<Own> own([&] { return Own{CountRule::Scratch(rule), {}}; });
  for (auto _ : state)
    parallel_for(frames, 1, [&](Index first, Index last, Worker& worker) {
      for (Index frame = first; frame < last; ++frame) {
        own[worker].events.clear();
        benchmark::DoNotOptimize(
            rule.count(values.data() + frame * pixels, 65535, own[worker].scratch, own[worker].events));
      }
    });
  state.SetItemsProcessed(state.iterations() * frames);
  state.SetBytesProcessed(state.iterations() * frames * pixels * 2);
}

BENCHMARK(read_frames)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(count_frames, half_percent, 0.005, false)
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(count_frames, two_percent, 0.02, false)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(count_frames, corrected, 0.005, true)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sonde::stem
