// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/reconstruct/schedule.h"

#include <fmt/format.h>

#include "sonde/engine/base/error.h"

namespace sonde::ptycho {

std::string why_no_kernels(const Schedule& schedule) {
  for (const EngineRun& run : schedule.engines)
    if (!run.setup->traits().has_kernels)
      return fmt::format("the engine {} has no kernels for a GPU (with kernels: {})", run.name,
                         engines_that([](const EngineSetup& setup) { return setup.traits().has_kernels; }));
  for (const EngineRun& run : schedule.engines) {
    if (!run.setup->traits().keeps_waves) continue;
    if (schedule.limits.wave_encoding != Encoding::raw)
      return "exit waves in 16 bits (compute.waves) are only for the CPU";
    if (schedule.limits.wave_tier == Tier::disk)
      return "exit waves on the disk (compute.wave_tier) are only for the CPU";
  }
  if (schedule.share) return "several processes share a scan only on the CPU";
  if (const PositionMethod method = schedule.positions.method; !has_kernels(method))
    return fmt::format("positions are corrected by {} only on the CPU (with kernels: gradient)", name(method));
  if (schedule.opr.modes > 0) return "a probe that varies along the scan is only for the CPU";
  return "";
}

void require_shareable(const Schedule& schedule) {
  const auto refuse = [](const char* what, std::string_view name, const std::string& others) {
    throw Error(ErrorKind::not_supported, fmt::format("{} \"{}\" cannot be shared by several processes", what, name))
        .hint("start one process, or take one of " + others);
  };
  for (const EngineRun& run : schedule.engines)
    if (!run.setup->traits().can_be_shared)
      refuse("engine", run.name, engines_that([](const EngineSetup& setup) { return setup.traits().can_be_shared; }));
  std::vector<std::string_view> constraints;
  for (const ConstraintKind& kind : constraint_kinds())
    if (kind.can_be_shared) constraints.push_back(kind.name);
  for (const ChosenConstraint& constraint : schedule.constraints)
    if (!constraint_kind(constraint.name).can_be_shared)
      refuse("constraint", constraint.name, fmt::format("{}", fmt::join(constraints, ", ")));
  if (schedule.positions.method != PositionMethod::none)
    throw Error(ErrorKind::not_supported, "positions cannot be corrected by several processes")
        .hint("start one process, or positions.method = \"none\"");
  if (schedule.opr.modes > 0)
    throw Error(ErrorKind::not_supported, "a probe that varies along the scan cannot be found by several processes")
        .hint("start one process, or opr.modes = 0");
}

}  // namespace sonde::ptycho
