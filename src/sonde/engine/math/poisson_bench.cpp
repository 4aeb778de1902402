// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <vector>

#include "sonde/engine/math/poisson.h"

namespace {

void draw(benchmark::State& state) {
  const std::vector<double> rates(36864, static_cast<double>(state.range(0)) / 10);
  std::vector<std::uint32_t> counts(rates.size());
  std::uint64_t stream = 0;
  for (auto _ : state) {
    sonde::draw_poisson({1, stream++}, rates, counts);
    benchmark::DoNotOptimize(counts.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rates.size()));
}
BENCHMARK(draw)->Arg(1)->Arg(10)->Arg(110)->Arg(300)->Arg(1000);  // tenths of a count

}  // namespace
