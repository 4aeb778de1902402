// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/gradient_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sonde/engine/ranks/tree_sum.h"
#include "sonde/instruments/maxwell/run/experiment_run.h"
#include "sonde/instruments/maxwell/run/native_run.h"

namespace sonde::maxwell {
StoragePlan plan_gradient(const Operator& waves, const GradientOf& of, const StorageSettings& storage,
                          std::size_t sources, std::size_t receivers, const TierBudgets& budgets, RunPlan& plan) {
  waves.add_memory(plan.memory, sources, receivers, &of);
  StorageRequest request = waves.storage_request(of, plan.highest_frequency);
  const std::size_t free = budgets.host.available_bytes();
  request.host_bytes = free - std::min(free, plan.memory.peak_bytes);
  request.disk_bytes = budgets.disk.available_bytes();
  plan.device_memory = {};
  if (!waves.settings().device.is_cpu()) {
    waves.add_device_memory(plan.device_memory, sources, receivers, &of);
    const std::size_t there = budgets.of(Tier::device).available_bytes();
    request.device_bytes = there - std::min(there, plan.device_memory.peak_bytes);
  }
  StoragePlan made = of.medium() ? plan_storage(request, storage) : StoragePlan{.because = "no field is needed"};
  if (of.medium()) require_kept(made);
  add_storage(made, plan.memory);
  plan.memory.lasting_bytes += made.host_bytes;
  plan.memory.peak_bytes += made.host_bytes;
  add_device_storage(made, plan.device_memory);
  plan.device_memory.lasting_bytes += made.device_bytes;
  plan.device_memory.peak_bytes += made.device_bytes;
  return made;
}

GradientRun::GradientRun(Experiment experiment, ObservedData observed, const GradientOf& of,
                         const StorageSettings& storage, const TierBudgets& budgets, const Processes& processes,
                         Device device)
    : experiment_(std::move(experiment)),
      observed_(std::move(observed)),
      of_(of),
      processes_(processes),
      waves_(make_operator(experiment_, Threads::all, 0, device)),
      plan_(plan_run(waves_, highest_frequency(experiment_))) {
  divide(waves_, processes_, plan_);
  std::size_t sources = 0, receivers = 0;
  for (const SurveyShot& shot : experiment_.shots) {
    std::vector<std::string> warnings;
    (void)shot_on_grid({shot.sources, shot.receivers, {}}, waves_.grid(), warnings);
    for (std::string& each : warnings)
      if (std::find(plan_.warnings.begin(), plan_.warnings.end(), each) == plan_.warnings.end())
        plan_.warnings.push_back(std::move(each));
    sources = std::max(sources, shot.sources.size());
    receivers = std::max(receivers, shot.receivers.size());
  }
  MemoryPlan& memory = plan_.memory;
  const std::size_t elements = experiment_.model.eps_r.size();
  const std::size_t held =
      memory.add("model", given_bytes(experiment_), "with the signals of its sources, float64") +
      memory.add("records and gradient", sizeof(double) * (2 * observed_.samples.size() + 6 * elements), "float64");
  memory.lasting_bytes = memory.peak_bytes = held;
  const std::size_t dividing = add_medium(waves_, memory);
  storage_ = plan_gradient(waves_, of_, storage, sources, receivers, budgets, plan_);
  memory.peak_bytes = std::max(memory.peak_bytes, dividing);
  waves_.prepare_gradient(of_, storage_, budgets);
}

SurveyGradient GradientRun::run(const std::function<void()>& stepped) {
  const std::size_t shots = experiment_.shots.size();
  const auto steps = static_cast<std::size_t>(experiment_.steps),
             receivers = static_cast<std::size_t>(observed_.receivers());
  TreeSum<NumberSum> sum(static_cast<Index>(shots));
  std::vector<double> sources;  // [shot of this rank][source][step]
  const Share mine = share_of(processes_.of_shots(), static_cast<Index>(shots));
  for (auto s = static_cast<std::size_t>(mine.first); s < static_cast<std::size_t>(mine.last); ++s) {
    std::vector<std::string> said_before;
    const ShotGradient found = waves_.gradient(
        shot_on_grid(experiment_.shots[s], waves_.grid(), said_before),
        [&](std::span<const double> record, std::span<double> residual) {
          double value = 0;
          for (std::size_t r = 0; r < receivers; ++r)
            for (std::size_t n = 0; n < steps; ++n) {
              const double apart = record[r * steps + n] - observed_.samples[(n * shots + s) * receivers + r];
              residual[r * steps + n] = apart;
              value += apart * apart / 2;
            }
          return value;
        },
        stepped);
    const ModelChange model = gather_change(found.medium, experiment_.model.location, of_.padding, waves_.grid());
    NumberSum one{{found.value}};
    const auto append = [&](const std::vector<double>& part) {
      one.values.insert(one.values.end(), part.begin(), part.end());
    };
    for (const std::vector<double>* part : {&model.eps_r, &model.sigma, &model.mu_r}) append(*part);
    for (const ModelPole& pole : model.poles) {
      append(pole.deps);
      append(pole.tau);
    }
    sum.add(static_cast<Index>(s), std::move(one));
    sources.insert(sources.end(), found.sources.begin(), found.sources.end());
  }
  SurveyGradient made;
  const std::vector<double> all = sum_over_ranks(sum, processes_.of_shots());
  made.misfit = all.front();
  const bool here = all.size() > 1;  // of a divided grid rank 0 has it
  auto next = all.begin() + 1;
  const auto elements = static_cast<Index>(experiment_.model.eps_r.size());
  const auto take = [&](std::vector<double>& to) {
    to.assign(next, next + elements);
    next += elements;
  };
  for (const auto& [wanted, to] : {std::pair(of_.eps_r, &made.model.eps_r), std::pair(of_.sigma, &made.model.sigma),
                                   std::pair(of_.mu_r, &made.model.mu_r)})
    if (wanted && here) take(*to);
  for (std::size_t p = 0; of_.poles && here && p < experiment_.poles.size(); ++p) {
    ModelPole& pole = made.model.poles.emplace_back();
    take(pole.deps);
    take(pole.tau);
  }
  if (!of_.sources) return made;
  const std::vector<double> gathered = processes_.of_shots().gather(std::span<const double>(sources));
  const std::size_t each = gathered.size() / shots;
  for (auto it = gathered.begin(); each > 0 && it != gathered.end(); it += static_cast<Index>(each))
    made.sources.emplace_back(it, it + static_cast<Index>(each));
  return made;
}

Index GradientRun::shots_here() const {
  const Share mine = share_of(processes_.of_shots(), static_cast<Index>(experiment_.shots.size()));
  return mine.last - mine.first;
}

}  // namespace sonde::maxwell
