// SPDX-License-Identifier: Apache-2.0
// One point along each path on the grids of the benchmarks. Items are the floating-point operations that the path needs
// at least.
#include <benchmark/benchmark.h>

#include "sonde/instruments/neoclassical/operators/test_surfaces.h"
#include "sonde/instruments/neoclassical/solve/plan.h"

namespace {

using namespace sonde::neoclassical;

void point(benchmark::State& state, GridSpec grid, Path path, double epsi_hat) {
  const Plan plan = Plan::prepare(testing::w7x(), grid, {.path = path});
  Plan::Workspace workspace = plan.workspace();
  plan.solve({1e-3, epsi_hat}, workspace);
  for (auto _ : state) benchmark::DoNotOptimize(plan.solve({1e-3, epsi_hat}, workspace));
  state.SetItemsProcessed(static_cast<std::int64_t>(least_flops(path, grid) * static_cast<double>(state.iterations())));
}

constexpr GridSpec smoke{9, 11, 6}, production{17, 25, 16}, high{25, 25, 60};

#define POINT(name, ...) BENCHMARK_CAPTURE(point, name, __VA_ARGS__)->Unit(benchmark::kMillisecond)
POINT(spd_9x11x6, smoke, Path::spd, 0.0);
POINT(quasidefinite_9x11x6, smoke, Path::quasidefinite, 1e-3);
POINT(dense_9x11x6, smoke, Path::dense, 1e-3);
POINT(spd_17x25x16, production, Path::spd, 0.0);
POINT(quasidefinite_17x25x16, production, Path::quasidefinite, 1e-3);
POINT(dense_17x25x16, production, Path::dense, 1e-3);
POINT(spd_25x25x60, high, Path::spd, 0.0);
POINT(quasidefinite_25x25x60, high, Path::quasidefinite, 1e-3);

}  // namespace
