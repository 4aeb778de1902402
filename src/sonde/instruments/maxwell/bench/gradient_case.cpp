// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/bench/gradient_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "sonde/instruments/maxwell/bench/vacuum.h"
#include "sonde/instruments/maxwell/propagate/propagator.h"
#include "sonde/instruments/maxwell/run/gradient_run.h"

namespace sonde::maxwell {
namespace {

constexpr Index gradient_steps = 300;
/// Highest frequency times time step: the safe interval is 5 steps.
constexpr double highest_over_rate = 0.07;

struct Work {
  Operator waves;
  Shot shot;
  double value = 0;

  Work(Index cells, Device device) : waves(make(cells, device)), shot{one_source(waves.problem()), {}} {
    shot.amplitudes.resize(static_cast<std::size_t>(gradient_steps));
    shot.amplitudes.front() = waves.problem().grid.cell_volume();
  }
  static Operator make(Index cells, Device device) {
    Problem problem = vacuum(Mode::em3d, 2, cells);
    const double dt = problem.dt;
    return Operator(std::move(problem), gprmax_pml(), 0, {.dt = dt, .steps = gradient_steps, .device = device});
  }
  void forward() { value += waves.forward(shot).back(); }
  void gradient() {
    value += waves
                 .gradient(shot,
                           [](std::span<const double> record, std::span<double> residual) {
                             std::copy(record.begin(), record.end(), residual.begin());
                             return record.back();
                           })
                 .value;
  }
};

/// Each has its own operator, whose store stays from call to call, as in an inversion: the first call makes it.
Operation kept(Index cells, Device device, const std::string& name, const StorageSettings& settings) {
  const auto work = std::make_shared<Work>(cells, device);
  const GradientOf of{};
  RunPlan run;
  run.highest_frequency = highest_over_rate / work->waves.settings().dt;
  const TierBudgets budgets = TierBudgets::around(device, Budget::automatic(device));
  const StoragePlan plan = plan_gradient(work->waves, of, settings, 1, 1, budgets, run);
  // Fields in and out forwards and backwards, samples written and read, and sums of two per component of E.
  const double nodes = static_cast<double>(work->waves.problem().grid.count());
  const double sample = static_cast<double>(plan.layout.samples(gradient_steps) * plan.layout.elements()) *
                        (plan.encoding == Encoding::bf16 ? 2 : 4);
  const double sums = 2.0 * 2 * 3 * 4 * nodes / static_cast<double>(plan.layout.interval);
  work->waves.prepare_gradient(of, plan, budgets);
  return {.name = name,
          .run = [=] { work->gradient(); },
          .bytes = (2 * 48 * nodes + sums) * static_cast<double>(gradient_steps) + 2 * sample};
}

PreparedCase prepare_gradient(const BenchPoint& point) {
  const Index cells = whole_size(point.size, "cells along an axis");
  const auto work = std::make_shared<Work>(cells, point.device);
  const StorageMode nearest = point.device.is_cpu() ? StorageMode::host : StorageMode::device;
  PreparedCase made;
  const double bytes = 48.0 * static_cast<double>(cells * cells * cells * gradient_steps);
  made.operations.push_back({.name = "forward", .run = [=] { work->forward(); }, .bytes = bytes});
  const auto fields = std::make_shared<Propagator<float>>(work->waves.problem(), point.device);
  made.operations.push_back({.name = "forward, step by step",
                             .run =
                                 [=] {
                                   std::vector<double> record(work->shot.amplitudes.size());
                                   fields->run(work->shot.points, gradient_steps, work->shot.amplitudes, record,
                                               {.together = 1});
                                 },
                             .bytes = bytes,
                             .before = [=] { fields->clear(); }});
  const auto add = [&](const std::string& name, const StorageSettings& settings) {
    made.operations.push_back(kept(cells, point.device, name, settings));
  };
  const double dt = work->waves.settings().dt;
  add("gradient", {.mode = nearest});
  add("gradient, safe interval", {.mode = nearest, .interval = safe_interval(highest_over_rate / dt, dt)});
  add("gradient, bf16", {.mode = nearest, .compression = Compression::bf16});
  if (nearest != StorageMode::host)
    add("gradient, bf16 on the host", {.mode = StorageMode::host, .compression = Compression::bf16});
  add("gradient, disk", {.mode = StorageMode::disk});
  add("gradient, computed again", {.mode = StorageMode::recompute});
  made.input = fmt::format(
      "{} steps of {} cells of vacuum, layers of {} cells on every side, f32, order 2; "
      "the first call makes the store of the fields, the others use it again",
      gradient_steps, cells * cells * cells, vacuum_layer);
  return made;
}

}  // namespace

BenchCase gradient_case() {
  return {.name = "maxwell-gradient",
          .summary = "A shot and its gradient of eps_r and sigma, by what is kept of it, size in cells along an axis",
          .sizes = {"64", "96"},
          .devices = {DeviceKind::cpu, DeviceKind::cuda},
          .prepare = prepare_gradient,
          .targets = {
              {.name = "k = 1", .of = {"gradient"}, .over = {"forward, step by step"}, .limit = 3.2},
              {.name = "safe k", .of = {"gradient, safe interval"}, .over = {"forward, step by step"}, .limit = 2.5}}};
}

}  // namespace sonde::maxwell
