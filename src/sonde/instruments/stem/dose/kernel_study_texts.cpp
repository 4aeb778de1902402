// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "sonde/engine/base/setting.h"
#include "sonde/instruments/stem/dose/kernel_study.h"

namespace sonde::stem {

std::vector<std::string> KernelStudy::lines() const {
  std::vector<std::string> lines;
  lines.push_back(fmt::format(
      "study     {} patterns, {} with a lattice; {} disks that every kernel compared finds, of {} counts (median)",
      patterns, with_lattice, disks, fmt::format("{:.0f}", counts)));
  lines.push_back(
      fmt::format("bound     {:.4f} px along each axis (median): no method places these disks better", bound));
  lines.push_back("kernel       scatter px   over bound   counts lost   disks   spurious   missed");
  for (const KernelTrial& trial : trials) {
    std::string precision = fmt::format("{:>10}   {:>10}   {:>11}", "-", "-", "-");
    if (trial.compared())
      precision = fmt::format("{:>10.4f}   {:>10}   {:>9.0f} %", trial.over_bound * bound,
                              fmt::format("{:.2f}+-{:.2f}", trial.over_bound, trial.over_bound_sigma),
                              100 * trial.counts_lost());
    lines.push_back(fmt::format("{:<11}  {}   {:>5}   {:>8}   {:>6}", name(trial.kernel), precision, trial.detections,
                                trial.spurious, trial.missed));
  }
  lines.push_back(fmt::format("use       {} ({})", setting("kernel", std::string(name(recommended))), because));
  return lines;
}

Value KernelStudy::to_value() const {
  Value value;
  value["patterns"] = patterns;
  value["patterns_with_lattice"] = with_lattice;
  value["sites"] = sites;
  value["disks_compared"] = disks;
  value["disk_radius"] = profile.radius;
  value["disk_edge"] = profile.edge;
  value["median_counts"] = counts;
  value["median_bound_px"] = bound;
  for (const KernelTrial& trial : trials) {
    Value one;
    one["detections"] = trial.detections;
    one["spurious"] = trial.spurious;
    one["missed"] = trial.missed;
    if (trial.compared()) {
      one["outliers"] = trial.outliers;
      one["scatter_px"] = trial.over_bound * bound;
      one["over_bound"] = trial.over_bound;
      one["over_bound_sigma"] = trial.over_bound_sigma;
      one["counts_lost"] = trial.counts_lost();
    }
    value["kernels"][std::string(name(trial.kernel))] = one;
  }
  value["recommended"] = name(recommended);
  value["because"] = because;
  value["warnings"] = warnings;
  return value;
}

}  // namespace sonde::stem
