// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/gprmax_gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/maxwell/run/gradient_run.h"

namespace sonde::maxwell {
namespace {

/// Calls body(number of the trace among those of the shot, observed samples) for what is recorded and observed.
template <class Body>
void for_each_pair(const GprmaxModel& model, const GprmaxOutput& observed, const Body& body) {
  std::size_t trace = 0;
  for (std::size_t r = 0; r < model.acquisition.receivers.size(); ++r)
    for (const Component users : model.acquisition.receivers[r].outputs) {
      if (!model.component(users)) continue;
      const auto& fields = observed.receivers[r].fields;
      if (const auto found = fields.find(users); found != fields.end()) body(trace, found->second);
      ++trace;
    }
}

void require_observed(const GprmaxModel& model, const GprmaxOutput& observed, const std::string& named) {
  const auto refuse = [&](const std::string& what) { throw Error(ErrorKind::bad_input, named + ": " + what); };
  if (observed.runs > 0) refuse("traces of several runs; a gradient is that of one");
  if (observed.iterations != model.iterations)
    refuse(fmt::format("{} iterations, the model has {}", observed.iterations, model.iterations));
  // A file that another program has written may have rounded it.
  if (std::abs(observed.dt - model.dt) > 1e-9 * model.dt)
    refuse(fmt::format("dt = {} s, the model has {}", observed.dt, model.dt));
  if (observed.receivers.size() != model.acquisition.receivers.size())
    refuse(
        fmt::format("{} receivers, the model has {}", observed.receivers.size(), model.acquisition.receivers.size()));
  bool any = false;
  for_each_pair(model, observed, [&](std::size_t, const std::vector<double>&) { any = true; });
  if (!any) refuse("no component that the model records");
}

}  // namespace

GprmaxGradientRun::GprmaxGradientRun(GprmaxRun& run, GprmaxOutput observed, const std::string& named,
                                     const GradientOf& of, const StorageSettings& storage, const TierBudgets& budgets)
    : run_(run), observed_(std::move(observed)), of_(of), plan_(run.plan()) {
  require_observed(run.model(), observed_, named);
  const Shot shot = run.shot(0);
  // The lines of the run without a gradient are among those of the run with it.
  plan_.memory = {};
  const std::size_t held = plan_.memory.add(
      "traces", 3 * sizeof(double) * static_cast<std::size_t>(run.model().iterations) * shot.points.receivers.size(),
      "float64");
  plan_.memory.lasting_bytes = plan_.memory.peak_bytes = held;
  const std::size_t dividing = run.add_medium(plan_.memory);
  storage_ = plan_gradient(run.waves(), of_, storage, shot.points.sources.size(), shot.points.receivers.size(), budgets,
                           plan_);
  plan_.memory.peak_bytes = std::max(plan_.memory.peak_bytes, dividing);
  run.waves().prepare_gradient(of_, storage_, budgets);
}

GprmaxGradient GprmaxGradientRun::run(const std::function<void()>& stepped) {
  const GprmaxModel& model = run_.model();
  const auto steps = static_cast<std::size_t>(model.iterations - 1);
  ShotGradient found = run_.waves().gradient(
      run_.shot(0),
      [&](std::span<const double> record, std::span<double> residual) {
        double value = 0;
        for_each_pair(model, observed_, [&](std::size_t trace, const std::vector<double>& observed) {
          // Sample n + 1 of gprMax is what step n leaves; sample 0 is zero.
          for (std::size_t n = 0; n < steps; ++n) {
            const double apart = record[trace * steps + n] - observed[n + 1];
            residual[trace * steps + n] = apart;
            value += apart * apart / 2;
          }
        });
        return value;
      },
      stepped);
  GprmaxGradient made{found.value, std::move(found.medium), {}};
  for (std::size_t s = 0; of_.sources && s < model.acquisition.sources.size(); ++s) {
    std::vector<double>& samples =
        made.sources.emplace_back(found.sources.begin() + static_cast<Index>(s * steps),
                                  found.sources.begin() + static_cast<Index>((s + 1) * steps));
    for (double& each : samples) each *= run_.moment_of(model.acquisition.sources[s]);
  }
  return made;
}

}  // namespace sonde::maxwell
