// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/bench/cases.h"

#include <string>
#include <utility>

#include "sonde/instruments/neoclassical/bench/prepare.h"

namespace sonde::neoclassical {
namespace {

BenchCase on_cpu(std::string name, std::string summary, std::vector<std::string> sizes,
                 std::function<PreparedCase(const BenchPoint&)> prepare) {
  return {.name = "neoclassical-" + std::move(name),
          .summary = std::move(summary),
          .sizes = std::move(sizes),
          .devices = {DeviceKind::cpu},
          .prepare = std::move(prepare)};
}

PreparedCase on_smoke_grid(const BenchPoint& point) { return prepare_scan(point, {9, 11, 6}); }
PreparedCase on_production_grid(const BenchPoint& point) { return prepare_scan(point, {17, 25, 16}); }
PreparedCase on_fine_grid(const BenchPoint& point) { return prepare_scan(point, {25, 25, 60}); }

BenchCase with_processes(BenchCase made) {
  made.same_work = true;
  made.devices.push_back(DeviceKind::cuda);
  return made;
}

BenchCase crossover() {
  BenchCase made = on_cpu(
      "crossover", "Every elimination and compute path that can, over the points of each angle, 16 Legendre modes",
      {"7", "11", "15", "19", "23"}, prepare_crossover);
  made.devices.push_back(DeviceKind::cuda);
  made.keep = keep_crossovers;
  return made;
}

BenchCase peers() {
  BenchCase made = on_cpu("peers", "The same points by MONKES (--monkes PATH), in seconds of one core",
                          {"17x25x16", "25x25x60"}, prepare_peers);
  made.needs_program = "MONKES";
  return made;
}

}  // namespace

std::vector<BenchCase> bench_cases() {
  return {
      on_cpu("point", "One solve along its path, without and with electric field", {"9x11x6", "17x25x16", "25x25x60"},
             prepare_point),
      crossover(),
      with_processes(
          on_cpu("scaling-smoke", "Scans on 9x11x6, size in points", {"8", "16", "32", "64"}, on_smoke_grid)),
      with_processes(
          on_cpu("scaling", "Scans on 17x25x16, size in points", {"16", "32", "64", "128"}, on_production_grid)),
      with_processes(on_cpu("scaling-fine", "Scans on 25x25x60, size in points", {"8", "16"}, on_fine_grid)),
      with_processes(
          on_cpu("strong-scaling", "128 points on 17x25x16 with more and more workers", {"128"}, on_production_grid)),
      on_cpu("reuse", "A plan for every point, or one for all, on 9x11x6", {"4", "16", "48"}, prepare_reuse),
      on_cpu("precision", "Points on 17x25x16 in double precision and in refined single precision", {"128"},
             prepare_precision),
      on_cpu("database", "Rows of 12 fields on 25x25x60; 16 rows are a surface of a database", {"1"},
             prepare_database_rows),
      on_cpu("workflow", "Profiles of three species from a database, size in radii", {"51"}, prepare_workflow),
      peers(),
  };
}

}  // namespace sonde::neoclassical
