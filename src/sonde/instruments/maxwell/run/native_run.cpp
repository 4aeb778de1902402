// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/native_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sonde/engine/ranks/tree_sum.h"
#include "sonde/instruments/maxwell/run/experiment_run.h"

namespace sonde::maxwell {
namespace {

/// Arrays of a medium: two of each electric component and of each of its poles, one of a magnetic one.
std::size_t medium_bytes(const Experiment& experiment) {
  const Grid grid(experiment.grid);
  std::size_t arrays = 0;
  for (const Component c : grid.components()) arrays += is_electric(c) ? 2 + 2 * experiment.poles.size() : 1;
  return arrays * sizeof(double) * static_cast<std::size_t>(grid.count());
}

std::size_t given_bytes(const Experiment& experiment) {
  std::size_t numbers = experiment.model.eps_r.size() * (3 + 2 * experiment.poles.size());
  for (const SurveyShot& shot : experiment.shots) numbers += shot.amplitudes.size();
  return numbers * sizeof(double);
}

}  // namespace

std::size_t experiment_bytes(const Experiment& experiment) {
  return given_bytes(experiment) + medium_bytes(experiment);
}

NativeRun::NativeRun(Experiment experiment, Kind kind, const Ranks& ranks, Device device)
    : experiment_(std::move(experiment)),
      ranks_(ranks),
      waves_(make_operator(experiment_, Threads::all, 0, device)),
      plan_(plan_run(waves_, highest_frequency(experiment_))) {
  plan_.warnings = place_warnings(experiment_, waves_.problem().grid);
  const SurveyShot& shot = experiment_.shots.front();
  const std::size_t samples =
      static_cast<std::size_t>(experiment_.steps) * experiment_.shots.size() * shot.receivers.size();
  MemoryPlan& memory = plan_.memory;
  memory.lasting_bytes = memory.add("model", given_bytes(experiment_), "with the signals of its sources, float64");
  memory.lasting_bytes += memory.add("medium", medium_bytes(experiment_),
                                     fmt::format("{} components, float64", waves_.problem().grid.components().size()));
  memory.lasting_bytes +=
      memory.add("records", 2 * sizeof(double) * samples, fmt::format("{} shots", experiment_.shots.size()));
  memory.peak_bytes = memory.lasting_bytes;
  waves_.add_memory(memory, shot.sources.size(), shot.receivers.size());
  if (kind == Kind::linearised && device.is_cpu()) waves_.add_born_memory(memory);
  if (device.is_cpu()) return;
  waves_.add_device_memory(plan_.device_memory, shot.sources.size(), shot.receivers.size());
  if (kind == Kind::linearised) waves_.add_born_memory(plan_.device_memory);
}

ObservedData NativeRun::records(const std::function<std::vector<double>(std::size_t, const Shot&)>& record_of) {
  ObservedData made = empty_data(experiment_);
  const auto steps = static_cast<std::size_t>(made.steps), shots = experiment_.shots.size();
  const auto receivers = static_cast<std::size_t>(made.receivers());
  const Share mine = share_of(ranks_, static_cast<Index>(shots));
  std::vector<double> here;  // [shot of this rank][receiver][step]
  for (Index s = mine.first; s < mine.last; ++s) {
    std::vector<std::string> said_before;
    const auto shot = static_cast<std::size_t>(s);
    const std::vector<double> record =
        record_of(shot, shot_on_grid(experiment_.shots[shot], waves_.problem().grid, said_before));
    here.insert(here.end(), record.begin(), record.end());
  }
  const std::vector<double> all = ranks_.gather(std::span<const double>(here));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t n = i % steps, r = i / steps % receivers, s = i / steps / receivers;
    made.samples[(n * shots + s) * receivers + r] = all[i];
  }
  return made;
}

Index NativeRun::shots_here() const {
  const Share mine = share_of(ranks_, static_cast<Index>(experiment_.shots.size()));
  return mine.last - mine.first;
}

ObservedData NativeRun::run(const std::function<void()>& stepped, const Watch& first_shot) {
  return records(
      [&](std::size_t s, const Shot& shot) { return waves_.forward(shot, stepped, s == 0 ? first_shot : Watch{}); });
}

ObservedData NativeRun::born(const Direction& direction, PaddingGradient padding,
                             const std::function<void()>& stepped) {
  const ComponentChange change =
      locate_change(direction.model, experiment_.model.location, padding, waves_.problem().grid);
  const std::vector<double> none;
  return records([&](std::size_t s, const Shot& shot) {
    return waves_.born(shot, change, direction.sources.empty() ? none : direction.sources[s], stepped);
  });
}

}  // namespace sonde::maxwell
