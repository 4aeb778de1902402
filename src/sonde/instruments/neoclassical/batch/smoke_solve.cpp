// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/batch/smoke_solve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/batch/batch_solver.h"
#include "sonde/instruments/neoclassical/read/analytic.h"

namespace sonde::neoclassical {
namespace {

/// Of D31 and D13, which may be small, relative to what they can be at most.
double difference(const Coefficients& a, const Coefficients& b) {
  const double mixed = std::sqrt(b.D11 * b.D33);
  const double all[] = {std::abs(a.D11 - b.D11) / b.D11, std::abs(a.D31 - b.D31) / mixed,
                        std::abs(a.D13 - b.D13) / mixed, std::abs(a.D33 - b.D33) / b.D33};
  double most = 0;
  for (const double each : all)
    if (!(each <= most)) most = std::isnan(each) ? std::numeric_limits<double>::infinity() : each;
  return most;
}

double largest_difference(Path path, double epsi_hat, Device device) {
  const Plan plan = Plan::prepare(make_surface(analytic_demo()), {9, 11, 6}, {.path = path});
  std::vector<Case> cases;
  for (int i = 0; i < 32; ++i) cases.push_back({std::pow(10.0, -2 + 3 * i / 31.0), epsi_hat});
  BatchSolver solver(plan, path, static_cast<Index>(cases.size()), device);
  const std::vector<BatchSolver::Answer> answers = solver.solve(cases);
  Plan::Workspace workspace = plan.workspace();
  double most = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (const Error* const error = std::get_if<Error>(&answers[i])) throw Error(*error);
    most = std::max(most, difference(std::get<Coefficients>(answers[i]), plan.solve(cases[i], workspace)));
  }
  return most;
}

}  // namespace

SmokeSolve smoke_solve(Device device) {
  SmokeSolve made;
  try {
    made.difference =
        std::max(largest_difference(Path::spd, 0, device), largest_difference(Path::quasidefinite, 1e-3, device));
    if (!(made.difference <= SmokeSolve::tolerance))
      made.failure = fmt::format("{} does not pass the smoke solve: its coefficients differ by {:.1e} from the CPU's",
                                 device.name(), made.difference);
  } catch (const Error& error) {
    made.difference = std::numeric_limits<double>::infinity();
    made.failure = fmt::format("{} does not pass the smoke solve: {}", device.name(), error.message());
  }
  return made;
}

BatchDeviceChoice choose_sound_device(std::span<const Device> gpus, bool or_cpu,
                                      const std::function<SmokeSolve(Device)>& check) {
  BatchDeviceChoice made;
  std::vector<std::string> failures;
  for (const Device gpu : gpus) {
    const SmokeSolve& found = made.checks.emplace_back(gpu, check(gpu)).second;
    if (found.failure.empty()) {
      made.chosen = {gpu, "it solves a small case as the CPU does"};
      return made;
    }
    failures.push_back(found.failure);
  }
  const std::string all = fmt::format("{}", fmt::join(failures, "; "));
  if (!or_cpu)
    throw Error(ErrorKind::device, all).hint("use " + setting("device", "cpu") + ", and have the GPU looked after");
  made.chosen = {Device::cpu(), all};
  return made;
}

BatchDeviceChoice choose_batch_device(const std::string& asked, const std::string& why_not) {
  const Choice<Device> first = Device::parse(asked);
  if (first.value.is_cpu()) return {first};
  const bool free = asked == "auto";
  if (!why_not.empty() && !free) throw Error(ErrorKind::not_supported, why_not).hint("use " + setting("device", "cpu"));
  if (!why_not.empty()) return {{Device::cpu(), why_not}};
  std::vector<Device> gpus;
  for (const Device each : Device::all())
    if (!each.is_cpu() && (free || asked == "cuda" || each == first.value)) gpus.push_back(each);
  return choose_sound_device(gpus, free, smoke_solve);
}

}  // namespace sonde::neoclassical
