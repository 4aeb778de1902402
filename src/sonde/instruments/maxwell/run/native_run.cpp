// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/native_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sonde/engine/ranks/tree_sum.h"
#include "sonde/instruments/maxwell/run/experiment_run.h"

namespace sonde::maxwell {

std::size_t given_bytes(const Experiment& experiment) {
  std::size_t numbers = experiment.model.eps_r.size() * (3 + 2 * experiment.poles.size());
  for (const SurveyShot& shot : experiment.shots) numbers += shot.amplitudes.size();
  return numbers * sizeof(double);
}

std::size_t experiment_bytes(const Experiment& experiment) {
  return given_bytes(experiment) + medium_bytes(Grid(experiment.grid), experiment.poles.size());
}

NativeRun::NativeRun(Experiment experiment, Kind kind, const Processes& processes, Device device)
    : experiment_(std::move(experiment)),
      processes_(processes),
      waves_(make_operator(experiment_, Threads::all, 0, device)),
      plan_(plan_run(waves_, highest_frequency(experiment_))) {
  divide(waves_, processes_, plan_);
  plan_.warnings = place_warnings(experiment_, waves_.grid());
  const SurveyShot& shot = experiment_.shots.front();
  const std::size_t samples =
      static_cast<std::size_t>(experiment_.steps) * experiment_.shots.size() * shot.receivers.size();
  MemoryPlan& memory = plan_.memory;
  memory.lasting_bytes = memory.add("model", given_bytes(experiment_), "with the signals of its sources, float64");
  memory.lasting_bytes +=
      memory.add("records", 2 * sizeof(double) * samples, fmt::format("{} shots", experiment_.shots.size()));
  memory.peak_bytes = memory.lasting_bytes;
  const std::size_t dividing = add_medium(waves_, memory);
  waves_.add_memory(memory, shot.sources.size(), shot.receivers.size());
  memory.peak_bytes = std::max(memory.peak_bytes, dividing);
  if (kind == Kind::linearised && device.is_cpu()) waves_.add_born_memory(memory);
  if (device.is_cpu()) return;
  waves_.add_device_memory(plan_.device_memory, shot.sources.size(), shot.receivers.size());
  if (kind == Kind::linearised) waves_.add_born_memory(plan_.device_memory);
}

ObservedData NativeRun::records(const std::function<std::vector<double>(std::size_t, const Shot&)>& record_of) {
  ObservedData made = empty_data(experiment_);
  const auto steps = static_cast<std::size_t>(made.steps), shots = experiment_.shots.size();
  const auto receivers = static_cast<std::size_t>(made.receivers());
  const Share mine = share_of(processes_.of_shots(), static_cast<Index>(shots));
  std::vector<double> here;  // [shot of this rank][receiver][step]
  for (Index s = mine.first; s < mine.last; ++s) {
    std::vector<std::string> said_before;
    const auto shot = static_cast<std::size_t>(s);
    const std::vector<double> record =
        record_of(shot, shot_on_grid(experiment_.shots[shot], waves_.grid(), said_before));
    here.insert(here.end(), record.begin(), record.end());
  }
  const std::vector<double> all = processes_.of_shots().gather(std::span<const double>(here));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t n = i % steps, r = i / steps % receivers, s = i / steps / receivers;
    made.samples[(n * shots + s) * receivers + r] = all[i];
  }
  return made;
}

Index NativeRun::shots_here() const {
  const Share mine = share_of(processes_.of_shots(), static_cast<Index>(experiment_.shots.size()));
  return mine.last - mine.first;
}

ObservedData NativeRun::run(const std::function<void()>& stepped, const Watch& first_shot) {
  return records(
      [&](std::size_t s, const Shot& shot) { return waves_.forward(shot, stepped, s == 0 ? first_shot : Watch{}); });
}

ObservedData NativeRun::born(const Direction& direction, PaddingGradient padding,
                             const std::function<void()>& stepped) {
  const ComponentChange change = locate_change(direction.model, experiment_.model.location, padding, waves_.grid());
  const std::vector<double> none;
  return records([&](std::size_t s, const Shot& shot) {
    return waves_.born(shot, change, direction.sources.empty() ? none : direction.sources[s], stepped);
  });
}

}  // namespace sonde::maxwell
