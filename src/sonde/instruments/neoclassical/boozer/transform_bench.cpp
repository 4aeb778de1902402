// SPDX-License-Identifier: Apache-2.0
// Time per surface against its products of matrices: 20 x mboz x nboz x points.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/neoclassical/boozer/transform.h"

namespace sonde::neoclassical {
namespace {

void transform(benchmark::State& state, const char* name) {
  const char* folder = std::getenv("SONDE_TEST_DATA");
  if (folder == nullptr) return state.SkipWithError("SONDE_TEST_DATA is not set");
  const std::filesystem::path path = std::filesystem::path(folder) / "neoclassical" / name;
  set_thread_count(static_cast<int>(state.range(0)));
  const Wout wout = read_wout(path.string());
  const BoozerResolution resolution = default_resolution(wout);
  for (auto _ : state) {
    Notes notes;
    benchmark::DoNotOptimize(boozer_transform(wout, {}, resolution, notes));
  }
  const double points = (2.0 * resolution.mboz + 2) * 2 * (2 * resolution.nboz + 1);
  const double flops = 2 * 2 * 5.0 * resolution.mboz * (resolution.nboz + 1) * points;
  const auto surfaces = static_cast<double>(wout.s.size() * static_cast<std::size_t>(state.iterations()));
  state.counters["s/surface"] = benchmark::Counter(surfaces, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["flop/s"] = benchmark::Counter(surfaces * flops, benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(transform, li383, "wout_li383_1.4m.nc")->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(transform, w7x, "wout_w7x_standardConfig.nc")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace sonde::neoclassical
