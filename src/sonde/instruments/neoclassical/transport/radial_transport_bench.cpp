// SPDX-License-Identifier: Apache-2.0
// The profile workload: 51 radii, three species, 64 energies, from a table of 7 x 16 x 12 points.
#include "sonde/instruments/neoclassical/transport/radial_transport.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <filesystem>

#include "sonde/instruments/neoclassical/database/database_file.h"
#include "sonde/instruments/neoclassical/transport/profiles.h"
#include "sonde/instruments/neoclassical/transport/table_source.h"

namespace sonde::neoclassical {
namespace {

/// The default axes with coefficients like those of a stellarator.
Database database() {
  Database made;
  made.axes = default_axes();
  made.psia = 0.35;
  made.a_b = 0.5;
  const std::size_t radii = made.axes.rho.size();
  made.geometry = {std::vector<double>(radii, 2.5), std::vector<double>(radii, 5.5), std::vector<double>(radii, 14),
                   std::vector<double>(radii, 0),   std::vector<double>(radii, 0.9), {}};
  for (const double rho : made.axes.rho)
    for (const double nu : made.axes.nu_v)
      for (const double er : made.axes.Er_tilde) {
        made.D11.push_back(rho * (nu + 1e-5 * nu / (nu * nu + er * er)));
        made.D31.push_back(0.1 / (1 + nu));
        made.D13.push_back(-0.1 / (1 + nu));
        made.D33.push_back(0.4 / nu);
        made.D33_spitzer.push_back(2.0 / 3 / nu);
      }
  return made;
}

void profile(benchmark::State& state, std::optional<int> order, bool ambipolar) {
  const TableSource source(database());
  std::vector<RadialInput> inputs;
  for (int i = 0; i < 51; ++i) {
    const double rho = 0.1 + 0.016 * i;
    inputs.push_back({rho, standard_plasma({}, rho, source.minor_radius()), std::nullopt, 0});
    if (!ambipolar) inputs.back().E_r = -5e3;
  }
  TransportOptions options;
  options.sonine_order = order;
  for (auto _ : state) benchmark::DoNotOptimize(radial_transport(source, inputs, options));
}
BENCHMARK_CAPTURE(profile, plain, std::nullopt, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(profile, momentum, 2, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(profile, momentum_12, 12, false)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(profile, ambipolar, std::nullopt, true)->Unit(benchmark::kMillisecond)->UseRealTime();

void load(benchmark::State& state) {
  const std::string path = std::filesystem::temp_directory_path() / "sonde-database-bench.h5";
  write_database(path, database());
  for (auto _ : state) benchmark::DoNotOptimize(TableSource(read_database(path).database));
  std::filesystem::remove(path);
}
BENCHMARK(load)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace sonde::neoclassical
