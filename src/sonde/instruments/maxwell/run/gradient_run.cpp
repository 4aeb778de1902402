// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/gradient_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sonde/instruments/maxwell/run/experiment_run.h"
#include "sonde/instruments/maxwell/run/native_run.h"
#include "sonde/instruments/maxwell/run/tree_sum.h"

namespace sonde::maxwell {
namespace {

struct ShotPart {
  double misfit = 0;
  ModelChange model{};
  ShotPart& operator+=(const ShotPart& other) {
    misfit += other.misfit;
    for (const auto& [to, from] :
         {std::pair(&model.eps_r, &other.model.eps_r), std::pair(&model.sigma, &other.model.sigma),
          std::pair(&model.mu_r, &other.model.mu_r)})
      for (std::size_t i = 0; i < from->size(); ++i) (*to)[i] += (*from)[i];
    return *this;
  }
};

}  // namespace

StoragePlan plan_gradient(const Operator& waves, const GradientOf& of, const StorageSettings& storage,
                          std::size_t sources, std::size_t receivers, const TierBudgets& budgets, RunPlan& plan) {
  waves.add_memory(plan.memory, sources, receivers, &of);
  StorageRequest request = waves.storage_request(of, plan.highest_frequency);
  const std::size_t free = budgets.host.available_bytes();
  request.host_bytes = free - std::min(free, plan.memory.peak_bytes);
  request.disk_bytes = budgets.disk.available_bytes();
  StoragePlan made = of.medium() ? plan_storage(request, storage) : StoragePlan{.because = "no field is needed"};
  add_storage(made, plan.memory);
  plan.memory.lasting_bytes += made.host_bytes;
  plan.memory.peak_bytes += made.host_bytes;
  return made;
}

GradientRun::GradientRun(Experiment experiment, ObservedData observed, const GradientOf& of,
                         const StorageSettings& storage, const TierBudgets& budgets)
    : experiment_(std::move(experiment)),
      observed_(std::move(observed)),
      of_(of),
      waves_(make_operator(experiment_)),
      plan_(plan_run(waves_, highest_frequency(experiment_))) {
  std::size_t sources = 0, receivers = 0;
  for (const SurveyShot& shot : experiment_.shots) {
    std::vector<std::string> warnings;
    (void)shot_on_grid({shot.sources, shot.receivers, {}}, waves_.problem().grid, warnings);
    for (std::string& each : warnings)
      if (std::find(plan_.warnings.begin(), plan_.warnings.end(), each) == plan_.warnings.end())
        plan_.warnings.push_back(std::move(each));
    sources = std::max(sources, shot.sources.size());
    receivers = std::max(receivers, shot.receivers.size());
  }
  MemoryPlan& memory = plan_.memory;
  const std::size_t elements = experiment_.model.eps_r.size();
  const std::size_t held =
      memory.add("model and medium", experiment_bytes(experiment_), "float64") +
      memory.add("records and gradient", sizeof(double) * (2 * observed_.samples.size() + 6 * elements), "float64");
  memory.lasting_bytes = memory.peak_bytes = held;
  storage_ = plan_gradient(waves_, of_, storage, sources, receivers, budgets, plan_);
  waves_.prepare_gradient(of_, storage_, budgets);
}

SurveyGradient GradientRun::run(const std::function<void()>& stepped) {
  const std::size_t shots = experiment_.shots.size();
  const auto steps = static_cast<std::size_t>(experiment_.steps),
             receivers = static_cast<std::size_t>(observed_.receivers());
  TreeSum<ShotPart> sum(static_cast<Index>(shots));
  SurveyGradient made;
  for (std::size_t s = 0; s < shots; ++s) {
    std::vector<std::string> said_before;
    const Shot shot = shot_on_grid(experiment_.shots[s], waves_.problem().grid, said_before);
    ShotGradient found = waves_.gradient(
        shot,
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
    sum.add(static_cast<Index>(s),
            {found.value, gather_change(found.medium, experiment_.model.location, of_.padding, waves_.problem().grid)});
    if (of_.sources) made.sources.push_back(std::move(found.sources));
  }
  ShotPart all = sum.result();
  made.misfit = all.misfit;
  made.model = std::move(all.model);
  return made;
}

}  // namespace sonde::maxwell
