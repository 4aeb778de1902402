// SPDX-License-Identifier: Apache-2.0
// Whole scans on all threads: the 128 cases that other codes publish, and a part of the database of one surface.
#include <benchmark/benchmark.h>

#include <cmath>

#include "sonde/engine/memory/host_memory.h"
#include "sonde/instruments/neoclassical/operators/test_surfaces.h"
#include "sonde/instruments/neoclassical/scan/scan.h"

namespace {

using namespace sonde::neoclassical;
using sonde::Budget;

/// `count` values from `first` to `last`, evenly in the logarithm.
std::vector<double> logspaced(double first, double last, int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i)
    values.push_back(first * std::pow(last / first, static_cast<double>(i) / (count - 1)));
  return values;
}

std::vector<double> with_zero(std::vector<double> values) {
  values.insert(values.begin(), 0.0);
  return values;
}

void run(benchmark::State& state, const GridSpec& grid, const std::vector<Case>& cases) {
  const Plan plan = Plan::prepare(testing::w7x(), grid);
  const Budget budget(std::size_t{1} << 30U, "for the benchmark");
  for (auto _ : state) benchmark::DoNotOptimize(scan(plan, cases, budget));
  state.counters["points/s"] =
      benchmark::Counter(static_cast<double>(cases.size()), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["peak_MB"] = static_cast<double>(sonde::resident_memory().peak) / 1e6;
}

/// 16 nu_hat from 1e-5 to 1, er_hat 0 and 7 from 1e-6 to 1e-3.
void cases_128(benchmark::State& state) {
  std::vector<double> epsi_hat = with_zero(logspaced(1e-6, 1e-3, 7));
  for (double& value : epsi_hat) value /= -0.5237;
  run(state, {17, 25, 16}, grid_of_cases(logspaced(1e-5, 1, 16), epsi_hat));
}
BENCHMARK(cases_128)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1)->Repetitions(3);

/// 2 of the 16 nu_hat of a surface of the database with all 12 fields: an eighth of the whole.
void database_eighth(benchmark::State& state) {
  const std::vector<double> nu_hat{1e-5, 1e-2};
  run(state, {25, 25, 60}, grid_of_cases(nu_hat, with_zero(logspaced(1e-6, 1e-1, 11))));
}
BENCHMARK(database_eighth)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);

/// 16 cases on 9 x 11 x 6 with a plan at hand.
void reuse_16(benchmark::State& state) {
  run(state, {9, 11, 6}, grid_of_cases(logspaced(1e-4, 1, 8), std::vector<double>{0, 1e-4}));
}
BENCHMARK(reuse_16)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
