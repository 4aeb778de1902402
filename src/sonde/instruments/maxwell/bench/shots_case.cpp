// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/bench/shots_case.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "sonde/instruments/maxwell/bench/vacuum.h"
#include "sonde/instruments/maxwell/run/experiment_waves.h"

namespace sonde::maxwell {
namespace {

constexpr Index survey_shots = 8, survey_steps = 50;

/// Shots along a line over uniform ground, all recorded by one receiver.
Experiment survey(Index cells) {
  const Problem problem = vacuum(Mode::tm2d, 4, cells);  // for its time step
  Experiment made;
  made.grid = problem.grid.spec();
  const auto count = static_cast<std::size_t>(made.grid.cells[0] * made.grid.cells[2]);
  made.model.eps_r.assign(count, 4);
  made.model.sigma.assign(count, 1e-3);
  made.dt = problem.dt;
  made.steps = survey_steps;
  const auto width = static_cast<double>(made.grid.cells[2]);
  for (Index s = 0; s < survey_shots; ++s) {
    SurveyShot& shot = made.shots.emplace_back();
    const double x = width * (static_cast<double>(s) + 0.5) / static_cast<double>(survey_shots);
    shot.sources = {{Component::Ey, {2, 0, x}}};
    shot.receivers = {{Component::Ey, {static_cast<double>(made.grid.cells[0] - 2), 0, width / 2}}};
    shot.amplitudes.assign(static_cast<std::size_t>(survey_steps), 0);
    shot.amplitudes.front() = 1;
  }
  return made;
}

struct ShotsWork {
  ExperimentWaves waves;
  std::vector<ShotSignals> signals;
  std::vector<double> records{};

  ShotsWork(const Experiment& experiment, Index in_flight, Device device)
      : waves(experiment, {.in_flight = in_flight, .device = device},
              TierBudgets::around(device, Budget::automatic(device))) {
    for (std::size_t s = 0; s < experiment.shots.size(); ++s)
      signals.push_back({static_cast<Index>(s), experiment.shots[s].amplitudes});
  }
  void run() {
    records.clear();
    waves.record(waves.experiment().model, signals, [&](Index, const Gather& computed) {
      records.insert(records.end(), computed.samples.begin(), computed.samples.end());
    });
  }
};

PreparedCase prepare_shots(const BenchPoint& point) {
  const Experiment experiment = survey(whole_size(point.size, "cells along an axis"));
  PreparedCase made;
  std::shared_ptr<ShotsWork> one;
  for (Index in_flight = 1; in_flight <= survey_shots; in_flight *= 2) {
    const auto work = std::make_shared<ShotsWork>(experiment, in_flight, point.device);
    if (work->waves.in_flight().value != in_flight) break;  // more threads than there are
    if (!one) {
      work->run();
      one = work;
    }
    const Grid& grid = work->waves.waves().problem().grid;
    // Fields in and out of memory.
    const double bytes = 2.0 * 4 * static_cast<double>(grid.components().size()) *
                         static_cast<double>(grid.count() * work->waves.waves().inner_steps() * survey_shots);
    made.operations.push_back(
        {.name = fmt::format("{} at the same time", in_flight),
         .run = [=] { work->run(); },
         .bytes = bytes,
         .difference = [=, wanted = one->records] { return record_difference(work->records, wanted); }});
  }
  made.input = fmt::format("{} shots of {} steps over {} cells in 2D, layers of {} cells on every side", survey_shots,
                           survey_steps, experiment.model.eps_r.size(), vacuum_layer);
  return made;
}

}  // namespace

BenchCase shots_case() {
  return {
      .name = "maxwell-shots",
      .summary = "Shots of a survey in two dimensions, by how many run at the same time, size in cells along an axis",
      .sizes = {"64", "192", "512"},
      .devices = {DeviceKind::cpu, DeviceKind::cuda},
      .prepare = prepare_shots,
      .same_work = true};
}

}  // namespace sonde::maxwell
